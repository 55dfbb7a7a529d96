# SW_MISSING(WHAT-FOR, DEBIAN, FEDORA): note a missing piece for the report
# that ends configure, where it is still on the screen.
AC_DEFUN([SW_MISSING],
[sw_missing="$sw_missing
  AS_ESCAPE([$1], ["]):
    Debian: $2
    Fedora: $3"])

AC_DEFUN([SW_MISSING_REPORT],
[AS_IF([test -n "$sw_missing"], [AS_ECHO(["
Missing, and what brings it:$sw_missing"])
sw_apt=`AS_ECHO(["$sw_missing"]) | sed -n 's/^ *Debian: apt-get install \(@<:@^-@:>@.*\)/\1/p' | tr '\n' ' ' | sed 's/ $//'`
sw_dnf=`AS_ECHO(["$sw_missing"]) | sed -n 's/^ *Fedora: dnf install //p' | tr '\n' ' ' | sed 's/ $//'`
AS_IF([test -n "$sw_apt"], [AS_ECHO(["
In one go, as far as packages bring it:
    Debian: apt-get install $sw_apt
    Fedora: dnf install $sw_dnf"])])])])
