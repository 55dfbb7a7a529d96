# Messages, locks, stamps and cleaning up; sourced by lab.
# shellcheck shell=bash

VERBOSE=${VERBOSE:-}

# Progress is for people: shown on a terminal, or when asked for.
is_watched() {
	[[ -n $VERBOSE || -t 2 ]]
}

note() {
	if is_watched; then
		printf 'lab: [%3ds] %s\n' "$SECONDS" "$*" >&2
	fi
}

warn() {
	printf 'lab: %s\n' "$*" >&2
}

# die MESSAGE [STATUS]
die() {
	warn "$1"
	exit "${2:-1}"
}

usage_error() {
	die "$1 (see 'lab help')" 2
}

# --- processes and files that must not outlive this one

SPAWNED=
TMP=

# Every child that may run for long is started by this one: it dies with us even
# where we are killed by SIGKILL, and traps run while we wait for it.
spawn() {
	setpriv --pdeathsig KILL "$@" <&0 &
	SPAWNED=$!
}

# Of `check`: its last line is not out yet.
UNSUMMED=

cleanup() {
	local pid
	trap - EXIT
	[[ -z $UNSUMMED ]] || echo "0 passed, 1 failed"
	trap '' INT TERM HUP
	for pid in $(jobs -rp); do
		stop_child "$pid"
	done 2>/dev/null
	if [[ -n $TMP ]]; then
		rm -rf "$TMP"
		remove_stale
	fi
}

trap cleanup EXIT
normal_traps() {
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP
}
normal_traps

# A directory of our own, removed at exit. We hold a lock on it while we live (a process number would
# mean nothing to a lab in another pid namespace); it has its name only when it is locked.
make_tmp() {
	local fd new
	[[ -z $TMP ]] || return 0
	mkdir -p "$CACHE/tmp" || die "cannot write in $CACHE"
	remove_stale
	new=$(mktemp -d "$CACHE/tmp/.XXXXXXXX") || die "cannot write in $CACHE"
	exec {fd}>"$new/.lock"
	flock -s "$fd"
	TMP=$CACHE/tmp/${new##*/.}
	mv "$new" "$TMP"
}

# What labs left behind that were killed. Another lab may be at it too, and be first at any of them: that
# is no error.
remove_stale() {
	local file
	for file in "$CACHE"/tmp/*/.lock; do
		if [[ -f $file ]] && flock -n "$file" true; then
			rm -rf "${file%/.lock}"
		fi
	done 2>/dev/null
}

# --- locks: `lock NAME [-s]` holds until `unlock NAME` or the end of the process

declare -A LOCKS=()

lock() {
	local fd
	mkdir -p "$CACHE/locks"
	exec {fd}>>"$CACHE/locks/$1"
	if ! flock -n ${2:+"$2"} "$fd"; then
		note "waiting for another lab ($1)"
		take $LONGEST "$fd" "the lab's lock $1" "${2:-}"
	fi
	LOCKS[$1]=$fd
}

unlock() {
	local fd=${LOCKS[$1]}
	exec {fd}>&-
	unset "LOCKS[$1]"
}

# --- stamps: a product is current if its stamp holds the key of its inputs

is_fresh() {
	[[ -f $CACHE/stamps/$1 && $(<"$CACHE/stamps/$1") == "$2" ]]
}

set_stamp() {
	mkdir -p "$CACHE/stamps"
	printf '%s' "$2" >"$CACHE/stamps/$1.new"
	mv "$CACHE/stamps/$1.new" "$CACHE/stamps/$1"
}

drop_stamp() {
	rm -f "$CACHE/stamps/$1"
}

hash_of() {
	cat "$@" | sha256sum | cut -c1-16
}

# need_space GIGABYTES WHAT
need_space() {
	local have
	mkdir -p "$CACHE" || die "cannot create $CACHE"
	have=$(df -Pk "$CACHE" | awk 'NR == 2 { print int($4 / 1048576) }')
	((have >= $1)) || die "$2 needs $1 GB in $CACHE, which has $have GB free (STAPWATCH_LAB names another place)"
}

# The words of a package list, without its comments.
list_of() {
	sed 's/#.*//' "$LAB_DIR/packages/$1"
}
