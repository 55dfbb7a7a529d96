# lab run: one script, its output live.
# shellcheck shell=bash

# Quoted for busybox's shell.
quoted() {
	local word
	for word; do
		printf "'%s' " "${word//\'/\'\\\'\'}"
	done
}

# put_file FILE TREE WORK: FILE stands in the guest where it stands on the host, because probes name
# programs by path; the job's directory has a link. A place that the guest has of its own is not used.
put_file() {
	local file dest
	file=$(realpath -e -- "$1" 2>/dev/null) && [[ -f $file ]] || die "--put: no such file: $1" 2
	case $file in
	/usr/* | /bin/* | /sbin/* | /lib* | /etc/* | /dev/* | /proc/* | /sys/* | /run/* | /tmp/* | /lab/* | /var/*)
		install -m 755 -- "$file" "$3/${1##*/}"
		;;
	*)
		dest=$2${file%/*}
		mkdir -p "$dest"
		install -m 755 -- "$file" "$dest/${file##*/}"
		ln -sf "$file" "$3/${1##*/}"
		;;
	esac
}

# write_job JOBDIR MODULE: run.sh of a job that runs one module; uses what parse_stap found and $LOAD
write_job() {
	local job=$1
	local words=(staprun -C never "${RUN[@]}")
	if [[ -n $LOAD ]]; then
		[[ -z $HAS_CMD ]] || die "stap's -c and --load exclude each other" 2
		printf '%s\n' "$LOAD" >"$job/load"
		printf '%s\n' 'sh ../load >&2 </dev/null' 'status=$?' \
			'[ $status = 0 ] || echo "lab: the load ended with status $status" >&2' >"$job/load.sh"
		words+=(-c "sh ../load.sh")
	fi
	words+=("$2" "${PARAMS[@]}")
	printf 'exec %s\n' "$(quoted "${words[@]}")" >"$job/run.sh"
}

# guest_options NAMES ARGS...: the options that run and batch share, and those of NAMES. Sets ARCH, KERNEL,
# ICOUNT, SMP, APPEND, TIMEOUT, LOAD, PUT and, to what is left, REST.
guest_options() {
	local names=$1
	ARCH=x86_64 KERNEL=current ICOUNT='' SMP='' APPEND='' TIMEOUT='' LOAD='' PUT=() REST=()
	shift
	while (($#)); do
		case $1 in
		--arch | --kernel | --smp | --append | --timeout | --load | --put)
			[[ " --arch --kernel --smp --append --timeout $names " == *" $1 "* ]] || usage_error "unknown option '$1'"
			(($# >= 2)) || usage_error "$1 needs a value"
			case $1 in
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
	[[ -n $SMP ]] || SMP=$(default_smp "$ARCH" "$ICOUNT")
	check_number --smp "$SMP"
	[[ $SMP != 0 ]] || usage_error "--smp wants at least 1"
	check_number --timeout "${TIMEOUT:-0}"
}

verb_run() {
	local tool file status job readers
	guest_options "--load --put" "$@"
	set -- "${REST[@]}"
	tool=${1-}
	[[ $tool == stap || $tool == stapwatch ]] || usage_error "run: after '--' comes stap or stapwatch"
	shift

	ensure "$ARCH" "$KERNEL"
	build_tree
	make_tmp
	stap_command "$ARCH" "$KERNEL" "$tool"
	if [[ $tool == stapwatch && ${1-} == list ]]; then
		in_chroot "${STAPWATCH[@]}" "$@"
		return
	fi
	parse_stap "$@"
	if [[ -n $NO_RUN ]]; then
		in_chroot "${STAP[@]}" "$@"
		return
	fi
	note "compiling"
	status=0
	compile_module "$TMP/module.ko" "$NAME" || status=$?
	((status == 0)) || return $status
	if [[ -z $NAME ]]; then
		NAME=$(module_name "$TMP/module.ko")
		RUN+=(-R)
	fi
	job=$TMP/tree/lab/jobs/run
	mkdir -p "$job/work"
	mv "$TMP/module.ko" "$job/work/$NAME.ko"
	for file in "${PUT[@]}"; do
		put_file "$file" "$TMP/tree" "$job/work"
	done
	echo live >"$TMP/tree/lab/mode"
	write_job "$job" "$NAME.ko"
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
	wait "${readers[@]}" 2>/dev/null
	run_verdict
}

module_name() {
	in_chroot -C / modinfo -F name "$1"
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
