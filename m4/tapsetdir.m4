# SW_TAPSETDIR: where the tapsets go.
#  - where --with-tapsetdir says;
#  - else, under a --prefix that was given, below that prefix;
#  - else where stap looks: a plain "sudo stap" finds them there and nowhere
#    below /usr/local, as sudo drops XDG_DATA_DIRS.
AC_DEFUN([SW_TAPSETDIR],
[AC_SUBST([tapsetdir])
AC_ARG_WITH([tapsetdir],
  [AS_HELP_STRING([--with-tapsetdir=DIR],
    [tapsets go to DIR/linux @<:@stap's own tapset directory; with
     --prefix, DATADIR/systemtap/tapset@:>@])])
sw_tapsetdir_note=
AS_CASE([$with_tapsetdir],
  [yes|no], [AC_MSG_ERROR([--with-tapsetdir wants a directory])],
  ['' ], [AS_IF([test "$prefix" = NONE && test -n "$stap_tapsetdir"],
	 [tapsetdir=$stap_tapsetdir],
	 [tapsetdir='${datadir}/systemtap/tapset'
	  AS_IF([test -z "$STAP"],
	    [sw_tapsetdir_note=' (no stap here to ask; --with-tapsetdir=DIR says otherwise)'])])],
  [@<:@/\\@:>@*], [tapsetdir=$with_tapsetdir],
  [AC_MSG_ERROR([--with-tapsetdir=$with_tapsetdir: not an absolute path])])
# as make will see it, for the summary
sw_tapsetdir=`
  test "$prefix" != NONE || prefix=$ac_default_prefix
  eval "datarootdir=$datarootdir"; eval "datadir=$datadir"
  eval "tapsetdir=$tapsetdir"; AS_ECHO(["$tapsetdir"])`
# the same directory by another name (/usr/share by a symlink) is stap's own
AS_IF([test -n "$stap_tapsetdir" && test -d "$sw_tapsetdir" &&
  test "`cd "$sw_tapsetdir" && pwd -P`" = "`cd "$stap_tapsetdir" && pwd -P`"],
  [tapsetdir=$stap_tapsetdir sw_tapsetdir=$stap_tapsetdir])
AS_IF([test -n "$stap_tapsetdir" && test "$sw_tapsetdir" != "$stap_tapsetdir"],
  [sw_tapsetdir_note="
                    (stap does not look there by itself: stap -I $sw_tapsetdir)"])])
