# What runs side by side, in this lab and in all that it starts: for each processor at most a module that is built, and a
# part of the chroot; and a guest, with one more that takes what those leave.
# shellcheck shell=bash
#
# What has no guest takes what guests leave of the processors: they sleep for a third of their time, but what is due by their
# clocks costs the same however slow they are, so a guest that has half a processor takes several times as long.
#
# A place is a lock, so whoever dies gives his back. Who waits stands in a queue, by another lock. Who gives a place back rings
# a bell, a fifo; the first in the queue listens, and looks by itself each second, as one who dies rings none.

POOL=${LAB_POOL:-}
POOL_PLACE=
POOL_KIND=
# of the place that was taken: how far behind the others
POOL_NICE=0
# What limits are multiplied by: they are there for what hangs, and a guest beside others is slower.
PATIENCE=${LAB_POOL:+2}
PATIENCE=${PATIENCE:-1}

make_pool() {
	[[ -z $POOL ]] || return 0
	make_tmp
	POOL=$TMP/pool
	export LAB_POOL=$POOL
	mkdir -p "$POOL"
	[[ -p $POOL/guest.bell ]] || mkfifo "$POOL"/{guest,build,part,judge}.bell
}

# pool_take guest|build|part|judge: wait for a place; it is ours until pool_give or our end. Without a pool there is room for all.
pool_take() {
	local queue place bell i cpus places
	[[ -n $POOL ]] || return 0
	cpus=$(nproc)
	places=$cpus
	[[ $1 != guest ]] || places=$((cpus + 1))
	exec {queue}>>"$POOL/$1.queue"
	# who has a place has a limit; there may be many before us
	take $((10 * LONGEST)) "$queue" "the queue for a place ($1)"
	exec {bell}<>"$POOL/$1.bell"
	while :; do
		for ((i = 0; i < places; i++)); do
			exec {place}>>"$POOL/$1.$i"
			if flock -n "$place"; then
				POOL_PLACE=$place
				POOL_KIND=$1
				POOL_NICE=$((i < cpus ? 0 : 5))
				exec {bell}>&- {queue}>&-
				return
			fi
			exec {place}>&-
		done
		read -r -N 1 -t 1 -u "$bell" || :
		unless_orphaned
	done
}

pool_give() {
	[[ -n $POOL_PLACE ]] || return 0
	exec {POOL_PLACE}>&-
	POOL_PLACE=
	# where nobody listens, nothing stays of it
	printf . 1<>"$POOL/$POOL_KIND.bell"
}

# beside COMMAND...: in the background, until join_parts, after the guests
PARTS=()
beside() {
	(
		trap - EXIT
		TMP=$TMP/p.$BASHPID
		mkdir -p "$TMP"
		renice -n 4 -p "$BASHPID" >/dev/null
		"$@"
	) &
	PARTS+=($!)
}

in_place() {
	local status=0
	pool_take "$1"
	"${@:2}" || status=$?
	pool_give
	return $status
}

# pooled build|judge COMMAND...: the same, as soon as there is a place
pooled() {
	beside in_place "$@"
}

# join_parts: until all that was started so is done; false if one failed
join_parts() {
	local pid status=0
	for pid in "${PARTS[@]}"; do
		wait "$pid" || status=1
	done
	PARTS=()
	return $status
}
