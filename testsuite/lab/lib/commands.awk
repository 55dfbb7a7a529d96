# The commands that a shell's script names, one a line: plain names alone, with nothing quoted in them, that are neither of
# the shell nor functions of the script.  What stands in quotes or is put together is not looked into.
BEGIN {
	split(". : [ alias bg break case cd command continue do done echo elif else esac eval exec exit export false fg fi for " \
	      "function getopts hash help history if in jobs kill let local printf pwd read readonly return set shift " \
	      "source test then times trap true type ulimit umask unalias unset until wait while", words, " ")
	for (i in words)
		own[words[i]] = 1
	split("if then elif else do while until !", words, " ")
	for (i in words)
		before[words[i]] = 1
}

# a here-document is no script
here != "" {
	line = $0
	sub(/^\t+/, "", line)
	if (line == here)
		here = ""
	next
}
{
	if (match($0, /<<-?['"]?[A-Za-z_]+['"]?/)) {
		here = substr($0, RSTART, RLENGTH)
		gsub(/[<'"-]/, "", here)
	}
	script = script $0 "\n"
}

# take(): the script's next piece: a quoted one is what it began with, and so is a comment
function take(	c, end) {
	c = substr(script, at, 1)
	if (c == "\\") {
		at += 2
		# a line goes on
		return substr(script, at - 1, 1) == "\n" ? " " : "\\"
	}
	at++
	if (c == "'") {
		end = index(substr(script, at), "'")
		at += end
		return "'"
	}
	if (c == "\"") {
		while (at <= size && substr(script, at, 1) != "\"")
			at += substr(script, at, 1) == "\\" ? 2 : 1
		at++
		return "\""
	}
	# an expression
	if (c == "(" && word ~ /\$$/ && substr(script, at, 1) == "(") {
		at += index(substr(script, at), "))") + 1
		return "$"
	}
	if (c == "#" && (word == "" && (previous ~ /[ \t\n;]/ || previous == ""))) {
		while (at <= size && substr(script, at, 1) != "\n")
			at++
		return " "
	}
	return c
}

# The word that has ended, before C.
function ends(c) {
	if (word == "")
		return
	if (first) {
		if (c == "(")
			own[word] = 1
		else if (c == ")" && !depth)
			# a pattern of `case'
			;
		else if (word ~ /^[a-z][a-z0-9_-]*$/ && !(word in before))
			named[++nr] = word
		# what comes after an assignment, or after these, is a command yet
		first = word in before || word ~ /^[A-Za-z_][A-Za-z0-9_]*=/
	}
	word = ""
}

END {
	size = length(script)
	at = 1
	first = 1
	while (at <= size) {
		c = take()
		if (c ~ /[ \t]/) {
			ends(c)
		} else if (c ~ /[\n;|&]/) {
			if (c != "&" || previous !~ /[<>]/) {
				ends(c)
				first = 1
			} else {
				word = word c
			}
		} else if (c == "(" || c == "`" || c == "{" && word !~ /\$$/) {
			ends(c)
			depth += c == "("
			first = 1
		} else if (c == ")") {
			ends(c)
			first = !depth
			depth -= depth > 0
		} else if (c == "}" && word !~ /[{]/) {
			ends(c)
		} else {
			word = word c
		}
		previous = c
	}
	ends("\n")
	for (i = 1; i <= nr; i++)
		if (!(named[i] in own) && !seen[named[i]]++)
			print named[i]
}
