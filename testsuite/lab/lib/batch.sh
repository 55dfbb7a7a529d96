# lab batch: many jobs, one guest. 'lab help' describes the job directories.
# shellcheck shell=bash
#
# Several sets of jobs may share a guest, which knows a job as II.NAME: NAME of the IIth set.

SETS=()
JOBS=()
LEFT=()
STALE=''
declare -A JOB_DIR=() JOB_SET=() SET_FAULT=()

# A module's name from any job's name.
sanitized() {
	local name=${1//[^A-Za-z0-9]/_}
	[[ $name != [0-9]* ]] || name=j$name
	printf '%.49s' "$name"
}

# compile_job DIR OUT NAME: the module of DIR/args, or (where stap is asked to make none) stap's answer.
# Leaves compile.err and compile.status, and what the job's script needs to know in OUT.opts. Where it is not to be run, the
# job's status is stap's.
compile_job() {
	local dir=$1 out=$2 args tool=stap status=0
	mapfile -t args <"$dir/args"
	[[ ! -f $dir/command ]] || tool=$(<"$dir/command")
	cd "$dir" || exit
	{
		parse_stap "${args[@]}"
		stap_command "$ARCH" "$KERNEL" "$tool"
		if [[ -z $NO_RUN || $NO_RUN == module ]]; then
			compile_module "$out" "${NAME:-$3}" || status=$?
		else
			in_chroot "${STAP[@]}" "${args[@]}" </dev/null >out || status=$?
		fi
		[[ -z $NO_RUN ]] || echo "$status" >status
	} 2>compile.err
	echo "$status" >compile.status
	declare -p RUN PARAMS HAS_CMD NO_RUN >"$out.opts"
}

# find_jobs: those of all sets
find_jobs() {
	local i dir name job found
	for ((i = 0; i < ${#SETS[@]}; i++)); do
		found=''
		for dir in "${SETS[i]}"/*/; do
			[[ -f $dir/args || -f $dir/guest.sh ]] || continue
			name=$(basename "$dir")
			[[ $name != *[!A-Za-z0-9_.+-]* ]] || usage_error "batch: '$name' is no name for a job: letters, digits and _.+- only"
			printf -v job '%02d.%s' "$i" "$name"
			JOBS+=("$job")
			JOB_DIR[$job]=${dir%/}
			JOB_SET[$job]=$i
			found=1
		done
		[[ -n $found ]] || usage_error "batch: no jobs in ${SETS[i]}"
		rm -f "${SETS[i]}"/{status,badlines,klog}
	done
}

# The first tracepoint script for a kernel takes stap minutes: such come first.
by_length() {
	local job late=()
	for job in "${JOBS[@]}"; do
		if grep -rqF 'trace("' --include=args --include=script.stp "${JOB_DIR[$job]}"; then
			echo "$job"
		else
			late+=("$job")
		fi
	done
	printf '%s\n' "${late[@]}"
}

compile_jobs() {
	local job dir m
	note "compiling ${#JOBS[@]} jobs"
	OWN_TAPSETS=$(content_of "$BUILD/tapsets")
	mkdir -p "$TMP/mod"
	for job in $(by_length); do
		dir=${JOB_DIR[$job]}
		rm -f "$dir"/{out,err,status,klog} "$dir"/{,modules/*/}compile.{err,status}
		if [[ -e $dir/guest.sh ]]; then
			mkdir -p "$TMP/mod/$job"
			for m in "$dir"/modules/*/; do
				[[ ! -f $m/args ]] || beside compile_job "${m%/}" "$TMP/mod/$job/$(basename "$m").ko" "$(sanitized "$(basename "$m")")"
			done
		else
			beside compile_job "$dir" "$TMP/mod/$job.ko" "$(sanitized "${job#*.}")"
		fi
	done
	join_parts
}

# can_run JOB: did what it wants compile, and is it to run?
can_run() {
	local dir=${JOB_DIR[$1]} m NO_RUN=''
	local RUN PARAMS HAS_CMD
	if [[ -e $dir/guest.sh ]]; then
		for m in "$dir"/modules/*/; do
			[[ ! -f $m/args || $(cat "$m/compile.status" 2>/dev/null) == 0 ]] || return 1
		done
		return 0
	fi
	# shellcheck source=/dev/null
	[[ $(cat "$dir/compile.status" 2>/dev/null) == 0 ]] && . "$TMP/mod/$1.ko.opts" && [[ -z $NO_RUN ]]
}

# prepare_job JOB: what the guest needs of it, in TMP/tree
prepare_job() {
	local dir=${JOB_DIR[$1]} job=$TMP/tree/lab/jobs/$1 file m limit=${TIMEOUT:-120}
	local RUN PARAMS HAS_CMD NO_RUN LOAD=''
	mkdir -p "$job/work"
	if [[ -e $dir/guest.sh ]]; then
		cp "$dir/guest.sh" "$job/run.sh"
		for m in "$dir"/modules/*/; do
			m=$(basename "$m")
			[[ ! -f $TMP/mod/$1/$m.ko ]] || cp "$TMP/mod/$1/$m.ko" "$job/work/$m.ko"
		done
	else
		# shellcheck source=/dev/null
		. "$TMP/mod/$1.ko.opts"
		m=$(sanitized "${1#*.}").ko
		cp "$TMP/mod/$1.ko" "$job/work/$m"
		[[ ! -f $dir/load ]] || LOAD=$(<"$dir/load")
		write_job "$job" "$m"
	fi
	cat "$dir"/{guest.sh,load} 2>/dev/null | awk -f "$LAB_DIR/lib/commands.awk" >"$job/commands"
	for file in "$dir"/put/*; do
		[[ ! -e $file ]] || put_file "$file" "$TMP/tree" "$job/work"
	done
	[[ ! -f $dir/pmu ]] || with_pmu "$job" "$(<"$dir/pmu")"
	[[ ! -f $dir/../timeout ]] || limit=$(<"$dir/../timeout")
	[[ ! -f $dir/timeout ]] || limit=$(<"$dir/timeout")
	JOB_SECONDS[$1]=$((limit * PATIENCE))
}

# The jobs' parts of the kernel's log, cut from the whole by the marks that init writes.
split_klog() {
	local job
	sed 's/\r$//' "$TMP/klog" >"$TMP/klog.all"
	mkdir -p "$TMP/klogs"
	awk -v dir="$TMP/klogs" '
		match($0, /lab: begin /) { file = dir "/" substr($0, RSTART + RLENGTH); printf "" >file; next }
		match($0, /lab: end /) { if (file) close(file); file = "" }
		file { print >file }' "$TMP/klog.all"
	for job; do
		[[ ! -f $TMP/klogs/$job ]] || mv "$TMP/klogs/$job" "${JOB_DIR[$job]}/klog"
	done
}

# judge_klog JOB...: complaints in the time of a job, less those that it allows, are its set's; others, between jobs
# or at the end, are those of all that ran there.
judge_klog() {
	local job set
	for job; do
		set=${SETS[${JOB_SET[$job]}]}
		touch "$set/badlines"
		[[ -s ${JOB_DIR[$job]}/klog ]] || continue
		complaints "$(cat "${JOB_DIR[$job]}/allow" 2>/dev/null)" <"${JOB_DIR[$job]}/klog" |
			sed "s|^|${job#*.}: |" >>"$set/badlines"
	done
	awk '/lab: up$/ { up = 1 } /lab: begin / { job = 1 } /lab: end / { job = 0 } up && !job' "$TMP/klog.all" |
		complaints >"$TMP/between"
	for job; do
		set=${SETS[${JOB_SET[$job]}]}
		if [[ ! -f $TMP/seen.${JOB_SET[$job]} ]]; then
			touch "$TMP/seen.${JOB_SET[$job]}"
			cat "$TMP/between" >>"$set/badlines"
			cat "$TMP/klog.all" >>"$set/klog"
		fi
	done
	rm -f "$TMP"/seen.*
}

# boot_jobs JOB...: one guest for all of them. Sets LEFT to those that it did not come to, and STALE if QEMU was wrong: then
# the job in whose time it was, if there was one, is among them.
boot_jobs() {
	local job unpacker reader monitor=''
	rm -rf "$TMP/tree" "$TMP/results"
	mkdir -p "$TMP/tree/lab/jobs" "$TMP/results"
	for job; do
		prepare_job "$job"
	done
	echo batch >"$TMP/tree/lab/mode"
	cpio_of "$TMP/tree" "$TMP/extra"
	rm -rf "$TMP/tree"

	LEFT=("$@")
	on_event() {
		local i
		case $1 in
		begin)
			note "job ${2#*.}"
			for ((i = 0; i < ${#LEFT[@]}; i++)); do
				[[ ${LEFT[i]} != "$2" ]] || unset "LEFT[i]"
			done
			LEFT=("${LEFT[@]}")
			;;
		esac
	}
	GUEST_SECONDS=$((${TIMEOUT:-0} * PATIENCE))
	pool_take guest
	touch "${SETS[0]}/placed"
	boot_guest "$TMP/extra"
	spawn tar -x --ignore-zeros --read-full-records --no-same-owner -f "$TMP/out" -C "$TMP/results" 2>/dev/null
	unpacker=$SPAWNED
	spawn cat "$TMP/err" >&2
	reader=$SPAWNED
	if [[ -f ${SETS[0]}/monitor ]]; then
		spawn bash "${SETS[0]}/monitor" "$TMP/monitor" "$TMP/klog" </dev/null
		monitor=$SPAWNED
	fi
	follow_guest
	[[ -z $monitor ]] || stop_child "$monitor"
	end_readers "$unpacker" "$reader"
	pool_give
	for job; do
		mv "$TMP/results/$job"/* "${JOB_DIR[$job]}/" 2>/dev/null
	done
	split_klog "$@"
	STALE=''
	if [[ -n $MTTCG && -n $GUEST_FAULT ]] && ran_stale_code "$TMP/klog"; then
		STALE=1
		job=${FAULTS[-1]%% *}
		if [[ -n $job ]]; then
			rm -f "${JOB_DIR[$job]}/klog"
			LEFT=("$job" "${LEFT[@]}")
		fi
		# what came of it is nobody's
		cat "$TMP/klog.all" >>"${SETS[0]}/klog"
		sed -i '/Oops: int3/,$d' "$TMP/klog.all"
	fi
	judge_klog "$@"
}

# blame JOB FAULT: it is its set's
blame() {
	local set=${JOB_SET[$1]}
	SET_FAULT[$set]=${SET_FAULT[$set]:-}${SET_FAULT[$set]:+; }${2//"$1"/"${1#*.}"}
}

# run_jobs JOB...: a guest that does not come to its end is followed by another, for the jobs that it did not come to.
run_jobs() {
	local boots job fault
	LEFT=("$@")
	for ((boots = 0; ${#LEFT[@]} && boots < 5; boots++)); do
		boot_jobs "${LEFT[@]}"
		[[ -n $GUEST_FAULT ]] || return
		# a guest that was not up, or had no job yet, would not be the next time
		[[ -n $STALE || ${FAULTS[0]} != " "* ]] || break
		[[ -z $STALE ]] || { tally stale && unset "FAULTS[-1]"; }
		for fault in "${FAULTS[@]}"; do
			blame "${fault%% *}" "${fault#* }"
		done
	done
	for job in "${LEFT[@]}"; do
		blame "$job" "$GUEST_FAULT"
	done
}

# set_status I: what DIR/status says of the Ith set: 0, or what went wrong
set_status() {
	local dir=${SETS[$1]} job what=${SET_FAULT[$1]:-} failed='' ran=''
	for job in "${JOBS[@]}"; do
		[[ ${JOB_SET[$job]} == "$1" ]] || continue
		[[ ! -f ${JOB_DIR[$job]}/status ]] || ran=1
		[[ -f ${JOB_DIR[$job]}/status ]] || failed+=" ${job#*.}"
	done
	[[ ! -s $dir/badlines ]] || what="the kernel complained${what:+; $what}"
	[[ -n $ran ]] || what=${what:-"nothing compiled:$failed"}
	echo "${what:-0}" >"$dir/status"
	[[ -z $what ]] || warn "batch: $what (see $dir)"
	[[ -z $what && -z $failed ]]
}

verb_batch() {
	local dir job verdict=0 i runnable=()
	guest_options "" "$@"
	((${#REST[@]})) || usage_error "batch wants a directory of jobs, or several"
	for dir in "${REST[@]}"; do
		SETS+=("$(realpath -e -- "$dir" 2>/dev/null)")
		[[ -n ${SETS[-1]} ]] || die "no such directory: $dir" 2
	done
	find_jobs
	ensure "$ARCH" "$KERNEL"
	build_tree
	make_tmp
	make_pool
	compile_jobs
	# for who waits with what comes next until we compile no more
	touch "${SETS[0]}/compiled"
	for job in "${JOBS[@]}"; do
		if can_run "$job"; then
			runnable+=("$job")
		elif [[ ! -f ${JOB_DIR[$job]}/status ]]; then
			warn "batch: ${job#*.} did not compile: $(tail -n 1 "${JOB_DIR[$job]}/compile.err" 2>/dev/null)"
		fi
	done
	((${#runnable[@]} == 0)) || run_jobs "${runnable[@]}"
	for ((i = 0; i < ${#SETS[@]}; i++)); do
		set_status "$i" || verdict=1
	done
	rm -f "${SETS[0]}"/{compiled,placed}
	return $verdict
}
