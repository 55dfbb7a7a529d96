# SW_STAP: find stap.  Building goes on without it: tapsets are text, and a
# machine that only runs the tests in guests has none.
AC_DEFUN([SW_STAP],
[AC_ARG_VAR([STAP], [SystemTap's translator; "no" to do without])
AS_CASE([$STAP],
  [no], [STAP=; AC_MSG_NOTICE([doing without stap])],
  [AC_PATH_PROG([STAP], [${STAP-stap}])
   # AC_PATH_PROG takes an absolute STAP from the user unseen
   AS_IF([test -n "$STAP" && test ! -x "$STAP"],
     [AC_MSG_ERROR([STAP=$STAP cannot be run])])
   AS_IF([test -z "$STAP"],
     [SW_MISSING([stap, without which nothing here runs (it still builds)],
        [apt-get install systemtap], [dnf install systemtap systemtap-devel])])])])
