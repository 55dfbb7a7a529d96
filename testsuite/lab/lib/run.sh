# lab run: one script, its output live.
# shellcheck shell=bash

# the command that a module stands beside
BESIDE=()

# Quoted for busybox's shell.
quoted() {
	local word
	for word; do
		printf "'%s' " "${word//\'/\'\\\'\'}"
	done
}

# put_file FILE TREE WORK: FILE stands in the guest where it stands on the host, because probes name
# programs by path; the job's directory has a link. A place that the guest has of its own is not used, and init brings to /tmp and the
# like, which it mounts, what stands in /lab/put.
put_file() {
	local file dest name=${1##*/}
	file=$(realpath -e -- "$1" 2>/dev/null) && [[ -f $file ]] || die "--put: no such file: $1" 2
	case $file in
	/usr/* | /bin/* | /sbin/* | /lib* | /etc/* | /dev/* | /proc/* | /sys/* | /lab/*)
		install -m 755 -- "$file" "$3/$name"
		;;
	*)
		put_once "$file" "$2" "$3/$name" && return
		dest=$2${file%/*}
		[[ $file != @(/tmp|/run|/var/tmp)/* ]] || dest=$2/lab/put${file%/*}
		mkdir -p "$dest"
		install -m 755 -- "$file" "$dest/${file##*/}"
		ln -sf "$file" "$3/$name"
		;;
	esac
}

# put_once FILE TREE LINK: what is large, as the tars of tools are, stands in the guest once, whoever has a copy of it: the
# guest's files are in its memory. Nobody probes such a file by its path. False: FILE is not large.
put_once() {
	local sum
	(($(stat -c %s "$1") >= 1 << 22)) || return
	sum=$(sha256sum <"$1" | cut -c1-16)
	mkdir -p "$2/lab/once"
	[[ -f $2/lab/once/$sum ]] || install -m 755 -- "$1" "$2/lab/once/$sum"
	ln -sf "/lab/once/$sum" "$3"
}

