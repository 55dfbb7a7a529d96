# The test suite: lab check.
# shellcheck shell=bash
#
# A part is one .exp file, with a run, a scratch directory and a summary of its own, in $OUT/NAME. Those of unit and front
# want stap and no guest: they run in the chroot, one after the other. The others run here, twice (see
# testsuite/lib/stapwatch.exp): first they say what guests they want, and then what came of it.

# The kernels of --full.
# shellcheck disable=SC2048,SC2086 # words
ALL_KERNELS=$(printf '%s\n' current lts debug kasan kcsan rt ${STAP_KERNELS[*]} | awk '!seen[$0]++' | xargs)
# Guests of `check`, by what they have in common, and the sets of jobs in each.
declare -A GROUP_SETS=() GROUP_WEIGHT=() GROUP_LIMIT=()
CHROOT_PARTS=() GUEST_PARTS=() LANES=()
# whom tests take for the lab, where that is not to do anything
STAND_IN=''
ONLY=''
OUT=''
# the kernels that whoever calls us has named
KERNELS_ASKED=''

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

# A part that takes longer hangs; those of --full have more to do.
LONGEST_PART=7200

# run_part PHASE FILE: runtest of one file
run_part() {
	local phase=$1 part=$2 KERNELS=$KERNELS out status=0 start=$SECONDS how=(in_namespace) LIMIT=$LONGEST_PART
	out=$(part_dir "$part")
	mkdir -p "$out/$phase"
	if [[ $(part_phase "$part") == chroot ]]; then
		# as `make check' does it, but for what is built already; go builds its pprof where it has none
		how=(in_chroot)
		export GOCACHE=$CACHE/go CCACHE_DIR=$CACHE/ccache CCACHE_MAXSIZE=500M
	else
		export LAB=${STAND_IN:-$LAB_DIR/lab} SW_PHASE=$phase
	fi
	cd "$BUILD/testsuite" || return
	if [[ -n ${FILE_KERNELS[$part]:-} ]]; then
		KERNELS=${FILE_KERNELS[$part]}
		[[ $KERNELS != - ]] || KERNELS=$ALL_KERNELS
	fi
	SW_TMP=$out/tmp "${how[@]}" runtest --tool stapwatch --srcdir "$TREE/testsuite" --directory "${part%/*}" \
		--outdir "$out/$phase" "${part##*/}" >"$out/$phase/out" 2>&1 || status=$?
	echo "$status" >"$out/$phase/status"
	[[ $phase == plan ]] ||
		printf '%s%s, %d s: %s\n' "$part" "$([[ $phase != again ]] || echo ', again')" $((SECONDS - start)) "$(part_sum "$out/$phase")"
}

