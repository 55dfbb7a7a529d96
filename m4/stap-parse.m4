# SW_STAP_PARSE: can stap parse and elaborate (pass 2)?  Against a made-up
# kernel tree, since stap wants some tree even for that.  Whether it can build
# a module is asked by "make installcheck": that takes long.
AC_DEFUN([SW_STAP_PARSE],
[sw_stap_parse='not tried'
AS_IF([test -n "$sw_stap_old"], [sw_stap_parse="no: $sw_stap_old is too old"],
  [test -n "$STAP"],
[AC_MSG_CHECKING([whether stap parses])
sw_stap_parse=no
AS_IF([sh "$srcdir/testsuite/fakekernel" "$PWD/conftest.dir" &&
  SYSTEMTAP_DIR="$PWD/conftest.dir/cache" "$STAP" -p2 -r "$PWD/conftest.dir" \
    -e 'probe begin { println(1) }' >conftest.out 2>&1],
  [sw_stap_parse=yes],
  [sed 's/^/stap: /' conftest.out >&AS_MESSAGE_LOG_FD])
rm -rf conftest.dir conftest.out
AC_MSG_RESULT([$sw_stap_parse])
AS_IF([test $sw_stap_parse = no],
  [AC_MSG_WARN([this stap cannot parse 'probe begin { println(1) }' (see config.log); stapwatch is not the cause])
   SW_MISSING([a stap that works],
     [apt-get install --reinstall systemtap], [dnf reinstall systemtap systemtap-devel])])])])
