# What came of `lab check': each part's summary, a second try of what failed, and the last lines.
# shellcheck shell=bash

# More than so many parts do not fail by chance.
MOST_AGAIN=8

# part_dir PART: what it leaves, a directory for each PHASE
part_dir() {
	local name=${1#stapwatch.}
	name=${name//\//-}
	echo "$OUT/${name%.exp}"
}

# part_phase PART: in which its tests are judged
part_phase() {
	if [[ " ${CHROOT_PARTS[*]} " == *" $1 "* ]]; then
		echo chroot
	else
		echo judge
	fi
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

# failed_parts: those that came to their ends, and have a test that failed
failed_parts() {
	local part sum
	for part in "${CHROOT_PARTS[@]}" "${GUEST_PARTS[@]}"; do
		sum=$(part_sum "$(part_dir "$part")/$(part_phase "$part")")
		[[ $sum != *" failed, "* || $sum == *" 0 failed, "* ]] || echo "$part"
	done
}

# try_again: what failed, once more, with nothing beside it; sets of jobs of which a test failed in guests of their own. The
# summary of what failed becomes that of both tries, and again.said has what is told of that.
try_again() {
	local part parts dir phase
	mapfile -t parts < <(failed_parts)
	((${#parts[@]})) || return 0
	if ((${#parts[@]} > MOST_AGAIN)); then
		echo "${#parts[@]} parts failed, which is no chance: there is no second try"
		return
	fi
	for part in "${parts[@]}"; do
		dir=$(part_dir "$part")
		phase=$(part_phase "$part")
		run_part again "$part"
		[[ $(part_sum "$dir/again") == *" failed, "* ]] || continue
		: >"$dir/again.said"
		mv "$dir/$phase/stapwatch.sum" "$dir/$phase/first.sum"
		awk -v AGAIN="$dir/again.said" -f "$LAB_DIR/lib/merge.awk" "$dir/$phase/first.sum" \
			"$dir/again/stapwatch.sum" >"$dir/$phase/stapwatch.sum"
	done
}

# tallied WORD: how often that was tallied
tallied() {
	grep -cx "$1" "$LAB_TALLY" 2>/dev/null || :
}

# sum_up: what failed, what was not tested, the last lines; true if all parts came to their ends, something passed and
# nothing failed
sum_up() {
	local part dir sum passed=0 failed=0 unsupported=0 again=0 worse=0 p f u stalls stale
	stalls=$(tallied stall)
	stale=$(tallied stale)
	for part in "${CHROOT_PARTS[@]}" "${GUEST_PARTS[@]}"; do
		dir=$(part_dir "$part")/$(part_phase "$part")
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
			awk '/^(FAIL|XFAIL|XPASS|UNRESOLVED|ERROR|UNSUPPORTED|UNTESTED|LEFT TO --full): / { show = 1 }
				/^PASS: |^$/ { show = 0 } show' "$dir/stapwatch.sum"
		else
			echo "FAIL: $part $sum; what it said last:"
			tail -n 20 "$dir/out" 2>/dev/null | sed 's/^/	/'
			failed=$((failed + 1))
		fi
		if [[ -s ${dir%/*}/again.said ]]; then
			again=$((again + $(grep -c '^passed the second time: ' "${dir%/*}/again.said")))
			worse=$((worse + $(grep -c '^failed the second time: ' "${dir%/*}/again.said")))
			cat "${dir%/*}/again.said"
		fi
	done
	((passed + failed + unsupported > 0)) || {
		echo "FAIL: no test was run${ONLY:+ whose name has '$ONLY'}"
		failed=1
	}
	note "the whole of it is in $OUT"
	((unsupported == 0)) || echo "$unsupported could not be tested here (UNSUPPORTED above)"
	# who has time for everything has no excuse
	if [[ -n ${SW_FULL:-} ]]; then
		passed=$((passed - again - worse))
		failed=$((failed + again + worse))
	fi
	((stale == 0)) || echo "QEMU ran code that memory did not have $stale times; these guests were booted again"
	((stalls == 0)) || echo "guests stood still $stalls times, for 200 ms"
	echo "$(tallied built) modules built, $(tallied cached) from the cache; $(tallied boot) guests booted; $again tests passed the second time"
	SUMMED="$passed passed, $failed failed"
	UNSUMMED=''
	echo "$SUMMED"
	((passed > 0 && failed == 0))
}
