# SW_RUNTEST: DejaGnu, for "make check".
AC_DEFUN([SW_RUNTEST],
[AC_ARG_VAR([RUNTEST], [DejaGnu's runtest])
AC_PATH_PROG([RUNTEST], [${RUNTEST-runtest}])
AS_IF([test -z "$RUNTEST"],
  [AC_MSG_WARN([no runtest: "make check" will not work])
   SW_MISSING([runtest, for "make check"],
     [apt-get install dejagnu], [dnf install dejagnu])])])
