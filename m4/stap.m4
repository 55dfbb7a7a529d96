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
        [apt-get install systemtap], [dnf install systemtap systemtap-devel])])])
   SW_STAP_AGE])

# SW_STAP_AGE: sw_stap_old, the version of a stap that is too old, or nothing.
AC_DEFUN([SW_STAP_AGE],
[sw_stap_old=
AS_IF([test -n "$STAP"],
[AC_MSG_CHECKING([whether SystemTap is 5.1 or newer])
sw_stap_version=`LC_ALL=C "$STAP" --version 2>/dev/null | sed -n 's/^.*(version \(@<:@0-9.@:>@*\).*$/\1/p' | sed 1q`
AS_IF([test -z "$sw_stap_version"], [sw_stap_age=unknown],
  [AS_VERSION_COMPARE([$sw_stap_version], [5.1],
     [sw_stap_old=$sw_stap_version
      sw_stap_age="no, $sw_stap_version"], [sw_stap_age="yes, $sw_stap_version"], [sw_stap_age="yes, $sw_stap_version"])])
AC_MSG_RESULT([$sw_stap_age])
AS_IF([test -n "$sw_stap_old"],
  [AC_MSG_WARN([SystemTap $sw_stap_old is too old: stapwatch runs with SystemTap 5.1 or newer])
   SW_MISSING([SystemTap 5.1 or newer (this is $sw_stap_old)],
     [Debian 13 or newer has it], [dnf upgrade systemtap systemtap-devel])])])])
