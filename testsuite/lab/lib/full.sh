# lab check --full in parts, K of N: all that each kernel has to do, cut where about as much is on each side, so that a kernel
# is in few parts. What came of a part stays, and --full adds them up.
# shellcheck shell=bash

# How many parts --full has, where nobody says; each takes less than an hour on two processors.
FULL_PARTS=10
# kernels of each file in this part; "-": those of the file itself
declare -A FILE_KERNELS=()

# About how many seconds of a processor each takes: a file of the chroot's, where it is more than CHROOT_COST; a kernel that
# is built, counted with the first file that wants it; what torture does on any kernel; an eighth of the kernel's functions;
# all steps of setup; and one of hot's minutes, also on a kernel that checks itself.
CHROOT_COST=20
declare -A FILE_COST=([unit/fuzz]=600 [unit/report]=400 [unit/readers]=400 [unit/map]=100)
declare -A KERNEL_COST=([debug]=1300 [kasan]=2000 [kcsan]=2000)
TORTURE_COST=600
FUNCTIONS_COST=1000
SETUP_COST=900
HOT_COST=150
HOT_CHECKED_COST=250
# what README has to type: installcheck in a guest, the demonstration, bench
README_COST=2400

# set_cost SET: the same of a set of jobs
set_cost() {
	local jobs modules kernel each=4
	jobs=$(find "$1" -mindepth 2 -maxdepth 2 -name put | wc -l)
	modules=$(find "$1" -name args | wc -l)
	kernel=$(option_of "$1" --kernel)
	[[ -z ${KERNEL_COST[$kernel]:-} ]] || each=50
	if [[ $1 == */torture-* ]]; then
		echo $TORTURE_COST
	elif [[ $1 == */functions-* ]]; then
		echo $((FUNCTIONS_COST * jobs))
	elif [[ $1 == */setup-* ]]; then
		echo $SETUP_COST
	elif [[ $1 == */hot-* ]]; then
		echo $((each > 4 ? HOT_CHECKED_COST : HOT_COST))
	elif [[ $1 == */readme-* ]]; then
		echo $README_COST
	else
		echo $((6 * modules + each * jobs + 10))
	fi
}

# full_units: FILE KERNEL COST, a line each, in the order of the kernels
full_units() {
	local part kernel set name
	OUT=$TMP/list/full
	mkdir -p "$OUT"
	export KERNELS=$ALL_KERNELS
	plan
	planned_well
	for part in "${CHROOT_PARTS[@]}"; do
		name=${part#stapwatch.}
		echo "$part - ${FILE_COST[${name%.exp}]:-$CHROOT_COST}"
	done
	for part in "${GUEST_PARTS[@]}"; do
		[[ -f $(part_dir "$part")/tmp/plan ]] || die "check: $part wants no guest"
		while read -r set; do
			kernel=-
			! grep -q '^each_kernel' "$TREE/testsuite/$part" || kernel=$(option_of "$set" --kernel)
			[[ " - $ALL_KERNELS " == *" $kernel "* ]] || die "check: $part is for kernel '$kernel', which is not one of --full"
			echo "$kernel $(set_cost "$set")"
		done <"$(part_dir "$part")/tmp/plan" >"$TMP/costs"
		for kernel in - $ALL_KERNELS; do
			awk -v part="$part" -v kernel="$kernel" \
				'$1 == kernel { n += $2 } END { if (n) print part, kernel, n + 10 }' "$TMP/costs" >>"$TMP/costs.$kernel"
		done
	done
	for kernel in - $ALL_KERNELS; do
		awk -v more="${KERNEL_COST[$kernel]:-0}" 'NR == 1 { $3 += more } { print }' "$TMP/costs.$kernel" 2>/dev/null
	done
}

# choose_part K N: only what is the Kth part's, in CHROOT_PARTS, GUEST_PARTS, FILE_KERNELS and KERNELS
choose_part() {
	local part kernel cost sum=0 all=0 units=() unit text
	text=$(
		list_begin
		full_units
	) || exit
	mapfile -t units < <(printf '%s' "$text")
	CHROOT_PARTS=() GUEST_PARTS=() KERNELS=''
	for unit in "${units[@]}"; do
		all=$((all + ${unit##* }))
	done
	for unit in "${units[@]}"; do
		read -r part kernel cost <<<"$unit"
		sum=$((sum + cost))
		# by its middle
		(((2 * sum - cost) * $2 / (2 * all) == $1 - 1)) || continue
		add_part "$part"
		FILE_KERNELS[$part]+="${FILE_KERNELS[$part]:+ }$kernel"
		[[ $kernel == - || " $KERNELS " == *" $kernel "* ]] || KERNELS+="${KERNELS:+ }$kernel"
	done
	((${#CHROOT_PARTS[@]} + ${#GUEST_PARTS[@]})) || die "check: part $1 of $2 has nothing to do: fewer parts, please"
	KERNELS=${KERNELS:-current}
}

# What a part's result is of: this tree, with this stap and the kernels of today.
full_key() {
	{
		stap_version
		cat "$(kernel_dir x86_64 current)/version" 2>/dev/null
		cd "$TREE" && find . -name .git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
	} | sha256sum | cut -c1-16
}

# full_part K N: runs it, and leaves its last line, how long it took, and what did not pass
full_part() {
	local result status=0
	ensure x86_64 current
	result=$CACHE/full/$(full_key)
	mkdir -p "$result"
	rm -f "$result/$1-of-$2"
	choose_part "$1" "$2"
	check_parts || status=$?
	if [[ $result != "$CACHE/full/$(full_key)" ]]; then
		warn "the tree was changed while it was checked: this part counts for nothing"
		return 1
	fi
	{
		printf '%s\npart %s of %s, %d min %d s\n' "$SUMMED" "$1" "$2" $((SECONDS / 60)) $((SECONDS % 60))
		grep -E '^(FAIL|XFAIL|XPASS|UNRESOLVED|ERROR|UNSUPPORTED|UNTESTED|(passed|failed) the second time): ' "$OUT/said"
	} >"$result/$1-of-$2"
	return $status
}

# full_sum N: all parts, those that have not been run for this tree first of all; then the sum
full_sum() {
	local k result p f passed=0 failed=0
	ensure x86_64 current
	for ((k = 1; k <= $1; k++)); do
		[[ ! -s $CACHE/full/$(full_key)/$k-of-$1 ]] || continue
		spawn "$LAB_DIR/lab" check --full "$k/$1"
		waited "$SPAWNED"
	done
	UNSUMMED=
	for ((k = 1; k <= $1; k++)); do
		result=$CACHE/full/$(full_key)/$k-of-$1
		if read -r p _ f _ 2>/dev/null <"$result" && [[ $p$f == +([0-9]) ]]; then
			echo "$(sed -n 2p "$result"): $p passed, $f failed"
			sed '1,2d; s/^/	/' "$result"
			passed=$((passed + p))
			failed=$((failed + f))
		else
			echo "part $k of $1: not to be found, or without a last line"
			failed=$((failed + 1))
		fi
	done
	echo "$passed passed, $failed failed"
	((passed > 0 && failed == 0))
}
