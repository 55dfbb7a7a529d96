#!/bin/bash
# stap, for a stapwatch of which only is asked what it wants of stap: into $LAB_ASKED.
[[ $* != --@(version|help) ]] || exec stap "$@"
printf '%s\0' "$@" >"$LAB_ASKED"
exit 1
