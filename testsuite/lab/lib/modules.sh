# The cache of modules: what stap makes the same C of is built once.
# shellcheck shell=bash
#
# $CACHE/modules/ holds C.ko, a module by the C that it was compiled of (see make-module.sh), and in-I, which says
# what C the inputs I became, with in-I.err, what stap said of them.  Modules are all built under one name; whoever takes one
# gives it the name that he wants.

# What our tapsets hold, where many ask for it.
OWN_TAPSETS=

# As long as a job's name may be.
MODULE_NAME=stapwatch_lab_module_without_a_name_of_its_own_yet

# tally WORD: for the last lines of `check'
tally() {
	[[ -z ${LAB_TALLY:-} ]] || echo "$1" >>"$LAB_TALLY"
}

# What a tree of files holds, and by what names.
content_of() {
	find -L "$@" -type f -printf '%P\0' | LC_ALL=C sort -z | sha256sum
	find -L "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0 cat | sha256sum
}

# script_content: what $COMPILE's script is made of. What -G sets is not: staprun hands it over. Nor are programs that stap
# does not look at.
script_content() {
	local word last='' text
	text=$(for word in "${COMPILE[@]}"; do
		if [[ $last == -G || $word == -G ]]; then
			:
		elif [[ -d $word ]]; then
			content_of "$word"
		elif [[ -f $word ]]; then
			# messages have its name, and a module knows by it what it can unwind (-d)
			echo "$word"
			cat "$word"
		else
			printf '%s\n' "$word"
		fi
		last=$word
	done)
	printf '%s\n' "$text"
	if [[ -d put && $text =~ (^|[^a-z_])(process|library|module|@cast|@var)\(|(^|$'\n')(-d|-c|--ldd) ]]; then
		content_of put/
	fi
}

# module_inputs: all that a module is made of, in one word
module_inputs() {
	{
		echo "$ARCH $KERNEL $MODULE_NAME"
		cat "$(kernel_dir "$ARCH" "$KERNEL")/version" "$LAB_DIR/lib/make-module.sh"
		stap_version
		if [[ -n $OWN_TAPSETS && $TAPSETS == "$BUILD/tapsets" ]]; then
			echo "$OWN_TAPSETS"
		else
			content_of "$TAPSETS"
		fi
		[[ ${STAP[0]} == stap ]] || sha256sum <"$BUILD/translator-ext/stapwatch"
		script_content
	} | sha256sum | cut -c1-32
}

# name_module FILE NAME: a module has its name in two places, each as long as we like, up to its first zero
name_module() {
	local zeros=$((${#MODULE_NAME} - ${#2}))
	LC_ALL=C sed -i "s/$MODULE_NAME/$2$(printf '\\x00%.0s' $(seq "$zeros"))/g" "$1"
}

# compile_module OUT [NAME]: pass 1 to 4 of $STAP $COMPILE, in the current directory; the module becomes OUT. stap's
# messages go to stderr, its status comes back. Without a NAME it has one by its content, in $NAME.
compile_module() {
	local out=$1 inputs status=0 made
	NAME=${2:-}
	((${#NAME} < ${#MODULE_NAME})) || die "a module's name has $((${#MODULE_NAME} - 1)) letters at most: $NAME"
	mkdir -p "$CACHE/modules"
	inputs=$CACHE/modules/in-$(module_inputs)
	lock "${inputs##*/}"
	if [[ -s $inputs && -s $CACHE/modules/$(<"$inputs").ko ]]; then
		tally cached
	else
		pool_take build
		lock chroot -s
		in_chroot "$LAB_DIR/lib/make-module.sh" "$CACHE/modules" "$MODULE_NAME" "$ARCH $(<"$(kernel_dir "$ARCH" "$KERNEL")/version") $(stap_version)" \
			"${STAP[@]}" "${COMPILE[@]}" </dev/null >"$out.made" 2>"$inputs.err" || status=$?
		unlock chroot
		pool_give
		made=$(tail -n 1 "$out.made")
		rm -f "$out.made"
		if ((status)); then
			cat "$inputs.err" >&2
			rm -f "$inputs.err"
			tally failed
		else
			echo "${made#* }" >"$inputs"
			tally "${made% *}"
		fi
	fi
	if ((status == 0)); then
		made=$(<"$inputs")
		touch -c "$inputs" "$inputs.err" "$CACHE/modules/$made.ko"
		cat "$inputs.err" >&2
		NAME=${NAME:-stap_$made}
		cp "$CACHE/modules/$made.ko" "$out" && name_module "$out" "$NAME" || status=1
	fi
	unlock "${inputs##*/}"
	return $status
}

# Modules that nothing has asked for in a week, and the locks that they were made under.
drop_old_modules() {
	[[ -d $CACHE/modules ]] || return 0
	find "$CACHE/modules" -type f -mtime +7 -delete
	find "$CACHE/locks" -name 'in-*' -mtime +7 -delete
}
