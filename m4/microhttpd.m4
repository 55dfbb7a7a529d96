# SW_MICROHTTPD: libmicrohttpd, by which "stapwatch metrics" answers over HTTP.
# Without it --listen says that it cannot.
AC_DEFUN([SW_MICROHTTPD],
[AC_SUBST([MICROHTTPD_CPPFLAGS])
AC_SUBST([MICROHTTPD_LIBS])
AC_ARG_WITH([microhttpd],
  [AS_HELP_STRING([--without-microhttpd],
    [build the command without "metrics --listen"])])
sw_microhttpd=none MICROHTTPD_CPPFLAGS= MICROHTTPD_LIBS=
AS_IF([test "$with_microhttpd" = no], [sw_microhttpd='not wanted'],
  [AC_CHECK_HEADER([microhttpd.h],
     [AC_CHECK_LIB([microhttpd], [MHD_start_daemon],
	[sw_microhttpd=yes MICROHTTPD_CPPFLAGS=-DHAVE_MICROHTTPD MICROHTTPD_LIBS=-lmicrohttpd])])])
AS_IF([test "$sw_microhttpd" = none],
  [AS_IF([test "${with_microhttpd:-no}" != no],
     [AC_MSG_ERROR([--with-microhttpd: no libmicrohttpd here: apt-get install libmicrohttpd-dev (Debian), dnf install libmicrohttpd-devel (Fedora)])])
   SW_MISSING([libmicrohttpd, for metrics --listen (it builds without)],
     [apt-get install libmicrohttpd-dev], [dnf install libmicrohttpd-devel])])])
