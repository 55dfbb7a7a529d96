# SW_LIBPFM: libpfm4, by which the command knows processors' own names for events.
# Without it there are the event table's and perf's names, and raw settings.
AC_DEFUN([SW_LIBPFM],
[AC_SUBST([LIBPFM_CPPFLAGS])
AC_SUBST([LIBPFM_LIBS])
AC_ARG_WITH([libpfm],
  [AS_HELP_STRING([--without-libpfm],
    [build the command without native event names])])
sw_libpfm=none LIBPFM_CPPFLAGS= LIBPFM_LIBS=
AS_IF([test "$with_libpfm" = no], [sw_libpfm='not wanted'],
  [AC_CHECK_HEADER([perfmon/pfmlib_perf_event.h],
     [AC_CHECK_LIB([pfm], [pfm_get_os_event_encoding],
	[sw_libpfm=yes LIBPFM_CPPFLAGS=-DHAVE_LIBPFM LIBPFM_LIBS=-lpfm])])])
AS_IF([test "$sw_libpfm" = none],
  [AS_IF([test "${with_libpfm:-no}" != no],
     [AC_MSG_ERROR([--with-libpfm: no libpfm4 here: apt-get install libpfm4-dev (Debian), dnf install libpfm-devel (Fedora)])])
   SW_MISSING([libpfm4, for native event names (it builds without)],
     [apt-get install libpfm4-dev], [dnf install libpfm-devel])])])
