# Waiting: nothing waits for ever, and who gives up says for whom.
# shellcheck shell=bash

# What takes longer than this hangs: a kernel takes an hour to build on a slow machine.
LONGEST=7200

# is_running PID: is this child of ours still there? The kernel is asked: `jobs' forgets children that it has told of, and a
# number may have become another process's.
is_running() {
	local stat=''
	read -r -d '' stat 2>/dev/null <"/proc/$1/stat"
	# after the name, which may have anything in it, come state and parent
	[[ ${stat##*) } == [!ZX]\ "$BASHPID "* ]]
}

# nap SECONDS: sleep in this very process; a loop that waits for minutes would begin thousands. Nobody writes what is read.
NAP=
nap() {
	[[ -n $NAP ]] || exec {NAP}<> <(:)
	! read -r -t "$1" -u "$NAP"
}

stop_child() {
	! is_running "$1" || kill -KILL "$1"
	wait "$1" 2>/dev/null
}

# waited PID: its exit status, however many signals interrupt the waiting
waited() {
	local status=0
	wait "$1" || status=$?
	return "$status"
}

# waited_within SECONDS PID WHAT: the same; whoever is still there then is killed
waited_within() {
	local end=$((SECONDS + $1))
	while is_running "$2"; do
		if ((SECONDS >= end)); then
			warn "$3 did not end in $1 s"
			stop_child "$2"
			return 124
		fi
		nap 0.1
	done
	waited "$2"
}

# spawn_within SECONDS COMMAND...: in the background, for that long at most; it dies with us, and so does what watches it
spawn_within() {
	local limit=$1
	shift
	unless_orphaned
	spawn timeout --foreground -k 10 "$limit" setpriv --pdeathsig KILL "$@"
}

# waited_spawned SECONDS WHAT: for what spawn_within began
waited_spawned() {
	local status=0
	waited "$SPAWNED" || status=$?
	# timeout's, and where it had to kill
	[[ $status != 124 && $status != 137 ]] || warn "$2 did not end in $1 s, or was killed"
	return $status
}

# A lab that was killed cannot end its subshells; they end by themselves, at the next thing that they would begin.
unless_orphaned() {
	kill -0 $$ 2>/dev/null || exit 1
}

# take SECONDS FD WHAT [flock's OPTION]: the lock
take() {
	flock -w "$1" ${4:+"$4"} "$2" || die "$3 has been taken for $1 s: another lab hangs"
}

# read_part FD SECONDS [DELIMITER]: what comes up to the delimiter, a newline, in $PART. `read' drops what it has when its
# time is over; here it is kept for the next call.
declare -A UNREAD=()
read_part() {
	local part='' status=0
	IFS= read -r -d "${3-$'\n'}" -t "$2" -u "$1" part || status=$?
	PART=${UNREAD[$1]-}$part
	if ((status)); then
		UNREAD[$1]=$PART
	else
		unset "UNREAD[$1]"
	fi
	return $status
}
