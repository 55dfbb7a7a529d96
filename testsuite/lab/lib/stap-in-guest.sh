#!/bin/bash
# stap, for a stapwatch that the lab runs in the chroot: what it is asked for goes to `lab run', which
# does it in a guest; $LAB_ASKED has the two pipes. A copy of stdin stands for a script that comes by it.
set -e
[[ $* != --@(version|help) ]] || exec stap "$@"
for arg; do
	if [[ $arg == - ]]; then
		cat >"$LAB_ASKED/script.stp"
		set -- "${@/#%-/$LAB_ASKED/script.stp}"
		break
	fi
done
printf '%s\0' "$#" "$@" >"$LAB_ASKED/asked"
read -r status <"$LAB_ASKED/answer"
exit "$status"
