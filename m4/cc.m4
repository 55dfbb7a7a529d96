# SW_CC: a C compiler, for the unit tests and for the modules that stap builds.
# AC_PROG_CC alone would stop without naming a package.
AC_DEFUN([SW_CC],
[AC_CHECK_PROGS([sw_cc], [${CC-cc} gcc clang])
AS_IF([test -z "$sw_cc"],
  [AC_MSG_ERROR([no C compiler: apt-get install gcc libc6-dev make (Debian), dnf install gcc make (Fedora)])])
AC_PROG_CC])
