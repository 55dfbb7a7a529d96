# The test suite: lab check.
# shellcheck shell=bash
#
# A part is one .exp file, with a run, a scratch directory and a summary of its own, in $OUT/NAME. Those of unit and front
# want stap and no guest: they run in the chroot, one after the other. The others run here, twice (see
# testsuite/lib/stapwatch.exp): first they say what guests they want, and then what came of it.

# Guests of `check`, by what they have in common, and the sets of jobs in each.
declare -A GROUP_SETS=() GROUP_WEIGHT=()
CHROOT_PARTS=() GUEST_PARTS=() LANES=()
ONLY=''
OUT=''

all_parts() {
	(cd "$TREE/testsuite" && ls -d stapwatch.*/*.exp) | grep -v '^stapwatch.host/'
}

add_part() {
	case $1 in
	stapwatch.unit/* | stapwatch.front/*) [[ " ${CHROOT_PARTS[*]} " == *" $1 "* ]] || CHROOT_PARTS+=("$1") ;;
	*) [[ " ${GUEST_PARTS[*]} " == *" $1 "* ]] || GUEST_PARTS+=("$1") ;;
	esac
}

# select_parts WORD...: an area, a file, or what stands in the names of tests
select_parts() {
	local word part found
	if (($# == 0)); then
		for part in $(all_parts); do
			add_part "$part"
		done
	fi
	for word; do
		found=$(all_parts | grep -E "^stapwatch\.$word/|[./]$word(\.exp)?\$")
		if [[ -z $found ]]; then
			# names are put together when they are used: look for the words that are written down
			# shellcheck disable=SC2046 # words
			found=$(cd "$TREE/testsuite" && grep -lF -- "$word" $(all_parts))
			[[ -n $found ]] || usage_error "check: '$word' is no area, no file and in no test's name"
			ONLY+=${ONLY:+|}$word
		fi
		for part in $found; do
			add_part "$part"
		done
	done
	# whole files beside single tests would be cut down to these
	[[ -z $ONLY || $# == 1 ]] || usage_error "check: one word at a time for single tests"
}

# What the parts need: 'ARCH-KERNEL' of each.
needed_kernels() {
	local kernel
	for kernel in $KERNELS; do
		check_kernel x86_64 "$kernel"
	done
	[[ -z ${GUEST_PARTS[*]}$(with_headers) ]] || echo x86_64-current
	((${#GUEST_PARTS[@]})) || return 0
	cd "$TREE/testsuite" || return
	for kernel in $KERNELS; do
		if grep -qE "each_kernel \w+ \{[^}]*\<$kernel\>" "${GUEST_PARTS[@]}"; then
			echo "x86_64-$kernel"
		fi
	done
	! grep -q 'arch aarch64' "${GUEST_PARTS[@]}" || echo aarch64-current
}

# run_part PHASE FILE: runtest of one file
run_part() {
	local phase=$1 part=$2 name=${2#stapwatch.} out status=0 start=$SECONDS how=(in_namespace)
	name=${name//\//-}
	out=$OUT/${name%.exp}
	mkdir -p "$out/$phase"
	if [[ $phase == chroot ]]; then
		# as `make check' does it, but for what is built already
		how=(in_chroot)
	else
		export LAB=$LAB_DIR/lab SW_PHASE=$phase
	fi
	cd "$BUILD/testsuite" || return
	SW_TMP=$out/tmp "${how[@]}" runtest --tool stapwatch --srcdir "$TREE/testsuite" --directory "${part%/*}" \
		--outdir "$out/$phase" "${part##*/}" >"$out/$phase/out" 2>&1 || status=$?
	echo "$status" >"$out/$phase/status"
	[[ $phase == plan ]] || printf '%s, %d s: %s\n' "$part" $((SECONDS - start)) "$(part_sum "$out/$phase")"
}

# part_sum DIR: 'N passed, N failed, N unsupported', or why that is not known
part_sum() {
	local sum=$1/stapwatch.sum status=''
	[[ ! -f $1/status ]] || status=$(<"$1/status")
	if [[ $status != [01] ]]; then
		echo "did not come to its end (status ${status:-unknown})"
	elif ! grep -q '=== stapwatch Summary ===' "$sum" 2>/dev/null; then
		echo "has no summary"
	else
		# an error of Tcl's takes many lines that begin with ERROR
		awk '/^(PASS|XFAIL): / { passed++ }
			/^(FAIL|XPASS|UNRESOLVED): / || /^ERROR: / && !error { failed++ }
			/^(UNSUPPORTED|UNTESTED): / { not++ }
			{ error = /^ERROR: / }
			END { printf "%d passed, %d failed, %d unsupported\n", passed, failed, not }' "$sum"
	fi
}

