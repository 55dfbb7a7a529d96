# Building this tree, compiling scripts to modules, and reading stap's arguments.
# shellcheck shell=bash

# The build directory of this tree: one for each place that it may stand in.
build_dir() {
	local id
	id=$(printf %s "$TREE" | sha256sum | cut -c1-8)
	echo "$CACHE/build/${TREE##*/}-$id"
}

# The tapsets and the stapwatch command, built where they are needed, never in the tree.
build_tree() {
	local key
	[[ -z ${LAB_NOBUILD:-} ]] || return 0
	make_tmp
	mkdir -p "$BUILD"
	lock build
	if [[ -x $TREE/configure && -f $TREE/testsuite/lib/stapwatch.exp ]]; then
		# configure looks at what the chroot holds, for tests too
		key=$(hash_of "$TREE/configure" "$CACHE"/stamps/chroot-*)
		if [[ ! -f $BUILD/Makefile ]] || ! is_fresh "configure-${BUILD##*/}" "$key"; then
			note "configuring"
			in_chroot -C "$BUILD" "$TREE/configure" >"$TMP/build.log" 2>&1 || build_failed configure
			set_stamp "configure-${BUILD##*/}" "$key"
		fi
		in_chroot -C "$BUILD" make -s -j2 >"$TMP/build.log" 2>&1 || build_failed make
	elif [[ -x $TREE/tapsets/mktapsets ]]; then
		in_chroot -C "$TREE" tapsets/mktapsets "$BUILD/tapsets" >"$TMP/build.log" 2>&1 || build_failed mktapsets
	fi
	unlock build
}

build_failed() {
	cat "$TMP/build.log" >&2
	die "$1 failed in $BUILD"
}

# parse_stap ARGS...: sort stap's options. Sets
#   COMPILE  arguments for pass 1 to 4        RUN  options for staprun
#   PARAMS   global=value, for the module     NAME, OUTPUT  -m and -o
#   NO_RUN   if stap is asked to stop before running the module: `module', if it is to make one (-p4), which
#            COMPILE does not say
parse_stap() {
	local arg opts long
	COMPILE=() RUN=() PARAMS=() NAME='' OUTPUT='' NO_RUN='' HAS_CMD=''
	while (($#)); do
		arg=$1
		shift
		case $arg in
		--)
			COMPILE+=("$arg" "$@")
			break
			;;
		--vp | --compatible | --use-http-server | --remote | --tmpdir | --privilege | --modinfo | --rlimit-as | \
			--rlimit-cpu | --rlimit-nproc | --rlimit-stack | --rlimit-fsize | --sysroot | --sysenv | --runtime | \
			--benchmark-sdt-loops | --benchmark-sdt-threads | --target-namespaces | --pmu)
			COMPILE+=("$arg" "${1-}")
			shift
			;;
		--version | --help | --dump-* | --list-servers* | --clean-cache | --language-server | --lower | --explain | --check-version)
			COMPILE+=("$arg")
			[[ $arg == --check-version ]] || NO_RUN=1
			;;
		--remote* | --monitor* | --interactive | --dyninst | --bpf | --runtime=[!k]*)
			usage_error "the lab cannot do $arg"
			;;
		--*) COMPILE+=("$arg") ;;
		-?*)
			opts=${arg#-}
			while [[ -n $opts ]]; do
				long=${opts:0:1}
				opts=${opts:1}
				case $long in
				[pIeEoRramcxDsldLSBJGT])
					if [[ -z $opts ]]; then
						(($#)) || usage_error "stap's -$long needs an argument"
						opts=$1
						shift
					fi
					stap_option "$long" "$opts"
					opts=
					;;
				*) stap_flag "$long" ;;
				esac
			done
			;;
		*) COMPILE+=("$arg") ;;
		esac
	done
}

stap_option() {
	case $1 in
	c)
		COMPILE+=(-c "$2")
		RUN+=(-c "$2")
		HAS_CMD=1
		;;
	x) RUN+=(-x "$2") ;;
	o) OUTPUT=$2 ;;
	S) RUN+=(-S "$2") ;;
	s)
		COMPILE+=(-s "$2")
		RUN+=(-b "$2")
		;;
	G)
		COMPILE+=(-G "$2")
		PARAMS+=("$2")
		;;
	m) NAME=$2 ;;
	p)
		if (($2 == 4)); then
			NO_RUN=module
		elif (($2 < 4)); then
			COMPILE+=(-p "$2")
			NO_RUN=1
		fi
		;;
	l | L)
		COMPILE+=("-$1" "$2")
		NO_RUN=1
		;;
	r | a) usage_error "the lab chooses stap's -$1: use --kernel or --arch" ;;
	*) COMPILE+=("-$1" "$2") ;;
	esac
}

stap_flag() {
	case $1 in
	w) RUN+=(-w) ;;
	F | i) usage_error "the lab cannot do stap's -$1" ;;
	h | V) NO_RUN=1 ;;
	esac
	COMPILE+=("-$1")
}

# stap_command ARCH KERNEL stap|stapwatch|DIR: the words before the script's own arguments; DIR has tapsets
# for stap that stand in for this tree's
stap_command() {
	TAPSETS=$BUILD/tapsets
	[[ $3 != /* ]] || TAPSETS=$3
	if [[ $3 == stapwatch ]]; then
		STAPWATCH=(env "STAPWATCH_TAPSETS=$BUILD/tapsets" "$BUILD/translator-ext/stapwatch")
		STAP=("${STAPWATCH[@]}")
	else
		STAP=(stap -I "$TAPSETS")
	fi
	STAP+=(-r "$(stap_release "$1" "$2")")
	[[ $1 != aarch64 ]] || STAP+=("${STAP_AARCH64[@]}")
}
