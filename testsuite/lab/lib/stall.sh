# stall.sh PID: for `check --stall', a guest's process stands still for 200 ms, at random, about once a second, until it ends.
# shellcheck shell=bash

LAB_LIB=${BASH_SOURCE[0]%/*}
for part in wait modules; do
	# shellcheck source=/dev/null
	. "$LAB_LIB/$part.sh"
done

while :; do
	ms=$((300 + RANDOM % 1000))
	printf -v pause '%d.%03d' $((ms / 1000)) $((ms % 1000))
	nap "$pause"
	kill -STOP "$1" 2>/dev/null || exit 0
	nap 0.2
	kill -CONT "$1" 2>/dev/null || exit 0
	tally stall
done
