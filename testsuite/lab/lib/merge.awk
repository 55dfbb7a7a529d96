# merge.awk FIRST SECOND: two summaries of the same tests.  What failed the first time and only passed the second has passed;
# what passed the first time has passed, but for a guest and its kernel, of which the second try had another.  AGAIN=FILE gets
# the names of both kinds: "passed the second time: NAME" or "failed the second time: NAME", with what was said then.

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
/^(PASS|XFAIL): / { passes[at]++; showing = 1 }
/^ERROR: / { errors++; showing = 1 }
/^(FAIL|XPASS|UNRESOLVED): / {
	fails[at]++
	showing = !passed[at] || at in failed || at ~ /: (guest ran|kernel log clean)$/
	if (!showing) {
		print "PASS: " at
		print "failed the second time: " at >AGAIN
		next
	}
}
/^(UNSUPPORTED|UNTESTED): |^LEFT TO --full: |^$|===/ { showing = 1 }
showing { print; next }
/^\t/ { print >AGAIN }
END {
	for (i = 1; i <= nr; i++) {
		at = order[i]
		if (passes[at] && !fails[at])
			printf "passed the second time: %s\n%s", at, said[at] >AGAIN
		else if (!fails[at])
			printf "FAIL: %s\n%s", at, said[at]
	}
	if (error && !errors)
		printf "passed the second time: %s\n", error >AGAIN
}
