# SW_CC: a C compiler, for the unit tests and for the modules that stap builds.
# AC_PROG_CC alone would stop without naming a package.
AC_DEFUN([SW_CC],
[AC_CHECK_PROGS([sw_cc], [${CC-cc} gcc clang])
AS_IF([test -z "$sw_cc"],
  [AC_MSG_ERROR([no C compiler: apt-get install gcc libc6-dev make (Debian), dnf install gcc make (Fedora)])])
# gcc may be there without the C library's part of it
AS_IF([test -z "$CC"],
[echo 'int main(void) { return 0; }' >conftest.c
AS_IF(["$sw_cc" conftest.c -o conftest >&AS_MESSAGE_LOG_FD 2>&1], [],
  [AC_MSG_ERROR([$sw_cc makes no programs: apt-get install libc6-dev (Debian), dnf install glibc-devel (Fedora)])])
rm -f conftest conftest.c])
AC_PROG_CC])
