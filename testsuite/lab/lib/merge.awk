# merge.awk FIRST SECOND: two summaries of the same tests.  What failed the first time and passed the second has passed, and
# AGAIN=FILE gets its name, with what was said the first time; what passed the first time has passed.

function name(line) {
	sub(/^[A-Z]+: /, "", line)
	return line
}
FNR == 1 { file++ }
/^[A-Z]+: / { at = name($0) }
!/^[A-Z]+: / && !/^\t[^\t]/ { at = "" }
# an error of Tcl's takes many lines, and the tests after it were not run
/^UNRESOLVED: testcase .* aborted due to Tcl error/ { next }
file == 1 && /^ERROR: / {
	if (!error)
		error = at
	at = ""
	next
}
file == 1 {
	if (/^(PASS|XFAIL): /)
		passed[at]++
	else if (/^(FAIL|XPASS|UNRESOLVED): /) {
		if (!failed[at]++)
			order[++nr] = at
	} else if (at in failed)
		said[at] = said[at] $0 "\n"
	next
}
/^[A-Z]+: / { seen[at]++ }
/^(PASS|XFAIL): / { passes[at]++; showing = 1 }
/^ERROR: / { errors++; showing = 1 }
/^(FAIL|XPASS|UNRESOLVED): / {
	fails[at]++
	showing = !passed[at]
	if (!showing)
		print "PASS: " at
}
/^(UNSUPPORTED|UNTESTED): |^LEFT TO --full: |^$|===/ { showing = 1 }
showing { print }
END {
	for (i = 1; i <= nr; i++) {
		at = order[i]
		if (passes[at] && !fails[at])
			printf "%s\n%s", at, said[at] >AGAIN
		else if (!seen[at])
			printf "FAIL: %s\n%s", at, said[at]
	}
	if (error && !errors)
		printf "%s\n", error >AGAIN
}
