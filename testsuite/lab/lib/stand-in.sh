#!/bin/bash
# stand-in.sh: the lab, for who asks only what tests there are (`check --list'): programs and modules are empty files, and
# nothing is compiled.

verb=$1
shift
case $verb in
cells)
	exec "$(dirname "${BASH_SOURCE[0]}")/../lab" cells
	;;
cc)
	while (($#)); do
		[[ $1 != -o ]] || : >"$2"
		shift
	done
	;;
kbuild)
	sed -n 's/^obj-m.*= *//p' "${!#}/Kbuild" | tr ' ' '\n' | while read -r object; do
		: >"${!#}/${object%.o}.ko"
	done
	;;
modules)
	for name; do
		: >"$SW_TMP/$name.ko"
		echo "$SW_TMP/$name.ko"
	done
	;;
tool)
	: >"$SW_TMP/${1##*/}.tar"
	echo "$SW_TMP/${1##*/}.tar"
	;;
asks)
	# as below
	printf '%s\0' -e "probe begin { println(\"$*\") }"
	;;
stapwatch)
	# a script that differs where the words do
	echo "probe begin { println(\"$*\") }"
	;;
*)
	echo "stand-in: no verb '$verb'" >&2
	exit 2
	;;
esac