# lane PART...: in the background, one after the other, each when there is a place, after the guests
lane() {
	(
		trap - EXIT
		renice -n 7 -p "$BASHPID" >/dev/null
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

# lanes PART...: as many as there are processors
lanes() {
	local i j n parts=("$@") mine
	n=$(nproc)
	for ((i = 0; i < n && i < ${#parts[@]}; i++)); do
		mine=()
		for ((j = i; j < ${#parts[@]}; j += n)); do
			mine+=("${parts[j]}")
		done
		lane "${mine[@]}"
	done
}

# Those of the chroot that look what kernels have their headers there.
with_headers() {
	((${#CHROOT_PARTS[@]} == 0)) || (cd "$TREE/testsuite" && grep -l /lib/modules "${CHROOT_PARTS[@]}")
}

# The sets that parts have planned, by what guest each wants. A guest that is full is followed by another: the longest one
# must not be what all others wait for, nor wait for all of its modules before it begins.
FULL_GUEST=40

group_sets() {
	local dir wanted key jobs weight limit n
	while read -r dir; do
		wanted=$(awk '/^--timeout$/ { getline; next } { print }' "$dir/options" | tr '\n' ' ')
		[[ ! -f $dir/alone ]] || wanted+=" $dir"
		jobs=$(find "$dir" -mindepth 2 -maxdepth 2 -name put | wc -l)
		weight=$jobs
		[[ $wanted != *debug* && $wanted != *k?san* ]] || weight=$((jobs * 3))
		n=0
		key="$wanted $n"
		while ((${GROUP_WEIGHT[$key]:-0} > 0 && ${GROUP_WEIGHT[$key]:-0} + weight > FULL_GUEST)); do
			n=$((n + 1))
			key="$wanted $n"
		done
		GROUP_SETS[$key]=${GROUP_SETS[$key]:-}$dir$'\n'
		GROUP_WEIGHT[$key]=$((${GROUP_WEIGHT[$key]:-0} + weight))
		limit=$(find "$dir" -mindepth 2 -maxdepth 2 -name timeout -exec cat {} + | sort -n | tail -n 1)
		((${limit:-0} <= ${GROUP_LIMIT[$key]:-0})) || GROUP_LIMIT[$key]=$limit
	done < <(cat "$OUT"/*/tmp/plan 2>/dev/null)
}

# A guest for each group, the longest first, by its jobs and by the limit of the one that may take longest. Each begins to
# compile when the one before is done with that, and the one before that has its place: a queue of locks has no order.
run_groups() {
	local key n=0 sets options=() pids=() dir mark marks=('' '')
	while read -r -u 3 _ key; do
		n=$((n + 1))
		mapfile -t sets <<<"${GROUP_SETS[$key]%$'\n'}"
		mapfile -t options < <(awk '/^--timeout$/ { getline; next } { print }' "${sets[0]}/options")
		rm -f "${sets[0]}"/{compiled,placed}
		spawn "$LAB_DIR/lab" batch -v "${options[@]}" "${sets[@]}" </dev/null >"$OUT/guest.$n.log" 2>&1
		pids+=("$SPAWNED")
		for dir in "${sets[@]}"; do
			ln -sf "$OUT/guest.$n.log" "$dir/lab.log"
		done
		marks=("${marks[1]}" "$SPAWNED ${sets[0]}")
		for mark in "${marks[0]:+${marks[0]}/placed}" "${marks[1]}/compiled"; do
			while [[ -n $mark && ! -f ${mark#* } ]] && is_running "${mark%% *}"; do
				nap 0.2
			done
		done
	done 3< <(for key in "${!GROUP_SETS[@]}"; do
		printf '%d\t%s\n' $((${GROUP_WEIGHT[$key]} + ${GROUP_LIMIT[$key]:-0} / 30)) "$key"
	done | sort -rn)
	# how each ended is in its sets; the shell may have forgotten whom it has seen end, and says so
	((${#pids[@]} == 0)) || wait "${pids[@]}" 2>/dev/null
}

# What guests do the parts want?
plan() {
	local part kernel wanted
	for part in "${GUEST_PARTS[@]}"; do
		pooled build run_part plan "$part"
	done
	join_parts
	group_sets
	((${#GUEST_PARTS[@]})) || return 0
	# whole, not by a pipe: who writes there dies when grep has seen enough
	wanted=$(cat "$OUT"/*/tmp/plan 2>/dev/null | sed 's|$|/options|' | xargs -r -d '\n' cat)
	for kernel in $KERNELS_ASKED; do
		grep -qxF -f <(kernel_names "$kernel") <<<"$wanted" ||
			die "check: nothing here is for kernel '$kernel'"
	done
}

judge() {
	local part
	for part in "${GUEST_PARTS[@]}"; do
		# which builds modules where something is not as planned
		pooled judge run_part judge "$part"
	done
	join_parts
}

# keep_busy: two processors, as long as we are there; in our session, beside which a guest has one of its own: a kernel that
# shares processors out by sessions would give three of four parts to loops that have theirs
keep_busy() {
	local i
	for i in 1 2; do
		spawn bash -c 'while :; do :; done' </dev/null
	done
}

# lab check [--list] [--full [K/N]] [WORD...]
verb_check() {
	local words=() list='' of_full='' busy='' kernel
	UNSUMMED=1
	KERNELS_ASKED=${KERNELS:-}
	while (($#)); do
		case $1 in
		--full)
			export SW_FULL=1
			export KERNELS=${KERNELS:-$ALL_KERNELS}
			;;
		--list) list=1 ;;
		--stall) export LAB_STALL=1 ;;
		--busy) busy=1 ;;
		-v) VERBOSE=1 ;;
		-*) usage_error "check: unknown option '$1'" ;;
		[0-9]*/[0-9]*) of_full=$1 ;;
		*) words+=("$1") ;;
		esac
		shift
	done
	check_host
	if [[ -n $of_full ]]; then
		[[ -n ${SW_FULL:-} && ${#words[@]} == 0 && $of_full =~ ^[1-9][0-9]?/[1-9][0-9]?$ && ${of_full%/*} -le ${of_full#*/} ]] ||
			usage_error "check: --full K/N is the Kth of N parts, and stands alone"
	elif [[ -n ${SW_FULL:-} && ${#words[@]} == 0 && -z $list && -z $KERNELS_ASKED ]]; then
		full_sum $FULL_PARTS
		return
	fi
	# tests name a kernel by what it is for, and README's table by its number
	KERNELS=$(for kernel in ${KERNELS:-current}; do
		kernel_names "$kernel"
	done | awk '!seen[$0]++' | xargs)
	export KERNELS
	select_parts "${words[@]}"
	if [[ -n $list ]]; then
		UNSUMMED=
		list_tests
		return
	fi
	[[ -z $ONLY ]] || export SW_ONLY=$ONLY
	make_tmp
	[[ -z $busy ]] || keep_busy
	if [[ -n $of_full ]]; then
		install_host_packages
		full_part "${of_full%/*}" "${of_full#*/}"
	else
		check_parts
	fi
}

# Where programs and modules of tests stay that were compiled with these compilers and kernels (see testsuite/lib/stapwatch.exp),
# and what these programs have found right (stapwatch.front/style.exp).
built_programs() {
	LAB_BUILT=$CACHE/built/$(hash_of "$CHROOT/var/lib/dpkg/status" "$CACHE"/kernels/*/version 2>/dev/null)
	export LAB_BUILT
	mkdir -p "$LAB_BUILT"
	find "$CACHE/built" -mindepth 1 -maxdepth 2 -not -path "$LAB_BUILT" -mtime +7 -exec rm -rf {} +
}

# check_parts: all that CHROOT_PARTS and GUEST_PARTS have
check_parts() {
	local kernels kernel part late=() soon=() fetched='' status=0
	kernels=$(needed_kernels) || exit
	make_pool
	# what one writes the other would take away
	lock "check-${BUILD##*/}"
	ensure_chroot chroot chroot-test ${SW_FULL:+chroot-package}
	# whoever fetches a kernel brings the chroot up to date: not beneath what runs there
	for kernel in $kernels; do
		kernel_fresh "${kernel%%-*}" "${kernel##*-}" || {
			setup_chroot chroot
			break
		}
	done
	build_tree
	OUT=$BUILD/testsuite/check
	chmod -R u+w "$OUT" 2>/dev/null
	rm -rf "$OUT"
	mkdir -p "$OUT"
	export LAB_TALLY=$OUT/tally
	: >"$LAB_TALLY"
	in_chroot -C "$BUILD" make -s testsuite/site.exp || die "make testsuite/site.exp failed in $BUILD"
	export LAB_NOBUILD=1
	# what needs no kernel goes on while they are fetched; where they are there guests, which take longest, come first
	mapfile -t late < <(with_headers)
	for part in "${CHROOT_PARTS[@]}"; do
		[[ " ${late[*]} " == *" $part "* ]] || soon+=("$part")
	done
	for kernel in $kernels; do
		if [[ -z $fetched ]] && ! kernel_fresh "${kernel%%-*}" "${kernel##*-}"; then
			fetched=1
			lanes "${soon[@]}"
			soon=()
		fi
		ensure "${kernel%%-*}" "${kernel##*-}"
	done
	((${#late[@]} == 0)) || setup_all_headers
	compgen -G "$CACHE/modules/*.ko" >/dev/null || export LAB_FIRST_MODULES=1
	built_programs
	lanes "${late[@]}" "${soon[@]}"
	plan
	run_groups
	judge
	wait "${LANES[@]}" 2>/dev/null
	try_again
	drop_old_modules
	say_newer
	# who adds parts up wants to know, too
	sum_up >"$OUT/said" || status=$?
	cat "$OUT/said"
	return $status
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
	# what is fetched the first time, and how far that is, is for who waits
	VERBOSE=1 LAB=$LAB_DIR/lab in_namespace "$LAB_DIR/demo.sh"
}