# lane PART...: in the background, one after the other, each when there is a place
lane() {
	(
		trap - EXIT
		TMP=$TMP/lane.$BASHPID
		mkdir -p "$TMP"
		for part; do
			pool_take part
			run_part chroot "$part"
			pool_give
		done
	) &
	LANES+=($!)
}

# Those of the chroot that look what kernels have their headers there.
with_headers() {
	((${#CHROOT_PARTS[@]} == 0)) || (cd "$TREE/testsuite" && grep -l /lib/modules "${CHROOT_PARTS[@]}")
}

# The sets that parts have planned, by what guest each wants. A guest that is full is followed by another: the longest one
# must not be what all others wait for, nor wait for all of its modules before it begins.
FULL_GUEST=40

group_sets() {
	local dir wanted key jobs weight n
	while read -r dir; do
		wanted=$(awk '/^--timeout$/ { getline; next } { print }' "$dir/options" | tr '\n' ' ')
		[[ ! -f $dir/alone ]] || wanted+=" $dir"
		jobs=$(find "$dir" -mindepth 2 -maxdepth 2 -name put | wc -l)
		weight=$jobs
		[[ $wanted != *--icount* ]] || weight=$((jobs * 2))
		[[ $wanted != *debug* && $wanted != *k?san* ]] || weight=$((jobs * 4))
		n=0
		key="$wanted $n"
		while ((${GROUP_WEIGHT[$key]:-0} > 0 && ${GROUP_WEIGHT[$key]:-0} + weight > FULL_GUEST)); do
			n=$((n + 1))
			key="$wanted $n"
		done
		GROUP_SETS[$key]=${GROUP_SETS[$key]:-}$dir$'\n'
		GROUP_WEIGHT[$key]=$((${GROUP_WEIGHT[$key]:-0} + weight))
	done < <(cat "$OUT"/*/tmp/plan 2>/dev/null)
}

# Whoever kills us after a time must find a last line before: what did not begin by then is not begun (--within).
WITHIN=''
too_late() {
	[[ -n $WITHIN ]] && ((SECONDS >= WITHIN * 60))
}

# A guest for each group, the longest first; each begins to compile when the one before is done with that.
run_groups() {
	local key n=0 sets options=() pids=() dir
	while read -r -u 3 _ key; do
		n=$((n + 1))
		mapfile -t sets <<<"${GROUP_SETS[$key]%$'\n'}"
		if too_late; then
			# no name that a job can have
			touch "${sets[@]/%//.late}"
			continue
		fi
		mapfile -t options < <(awk '/^--timeout$/ { getline; next } { print }' "${sets[0]}/options")
		rm -f "${sets[0]}/compiled"
		spawn "$LAB_DIR/lab" batch -v "${options[@]}" "${sets[@]}" </dev/null >"$OUT/guest.$n.log" 2>&1
		pids+=("$SPAWNED")
		for dir in "${sets[@]}"; do
			ln -sf "$OUT/guest.$n.log" "$dir/lab.log"
		done
		while is_running "$SPAWNED" && [[ ! -f ${sets[0]}/compiled ]]; do
			sleep 0.2
		done
	done 3< <(for key in "${!GROUP_SETS[@]}"; do
		printf '%d\t%s\n' "${GROUP_WEIGHT[$key]}" "$key"
	done | sort -rn)
	# how each ended is in its sets; the shell may have forgotten whom it has seen end, and says so
	((${#pids[@]} == 0)) || wait "${pids[@]}" 2>/dev/null
}

# What guests do the parts want?
plan() {
	local part
	for part in "${GUEST_PARTS[@]}"; do
		pooled run_part plan "$part"
	done
	join_parts
	group_sets
}

judge() {
	local part
	for part in "${GUEST_PARTS[@]}"; do
		pooled run_part judge "$part"
	done
	join_parts
}

# sum_up: what failed, what was not tested, the last line; true if all parts came to their ends, something passed and
# nothing failed
sum_up() {
	local part phase dir sum passed=0 failed=0 unsupported=0 p f u
	for part in "${CHROOT_PARTS[@]}" "${GUEST_PARTS[@]}"; do
		phase=judge
		[[ " ${CHROOT_PARTS[*]} " != *" $part "* ]] || phase=chroot
		dir=${part#stapwatch.}
		dir=${dir//\//-}
		dir=$OUT/${dir%.exp}/$phase
		sum=$(part_sum "$dir")
		if read -r p _ f _ u _ <<<"$sum" && [[ $sum == *unsupported ]]; then
			passed=$((passed + p))
			failed=$((failed + f))
			unsupported=$((unsupported + u))
			((p + f + u > 0)) || [[ -n $ONLY ]] || grep -q '^LEFT TO --full: ' "$dir/stapwatch.sum" || {
				echo "FAIL: $part has no test"
				failed=$((failed + 1))
			}
			# with the reasons below them
			awk '/^(FAIL|XPASS|UNRESOLVED|ERROR|UNSUPPORTED|UNTESTED|LEFT TO --full): / { show = 1 }
				/^(PASS|XFAIL): |^$/ { show = 0 } show' "$dir/stapwatch.sum"
		else
			echo "FAIL: $part $sum; what it said last:"
			tail -n 20 "$dir/out" 2>/dev/null | sed 's/^/	/'
			failed=$((failed + 1))
		fi
	done
	((passed + failed + unsupported > 0)) || {
		echo "FAIL: no test was run${ONLY:+ whose name has '$ONLY'}"
		failed=1
	}
	note "the whole of it is in $OUT"
	((unsupported == 0)) || echo "$unsupported could not be tested here (UNSUPPORTED above)"
	UNSUMMED=''
	echo "$passed passed, $failed failed"
	((passed > 0 && failed == 0))
}

# lab check [--full] [--within MINUTES] [WORD...]
verb_check() {
	local words=() kernels kernel part late=() soon=() fetched='' full=''
	UNSUMMED=1
	while (($#)); do
		case $1 in
		--full)
			full=" ${STAP_KERNELS[*]} rt kasan kcsan"
			export SW_FULL=1
			;;
		--within)
			WITHIN=$(value "$@") || exit
			check_number --within "$WITHIN"
			shift
			;;
		-v) VERBOSE=1 ;;
		-*) usage_error "check: unknown option '$1'" ;;
		*) words+=("$1") ;;
		esac
		shift
	done
	# what a user names he wants in full
	[[ -z ${KERNELS:-} ]] || export SW_KERNELS_ASKED=1
	export KERNELS=${KERNELS:-current lts debug$full}
	check_host
	select_parts "${words[@]}"
	[[ -z $ONLY ]] || export SW_ONLY=$ONLY
	kernels=$(needed_kernels) || exit
	make_tmp
	make_pool
	# what one writes the other would take away
	lock "check-${BUILD##*/}"
	ensure_chroot chroot chroot-test ${SW_FULL:+chroot-package}
	build_tree
	OUT=$BUILD/testsuite/check
	chmod -R u+w "$OUT" 2>/dev/null
	rm -rf "$OUT"
	mkdir -p "$OUT"
	in_chroot -C "$BUILD" make -s testsuite/site.exp || die "make testsuite/site.exp failed in $BUILD"
	export LAB_NOBUILD=1
	# what needs no kernel goes on while they are fetched and built; where they are there guests, which take longest, come first
	mapfile -t late < <(with_headers)
	for part in "${CHROOT_PARTS[@]}"; do
		[[ " ${late[*]} " == *" $part "* ]] || soon+=("$part")
	done
	for kernel in $kernels; do
		if [[ -z $fetched ]] && ! kernel_fresh "${kernel%%-*}" "${kernel##*-}"; then
			fetched=1
			lane "${soon[@]}"
			soon=()
		fi
		ensure "${kernel%%-*}" "${kernel##*-}"
	done
	plan
	lane "${late[@]}" "${soon[@]}"
	run_groups
	judge
	wait "${LANES[@]}" 2>/dev/null
	drop_old_modules
	sum_up
}

# lab check-kasan [FILE...]: what names that kernel, on it alone
verb_check-kasan() {
	# shellcheck disable=SC2046 # words
	(($#)) || set -- $(cd "$TREE/testsuite" && grep -l 'each_kernel .*kasan' stapwatch.*/*.exp | sed 's|.*/||')
	KERNELS=kasan
	verb_check "$@"
}

verb_bench() {
	[[ -x $TREE/testsuite/bench/run ]] || die "there is no testsuite/bench/run"
	ensure x86_64 current
	build_tree
	LAB=$LAB_DIR/lab in_namespace "$TREE/testsuite/bench/run" "$@"
}

verb_demo() {
	(($# == 0)) || usage_error "demo takes no arguments"
	LAB=$LAB_DIR/lab in_namespace "$LAB_DIR/demo.sh"
}
