# lab batch: many jobs, one guest. 'lab help' describes the job directories.
# shellcheck shell=bash

# A module's name from any job's name.
sanitized() {
	local name=${1//[^A-Za-z0-9]/_}
	[[ $name != [0-9]* ]] || name=j$name
	printf '%.50s' "$name"
}

# compile_job DIR OUT NAME: the module of DIR/args, or (where stap is asked not to run it) stap's answer.
# Leaves compile.err and compile.status, and what the job's script needs to know in OUT.opts.
compile_job() {
	local dir=$1 out=$2 args tool=stap status=0
	mapfile -t args <"$dir/args"
	[[ ! -f $dir/command ]] || tool=$(<"$dir/command")
	cd "$dir" || exit
	{
		parse_stap "${args[@]}"
		stap_command "$ARCH" "$KERNEL" "$tool"
		if [[ -n $NO_RUN ]]; then
			in_chroot "${STAP[@]}" "${args[@]}" </dev/null >out || status=$?
			echo "$status" >status
		else
			compile_module "$out" "${NAME:-$3}" || status=$?
		fi
	} 2>compile.err
	echo "$status" >compile.status
	declare -p RUN PARAMS HAS_CMD NO_RUN >"$out.opts"
}

# In the background, at most as many at once as there are processors.
in_parallel() {
	while (($(jobs -rp | wc -l) >= $(nproc))); do
		wait -n
	done
	(
		trap - EXIT
		TMP=$TMP/c.$BASHPID
		mkdir "$TMP"
			"$@"
	) &
	COMPILING+=($!)
}

# prepare_job JOBSDIR NAME: what the guest needs of it; false if nothing of it can run there
prepare_job() {
	local dir=$1/$2 job=$TMP/tree/lab/jobs/$2 file m
	local RUN PARAMS HAS_CMD NO_RUN LOAD=''
	if [[ -e $dir/guest.sh ]]; then
		for m in "$dir"/modules/*/; do
			[[ ! -f $m/compile.status || $(<"$m/compile.status") == 0 ]] || return 1
		done
		mkdir -p "$job/work"
		cp "$dir/guest.sh" "$job/run.sh"
		for m in "$dir"/modules/*/; do
			m=$(basename "$m")
			[[ ! -f $TMP/mod/$2/$m.ko ]] || mv "$TMP/mod/$2/$m.ko" "$job/work/$m.ko"
		done
	else
		[[ $(<"$dir/compile.status") == 0 ]] || return 1
		# shellcheck source=/dev/null
		. "$TMP/mod/$2.ko.opts"
		[[ -z $NO_RUN ]] || return 1
		mkdir -p "$job/work"
		m=$(sanitized "$2").ko
		mv "$TMP/mod/$2.ko" "$job/work/$m"
		[[ ! -f $dir/load ]] || LOAD=$(<"$dir/load")
		write_job "$job" "$m"
	fi
	for file in "$dir"/put/*; do
		[[ ! -e $file ]] || put_file "$file" "$TMP/tree" "$job/work"
	done
	JOB_SECONDS[$2]=${TIMEOUT:-120}
	[[ ! -f $dir/timeout ]] || JOB_SECONDS[$2]=$(<"$dir/timeout")
}

# klog of each job, cut from the whole by the marks that init writes
split_klog() {
	local jobsdir=$1
	sed 's/\r$//' "$TMP/klog" >"$jobsdir/klog"
	awk -v dir="$jobsdir" '
		match($0, /lab: begin /) { file = dir "/" substr($0, RSTART + RLENGTH) "/klog"; printf "" >file; next }
		match($0, /lab: end /) { if (file) close(file); file = "" }
		file { print >file }' "$jobsdir/klog"
}

# Complaints, less those that the job in whose time they came allows.
judge_batch() {
	local jobsdir=$1 name
	: >"$jobsdir/badlines"
	for name in "${NAMES[@]}"; do
		[[ -s $jobsdir/$name/klog ]] || continue
		grep -aE "$BAD_LINES" "$jobsdir/$name/klog" |
			grep -avE "$(cat "$jobsdir/$name/allow" 2>/dev/null || echo '^$')" | sed "s|^|$name: |"
	done >>"$jobsdir/badlines"
	# between jobs, or at the end
	awk '/lab: up$/ { up = 1 } /lab: begin / { job = 1 } /lab: end / { job = 0 } up && !job' "$jobsdir/klog" |
		grep -aE "$BAD_LINES" >>"$jobsdir/badlines"
}

verb_batch() {
	local jobsdir name dir m runnable=0 unpacker reader monitor='' verdict=0 failed=0
	guest_options "" "$@"
	((${#REST[@]} == 1)) || usage_error "batch wants one directory of jobs"
	jobsdir=$(realpath -e -- "${REST[0]}") || die "no such directory: ${REST[0]}" 2
	NAMES=()
	for dir in "$jobsdir"/*/; do
		[[ -f $dir/args || -f $dir/guest.sh ]] || continue
		name=$(basename "$dir")
		[[ $name != *[!A-Za-z0-9_.+-]* ]] || usage_error "batch: '$name' is no name for a job: letters, digits and _.+- only"
		NAMES+=("$name")
	done
	((${#NAMES[@]})) || usage_error "batch: no jobs in $jobsdir"
	ensure "$ARCH" "$KERNEL"
	build_tree
	make_tmp
	rm -f "$jobsdir"/{status,badlines,klog}

	note "compiling ${#NAMES[@]} jobs"
	mkdir -p "$TMP/mod" "$TMP/tree/lab/jobs"
	COMPILING=()
	for name in "${NAMES[@]}"; do
		dir=$jobsdir/$name
		rm -f "$dir"/{out,err,status,klog,compile.err,compile.status}
		if [[ -e $dir/guest.sh ]]; then
			mkdir -p "$TMP/mod/$name"
			for m in "$dir"/modules/*/; do
				[[ ! -f $m/args ]] || in_parallel compile_job "${m%/}" "$TMP/mod/$name/$(basename "$m").ko" "$(sanitized "$(basename "$m")")"
			done
		else
			in_parallel compile_job "$dir" "$TMP/mod/$name.ko" "$(sanitized "$name")"
		fi
	done
	((${#COMPILING[@]} == 0)) || wait "${COMPILING[@]}"
	for name in "${NAMES[@]}"; do
		if prepare_job "$jobsdir" "$name"; then
			runnable=$((runnable + 1))
		elif [[ ! -f $jobsdir/$name/status ]]; then
			failed=1
		fi
	done
	if ((runnable == 0)); then
		note "nothing to run"
		echo 0 >"$jobsdir/status"
		return $failed
	fi
	echo batch >"$TMP/tree/lab/mode"
	cpio_of "$TMP/tree" "$TMP/extra"

	on_event() {
		case $1 in
		begin) note "job $2" ;;
		esac
	}
	GUEST_SECONDS=${TIMEOUT:-0}
	boot_guest "$TMP/extra"
	spawn tar -x --ignore-zeros --read-full-records --no-same-owner -f "$TMP/out" -C "$jobsdir" 2>/dev/null
	unpacker=$SPAWNED
	spawn cat "$TMP/err" >&2
	reader=$SPAWNED
	if [[ -f $jobsdir/monitor ]]; then
		spawn bash "$jobsdir/monitor" "$TMP/monitor" "$TMP/klog" </dev/null
		monitor=$SPAWNED
	fi
	follow_guest
	[[ -z $monitor ]] || stop_child "$monitor"
	wait "$unpacker" "$reader" 2>/dev/null

	split_klog "$jobsdir"
	judge_batch "$jobsdir"
	if [[ -s $jobsdir/badlines ]]; then
		echo "the kernel complained${GUEST_FAULT:+; $GUEST_FAULT}" >"$jobsdir/status"
		verdict=1
	elif [[ -n $GUEST_FAULT ]]; then
		echo "$GUEST_FAULT" >"$jobsdir/status"
		verdict=1
	else
		echo 0 >"$jobsdir/status"
	fi
	((verdict == 0)) || warn "batch: $(<"$jobsdir/status") (see $jobsdir/klog)"
	((failed == 0)) || verdict=1
	return $verdict
}
