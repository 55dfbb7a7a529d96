# SW_STAP_TAPSET: stap_tapsetdir, where this stap looks with no option and no
# environment.  --help prints it, under "-I DIR ... in addition to", and needs
# neither a kernel nor a writable home.
AC_DEFUN([SW_STAP_TAPSET],
[AC_SUBST([stap_tapsetdir])
stap_tapsetdir=
AS_IF([test -n "$STAP"],
[AC_MSG_CHECKING([where stap looks for tapsets])
stap_tapsetdir=`(unset SYSTEMTAP_TAPSET XDG_DATA_DIRS
  LC_ALL=C; export LC_ALL
  "$STAP" --help 2>/dev/null) | $AWK '
	seen { sub(/^@<:@ \t@:>@+/, ""); print; exit }
	/^ *-I DIR/ { opt = 1 }
	opt && /in addition to/ { seen = 1 }'`
# a wrapper, or a stap that words its help in another way: beside its bin/
AS_IF([test ! -d "$stap_tapsetdir"],
  [stap_tapsetdir=`cd "\`AS_DIRNAME(["$STAP"])\`/../share/systemtap/tapset" 2>/dev/null && pwd`])
AC_MSG_RESULT([${stap_tapsetdir:-unknown}])
AS_IF([test -z "$stap_tapsetdir"],
  [AC_MSG_WARN([stap's own tapset directory is unknown; --with-tapsetdir=DIR says where])])])])