# write_job JOBDIR MODULE: run.sh of a job that runs one module; uses what parse_stap found and $LOAD
write_job() {
	local job=$1
	local words=(staprun -C never "${RUN[@]}")
	if ((${#BESIDE[@]})); then
		write_beside "$job" "${words[@]}" "$2"
		return
	fi
	if [[ -n $LOAD ]]; then
		[[ -z $HAS_CMD ]] || die "stap's -c and --load exclude each other" 2
		printf '%s\n' "$LOAD" >"$job/load"
		printf '%s\n' 'sh ../load >&2 </dev/null' 'status=$?' \
			'[ $status = 0 ] || echo "lab: the load ended with status $status" >&2' >"$job/load.sh"
		words+=(-c "sh ../load.sh")
	fi
	words+=("$2" "${PARAMS[@]}")
	if [[ -n ${APART:-} ]]; then
		# what the script says goes by a pipe of its own
		printf 'mkfifo ../said; cat ../said & staprun -o ../said %s>&2\nstatus=$?; wait; exit $status\n' \
			"$(quoted "${words[@]:1}")"
	else
		printf 'exec %s\n' "$(quoted "${words[@]}")"
	fi >"$job/run.sh"
}

# write_beside JOBDIR STAPRUN...: run.sh of a job that runs the command $BESIDE while a module is there, and $LOAD
write_beside() {
	local job=$1
	shift
	printf '%s\n' "$LOAD" >"$job/load"
	cat >"$job/run.sh" <<-END
		tar -x -C / -f stapwatch.tar
		$(quoted "$@") >&2 &
		module=\$!
		until grep -qs . /proc/systemtap/*/ppa/ppa; do
			kill -0 \$module || exit
			sleep 0.1
		done
		sh ../load >&2 </dev/null &
		$(quoted "${BESIDE[@]}")
		status=\$?
		kill -INT \$module
		wait \$module
		exit \$status
	END
}

# guest_options NAMES ARGS...: the options that run and batch share, and those of NAMES. Sets ARCH, KERNEL,
# ICOUNT, MTTCG, DEBIAN, SMP, APPEND, TIMEOUT, LOAD, PUT, PMU and, to what is left, REST.
guest_options() {
	local names=$1
	ARCH=x86_64 KERNEL=current ICOUNT='' MTTCG='' DEBIAN='' SMP='' APPEND='' TIMEOUT='' LOAD='' PUT=() PMU='' REST=()
	local stap=$STAP_VERSION
	shift
	while (($#)); do
		case $1 in
		--stap | --arch | --kernel | --smp | --append | --timeout | --load | --put)
			[[ " --stap --arch --kernel --smp --append --timeout $names " == *" $1 "* ]] || usage_error "unknown option '$1'"
			(($# >= 2)) || usage_error "$1 needs a value"
			case $1 in
			--stap) stap=$2 ;;
			--arch) ARCH=$2 ;;
			--kernel) KERNEL=$2 ;;
			--smp) SMP=$2 ;;
			--append) APPEND=$2 ;;
			--timeout) TIMEOUT=$2 ;;
			--load) LOAD=$2 ;;
			--put) PUT+=("$2") ;;
			esac
			shift
			;;
		--icount) ICOUNT=1 ;;
		--mttcg) MTTCG=1 ;;
		--debian) DEBIAN=1 ;;
		--pmu | --pmu=*)
			[[ " $names " == *" --pmu "* ]] || usage_error "unknown option '$1'"
			PMU=plain
			[[ $1 != *=* ]] || PMU=${1#*=}
			;;
		-v) VERBOSE=1 ;;
		--)
			shift
			break
			;;
		-*) usage_error "unknown option '$1'" ;;
		*) break ;;
		esac
		shift
	done
	REST=("$@")
	check_kernel "$ARCH" "$KERNEL"
	choose_stap "$stap"
	check_cell "$KERNEL"
	KERNEL=${KERNEL_ALIAS[$KERNEL]:-$KERNEL}
	[[ -n $SMP ]] || SMP=$(default_smp "$ARCH" "$ICOUNT")
	check_number --smp "$SMP"
	[[ $SMP != 0 ]] || usage_error "--smp wants at least 1"
	check_number --timeout "${TIMEOUT:-0}"
}

verb_run() {
	local tool
	guest_options "--load --put --pmu" "$@"
	set -- "${REST[@]}"
	tool=${1-}
	[[ $tool =~ ^(stap|stapwatch|perf)$ ]] || usage_error "run: after '--' comes stap, stapwatch or perf"
	[[ $tool != perf || $ARCH == x86_64 ]] || usage_error "run: perf is for x86_64 guests only"
	shift

	ensure "$ARCH" "$KERNEL"
	build_tree
	make_tmp
	if [[ $tool == perf ]]; then
		run_perf "$@"
		return
	fi
	stap_command "$ARCH" "$KERNEL" "$tool"
	if [[ $tool == stapwatch && ${1-} == list ]]; then
		in_chroot "${STAPWATCH[@]}" "$@"
		return
	fi
	if [[ $tool == stapwatch && ${1-} == ppa ]]; then
		run_beside "$@"
		return
	fi
	if [[ $tool == stapwatch && ${1-} =~ ^(stat|record|latency)$ ]]; then
		run_command "$@"
		return
	fi
	run_script "$@"
}

# run_beside ARGS...: a stapwatch that reads the files of a session. It runs in the guest, where the lab begins one.
run_beside() {
	[[ $ARCH == x86_64 ]] || usage_error "run: stapwatch $1 runs on x86_64 only"
	BESIDE=(stapwatch "$@")
	setup_own_tool
	PUT+=("$TOOL")
	stap_command "$ARCH" "$KERNEL" stap
	run_script -e 'probe begin { if (ppa_cpu_elapsed_us(0) < -1) exit() }'
}

# run_command ARGS...: a stapwatch that runs stap itself. It runs in the chroot, and what it asks of stap is
# done in the guest. What the command there prints goes to stderr, apart from the script's output.
run_command() {
	local asking answer nr args=() n status=0 command APART=1 PART
	local until=$((SECONDS + 600 * PATIENCE))
	mkfifo "$TMP/asked" "$TMP/answer"
	# both ways, so that nobody waits for the other side to be there
	exec {asking}<>"$TMP/asked" {answer}<>"$TMP/answer"
	in_chroot env "TMPDIR=$TMP" "LAB_ASKED=$TMP" "SYSTEMTAP_RELEASE=$(kernel_release "$ARCH" "$KERNEL")" \
		"STAPWATCH_KALLSYMS=/boot/System.map-$(kernel_release "$ARCH" "$KERNEL")" \
		"STAPWATCH_STAP=$LAB_DIR/lib/stap-in-guest.sh" "${STAPWATCH[@]:1}" "$@" &
	command=$!
	asked() {
		until read_part "$asking" 0.2 ''; do
			is_running "$command" || return
			((SECONDS < until)) || die "stapwatch $1 did not say in $((600 * PATIENCE)) s what it asks stap for"
		done
	}
	if asked "$1"; then
		nr=$PART
		for ((n = 0; n < nr; n++)); do
			asked "$1" || die "stapwatch $1 ended before it had said what it asks stap for"
			args+=("$PART")
		done
		stap_command "$ARCH" "$KERNEL" stap
		# it has the tapsets among its arguments
		STAP=("${STAP[0]}" "${STAP[@]:3}")
		run_script "${args[@]}" || status=$?
		echo "$status" >&"$answer"
	fi
	# it has the answer, and prints what it knows
	waited_within $((300 * PATIENCE)) "$command" "stapwatch $1"
}

# run_script ARGS...: stap's arguments
run_script() {
	local file status job
	parse_stap "$@"
	if [[ -n $NO_RUN ]]; then
		in_chroot "${STAP[@]}" "$@"
		return
	fi
	note "compiling"
	status=0
	# stap gives it a name of its own when it is loaded
	[[ -n $NAME ]] || RUN+=(-R)
	compile_module "$TMP/module.ko" "$NAME" || status=$?
	((status == 0)) || return $status
	job=$TMP/tree/lab/jobs/run
	mkdir -p "$job/work"
	mv "$TMP/module.ko" "$job/work/$NAME.ko"
	for file in "${PUT[@]}"; do
		put_file "$file" "$TMP/tree" "$job/work"
	done
	write_job "$job" "$NAME.ko"
	run_live "$job"
}

# run_perf ARGS...: perf's own, with nothing of ours
run_perf() {
	local job=$TMP/tree/lab/jobs/run file
	OUTPUT=''
	mkdir -p "$job/work"
	lock tools
	setup_tool linux-perf /usr/bin/perf
	unlock tools
	tar -x -f "$TOOL" -C "$TMP/tree"
	for file in "${PUT[@]}"; do
		put_file "$file" "$TMP/tree" "$job/work"
	done
	printf 'exec %s\n' "$(quoted perf "$@")" >"$job/run.sh"
	run_live "$job"
}

# run_live JOBDIR: boot, and what the job says as it says it
run_live() {
	local readers
	[[ -z $PMU ]] || with_pmu "$1" "$PMU"
	echo live >"$TMP/tree/lab/mode"
	cpio_of "$TMP/tree" "$TMP/extra"

	JOB_SECONDS[run]=${TIMEOUT:-0}
	JOB_STATUS=
	on_event() {
		[[ $1 != end ]] || JOB_STATUS=${2##* }
	}
	boot_guest "$TMP/extra"
	if [[ -n $OUTPUT ]]; then
		spawn cat "$TMP/out" >"$OUTPUT"
	else
		spawn cat "$TMP/out"
	fi
	READER=$SPAWNED
	readers=("$READER")
	spawn cat "$TMP/err" >&2
	readers+=("$SPAWNED")
	INTERRUPTIBLE=1
	follow_guest
	end_readers "${readers[@]}"
	run_verdict
}

run_verdict() {
	if [[ -n $(bad_lines "$TMP/klog") ]]; then
		show_complaints "$TMP/klog" >&2
		warn "the guest's kernel complained (above)${GUEST_FAULT:+; the guest: $GUEST_FAULT}"
		return 99
	fi
	case $GUEST_FAULT in
	'') return "${JOB_STATUS:-99}" ;;
	'timeout run')
		warn "the script did not end in ${JOB_SECONDS[run]} s (--timeout)"
		return 98
		;;
	esac
	tail -n 25 "$TMP/klog" "$TMP/qemu.log" >&2
	case $GUEST_FAULT in
	boot) warn "the guest did not come up (its log's end is above)" ;;
	*) warn "the guest: $GUEST_FAULT" ;;
	esac
	return 99
}
