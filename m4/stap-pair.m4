# SW_STAP_PAIR: does this SystemTap make modules that the running kernel loads?  Most
# pairs do; pairs.tbl has those that do not, which the command reads too.
AC_DEFUN([SW_STAP_PAIR],
[AS_IF([test -n "$sw_stap_version" && test -z "$sw_stap_old"],
[AC_MSG_CHECKING([whether SystemTap $sw_stap_version makes modules that Linux $sw_kver loads])
sw_stap_pair=yes
sw_tab=`printf '\t'`
while IFS=$sw_tab read -r sw_from sw_before sw_kfrom sw_kbefore sw_word sw_works; do
  AS_CASE([$sw_from], ['@%:@'* | ''], [continue])
  SW_BETWEEN([$sw_stap_version], [$sw_from], [$sw_before])
  test $sw_between = yes || continue
  SW_BETWEEN([$sw_kver], [$sw_kfrom], [$sw_kbefore])
  test $sw_between = yes || continue
  SW_STAP_PAIR_WORD
  break
done <"$srcdir/translator-ext/stap/pairs.tbl"
AC_MSG_RESULT([$sw_stap_pair])
AS_IF([test "$sw_stap_pair" != yes],
  [sw_kshort=`AS_ECHO(["$sw_kver"]) | sed 's/^\(@<:@0-9@:>@*\.@<:@0-9@:>@*\).*/\1/'`
   AS_IF([test "$sw_stap_pair" = no], [sw_unless=], [sw_unless=', unless it was patched'])
   AC_MSG_WARN([SystemTap $sw_stap_version makes no module that Linux $sw_kshort loads$sw_unless: $sw_works])
   SW_MISSING([modules that Linux $sw_kshort loads (SystemTap $sw_stap_version makes none$sw_unless)],
     [$sw_works], [dnf upgrade systemtap systemtap-devel])])])])

# SW_BETWEEN(VERSION, FROM, BEFORE): sw_between, yes or no
AC_DEFUN([SW_BETWEEN],
[sw_between=yes
AS_VERSION_COMPARE([$1], [$2], [sw_between=no])
AS_IF([test "$3" != -],
  [AS_VERSION_COMPARE([$1], [$3], [], [sw_between=no], [sw_between=no])])])

# SW_STAP_PAIR_WORD: sw_stap_pair, of a pair that is in the table.  Where stap's runtime
# has the word it has been mended.
AC_DEFUN([SW_STAP_PAIR_WORD],
[sw_runtime=$SYSTEMTAP_RUNTIME
AS_IF([test -z "$sw_runtime"],
  [sw_runtime=`LC_ALL=C "$STAP" --help 2>/dev/null </dev/null |
    sed -n '/^ *-R DIR/{n;s/^ *//p;q;}'`])
AS_IF([test "$sw_word" = - || test ! -d "$sw_runtime/linux"], [sw_stap_pair='perhaps not'],
  [grep -rqs "$sw_word" "$sw_runtime/linux" "$sw_runtime/transport"],
  [sw_stap_pair=yes], [sw_stap_pair=no])])
