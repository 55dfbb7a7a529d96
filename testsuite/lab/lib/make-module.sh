#!/bin/bash
# make-module.sh CACHE NAME FOR STAP...: the module that STAP makes, under that NAME, as CACHE/C.ko. C goes by FOR, which
# names the kernel and stap's version, and by what stap's third pass makes of the script, without comments, and without
# positions in our tapsets, which each edit of a comment moves. Where C.ko is there nothing is built. Prints "built C" or
# "cached C". It runs in the chroot.

cache=$1
name=$2
for=$3
shift 3
said=$(mktemp) || exit

# What goes to the compiler beside the C that stap makes.
compiler=$(gcc -dumpfullversion)
last=''
for word; do
	[[ $last$word != -[DB]* ]] || compiler+=" $last$word"
	last=''
	[[ $word != -[DB] ]] || last=$word
done

# translate PASS STAP...: sets $dir to where stap leaves what it makes
translate() {
	local pass=$1 status=0
	shift
	"$@" "-p$pass" -k -m "$name" >/dev/null 2>"$said" || status=$?
	dir=$(sed -n 's/^Keeping temporary directory "\(.*\)"$/\1/p' "$said")
	((status == 0)) || grep -v '^Keeping temporary directory ' "$said" >&2
	return $status
}

# content: of $dir
content() {
	{
		echo "$for, $compiler"
		perl -0777 -pe '
			s{("(?:\\.|[^"\\\n])*")|(\x27(?:\\.|[^\x27\\\n])*\x27)|/\*.*?\*/|//[^\n]*}{$1 // $2 // " "}gse;
			s{[^ "]*/(stapwatch-\w+\.stp):\d+(?::\d+)?}{$1}g;
			s{\s*\n\s*}{\n}g' "$dir/$name"_*.c "$dir/stap_common.h" "$dir/stap_symbols.c"
	} | sha256sum | cut -c1-32
}

# Where all began with nothing there, the third pass need not run twice.
if [[ -z ${LAB_FIRST_MODULES:-} ]]; then
	translate 3 "$@" || exit
	made=$(content)
	if [[ -f $cache/$made.ko ]]; then
		grep -v '^Keeping temporary directory ' "$said" >&2
		echo "cached $made"
		exit
	fi
	rm -rf "$dir"
fi
translate 4 "$@" || exit
made=$(content)
# not the copy in this directory: another lab may make one there, too, and each is process 1 of its own
rm -f "$name.ko"
new=$(mktemp "$cache/.XXXXXX") && mv "$dir/$name.ko" "$new" && chmod 644 "$new" && mv "$new" "$cache/$made.ko" || exit
grep -v '^Keeping temporary directory ' "$said" >&2
echo "built $made"
