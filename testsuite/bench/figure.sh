# shellcheck shell=dash disable=SC2034
# What jobs that measure begin with: each figure is a line, NAME VALUE.

# What is run first after boot costs more, while the kernel still optimises
# probes away: the second run counts.
twice() {
	"$@" >/dev/null
	"$@"
}
# with MODULE COMMAND
with() {
	staprun -C never -o /dev/null "$1.ko" -c "$2"
}
figure() {
	name=$1
	shift
	echo "$name $(twice "$@")"
}
# of the numbers that come
median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
# the median of nine, or of MIDDLE_OF, where no two runs are alike
middle() {
	name=$1
	shift
	echo "$name $(for i in $(seq "${MIDDLE_OF:-9}"); do "$@"; done |
		median)"
}
