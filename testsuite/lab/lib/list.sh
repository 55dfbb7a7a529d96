# lab check --list: which tests there are, and what they cost. Nothing is set up for it, and nothing compiled.
# shellcheck shell=bash

option_of() {
	awk -v option="$2" '$0 == option { getline; print }' "$1/options"
}

# set_modules SET: what it compiles, a line each: the content, in one word
set_modules() {
	local job tool args
	for job in "$1"/*/ "$1"/*/modules/*/; do
		[[ -f $job/args ]] || continue
		[[ $job == */modules/* || ! -f $job/guest.sh ]] || continue
		tool=stap
		[[ ! -f $job/command ]] || tool=$(<"$job/command")
		mapfile -t args <"$job/args"
		parse_stap "${args[@]}"
		[[ -z $NO_RUN || $NO_RUN == module ]] || continue
		{
			option_of "$1" --arch
			option_of "$1" --kernel
			option_of "$1" --stap
			echo "${tool##*/}"
			[[ $tool != /* ]] || content_of "$tool"
			cd "$job" && script_content
		} | sha256sum
	done
}

# set_guest SET: what guest it wants, for a person
set_guest() {
	local smp
	smp=$(option_of "$1" --smp)
	printf '%s %s%s%s%s\n' "$(option_of "$1" --arch)" "$(option_of "$1" --kernel)" \
		"$(sed -n 's/^-\(-icount\|-mttcg\|-debian\)$/ \1/p' "$1/options" | paste -s -d '')" "${smp:+ -smp $smp}" \
		"$([[ ! -f $1/alone ]] || echo ' (alone)')"
}

# planned_well: each guest file said to its end what it wants; one that did not would be missed by nobody
planned_well() {
	local part name
	for part in "${GUEST_PARTS[@]}"; do
		name=$(part_dir "$part")
		[[ $(part_sum "$name/plan") == *' 0 failed'* ]] ||
			die "check: $part cannot be planned; what it said last: $(tail -n 12 "$name/plan/out")"
	done
}

# list_tier TIER: a line for each file that has tests in it, and in $TOTAL what all want
list_tier() {
	local part name dir guests modules
	OUT=$TMP/list/$1
	GROUP_SETS=() GROUP_WEIGHT=() GROUP_LIMIT=()
	mkdir -p "$OUT"
	plan
	planned_well
	: >"$OUT/modules"
	for part in "${CHROOT_PARTS[@]}"; do
		printf '%-9s%-36s%8s  -\n' "$1" "$part" 0
	done
	for part in "${GUEST_PARTS[@]}"; do
		name=$(part_dir "$part")
		[[ -s $name/tmp/plan ]] || continue
		while read -r dir; do
			set_modules "$dir"
		done <"$name/tmp/plan" | sort -u >"$name/modules"
		guests=$(while read -r dir; do
			set_guest "$dir"
		done <"$name/tmp/plan" | sort -u | paste -s -d, | sed 's/,/, /g')
		cat "$name/modules" >>"$OUT/modules"
		printf '%-9s%-36s%8d  %s\n' "$1" "$part" "$(wc -l <"$name/modules")" "$guests"
	done
	modules=$(sort -u "$OUT/modules" | wc -l)
	TOTAL="$1: $modules modules in ${#GROUP_SETS[@]} guests"
}

# list_begin: what follows only looks at what tests there are
list_begin() {
	make_tmp
	make_pool
	BUILD=$TMP/list
	mkdir -p "$BUILD/testsuite" "$BUILD/translator-ext"
	"$TREE/tapsets/mktapsets" "$BUILD/tapsets" || die "mktapsets failed"
	printf 'set srcdir {%s}\nset objdir {%s}\n' "$TREE/testsuite" "$BUILD/testsuite" >"$BUILD/testsuite/site.exp"
	STAND_IN=$LAB_DIR/lib/stand-in.sh
	export SW_FULL=1
}

list_tests() {
	local totals
	list_begin
	printf '%-9s%-36s%8s  %s\n' tier file modules guests
	export KERNELS=$ALL_KERNELS
	list_tier --full >"$TMP/full"
	totals=$TOTAL
	unset SW_FULL
	KERNELS=current
	list_tier check
	cat "$TMP/full"
	echo "$TOTAL; $totals"
}
