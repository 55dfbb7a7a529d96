# The test suite and the demonstration.
# shellcheck shell=bash

# What `make check` runs needs stap and no guest: it runs in the chroot. The rest, each area a
# directory stapwatch.*, runs here and starts guests. stapwatch.host tries what is installed.
guest_areas() {
	local dir
	for dir in "$TREE"/testsuite/stapwatch.*/; do
		dir=$(basename "$dir")
		case $dir in
		stapwatch.unit | stapwatch.front | stapwatch.host) ;;
		*) echo "$dir" ;;
		esac
	done
}

# host_runtest OUTDIR ARGS...
host_runtest() {
	local out=$1 areas
	shift
	mkdir -p "$out"
	areas=$(guest_areas | xargs)
	[[ -n $areas ]] || return 0
	in_chroot -C "$BUILD" make -s testsuite/site.exp || return
	cd "$BUILD/testsuite" || return
	LAB=$LAB_DIR/lab in_namespace runtest --tool stapwatch --srcdir "$TREE/testsuite" --directory "$areas" --outdir "$out" "$@"
}

# sum_up DIR...: the last line; true if something passed and nothing failed
sum_up() {
	local passed=0 failed=0 sum
	for sum in "${@/%//stapwatch.sum}"; do
		[[ -f $sum ]] || continue
		passed=$((passed + $(grep -cE '^(PASS|XFAIL): ' "$sum")))
		# an error of Tcl's takes many lines that begin with ERROR
		failed=$((failed + $(awk '/^(FAIL|XPASS|UNRESOLVED): / || /^ERROR: / && !error { n++ }
			{ error = /^ERROR: / } END { print n + 0 }' "$sum")))
	done
	echo "$passed passed, $failed failed"
	((passed > 0 && failed == 0))
}

verb_check() {
	local out=$BUILD/testsuite words='' kernel
	export KERNELS=${KERNELS:-current lts debug}
	for kernel in $KERNELS; do
		check_kernel x86_64 "$kernel"
		ensure x86_64 "$kernel"
	done
	ensure aarch64 current
	build_tree
	rm -rf "$out/sum"
	mkdir -p "$out/sum/chroot"
	(($# == 0)) || words=$(quoted "$@")
	in_chroot -C "$BUILD" make check RUNTESTFLAGS="--outdir $out/sum/chroot $words"
	host_runtest "$out/sum/guest" "$@"
	sum_up "$out/sum/chroot" "$out/sum/guest"
}

verb_check-kasan() {
	local out=$BUILD/testsuite
	if (($# == 0)); then
		# shellcheck disable=SC2046 # words
		set -- $(cd "$TREE/testsuite/stapwatch.guest" && grep -l 'each_kernel .*kasan' -- *.exp)
		(($#)) || die "no tests are for this kernel"
	fi
	ensure x86_64 kasan
	build_tree
	rm -rf "$out/kasan"
	KERNELS=kasan host_runtest "$out/kasan" "$@"
	sum_up "$out/kasan"
}

verb_bench() {
	[[ -x $TREE/testsuite/bench/run ]] || die "there is no testsuite/bench/run"
	ensure x86_64 current
	build_tree
	LAB=$LAB_DIR/lab in_namespace "$TREE/testsuite/bench/run" "$@"
}

verb_demo() {
	local load=$TREE/examples/demo.load script=$TREE/examples/demo.stp
	(($# == 0)) || usage_error "demo takes no arguments"
	if [[ -x $LAB_DIR/demo.sh ]]; then
		LAB=$LAB_DIR/lab in_namespace "$LAB_DIR/demo.sh"
		return
	fi
	[[ -f $load && -f $script ]] || die "there are no examples/demo.stp and demo.load"
	verb_run --load "$(<"$load")" -- stap "$script"
}
