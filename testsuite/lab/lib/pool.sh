# What runs side by side: at most one thing for each processor, in this lab and in all that it starts.
# shellcheck shell=bash
#
# A place is a lock, so whoever dies gives his back. Who waits stands in a queue, by another lock.

POOL=${LAB_POOL:-}
POOL_PLACE=
# What limits are multiplied by: they are there for what hangs, and a guest beside others is slower.
PATIENCE=${LAB_POOL:+2}
PATIENCE=${PATIENCE:-1}

make_pool() {
	[[ -z $POOL ]] || return 0
	make_tmp
	POOL=$TMP/pool
	export LAB_POOL=$POOL
	mkdir -p "$POOL"
}

# pool_take: wait for a place; it is ours until pool_give or our end
pool_take() {
	local queue place i
	exec {queue}>>"$POOL/queue"
	flock "$queue"
	while :; do
		for ((i = 0; i < $(nproc); i++)); do
			exec {place}>>"$POOL/$i"
			if flock -n "$place"; then
				POOL_PLACE=$place
				exec {queue}>&-
				return
			fi
			exec {place}>&-
		done
		sleep 0.1
	done
}

pool_give() {
	exec {POOL_PLACE}>&-
	POOL_PLACE=
}

# pool_line: as pool_take, for what is one of many. They stand in a line of their own, and only its first one in the queue,
# so that a guest does not wait for fifty modules, nor fifty modules for a part of the chroot each.
pool_line() {
	local line
	exec {line}>>"$POOL/line"
	flock "$line"
	pool_take
	exec {line}>&-
}

# pooled COMMAND...: in the background, as soon as there is a place
PARTS=()
pooled() {
	(
		trap - EXIT
		TMP=$TMP/p.$BASHPID
		mkdir -p "$TMP"
		pool_line
		"$@"
	) &
	PARTS+=($!)
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
