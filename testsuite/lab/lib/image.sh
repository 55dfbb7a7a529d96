# The guest's file system: programs of packages that are unpacked, never installed.
# shellcheck shell=bash

deb_arch() {
	case $1 in
	x86_64) echo amd64 ;;
	aarch64) echo arm64 ;;
	esac
}

# setup_programs ARCH: unpacked packages in guestroot/ARCH. An empty status file makes apt name
# everything that the packages need, although the chroot may have it.
setup_programs() {
	local arch=$1 deb key packages deb_file root
	root=$CACHE/guestroot/$arch
	deb=$(deb_arch "$arch")
	key=$(hash_of "$LAB_DIR/packages/guest" "$LAB_DIR/packages/guest-omit" <(stap_version))
	! is_fresh "guestroot-$arch" "$key" || return 0
	note "programs for the $arch guest: $(list_of guest | xargs)"
	# shellcheck disable=SC2046 # words
	packages=$(in_chroot -C / apt-get -s -y --no-install-recommends -o Dir::State::status=/dev/null \
		-o APT::Architecture="$deb" -o APT::Architectures="$deb" install $(list_of guest) |
		awk -v arch="$deb" '/^Inst/ { sub(/^\(/, "", $3); print $2 (/ \[all\]\)/ ? "" : ":" arch) "=" $3 }' |
		grep -vE "^($(list_of guest-omit | xargs | tr ' ' '|'))[:=]")
	[[ -n $packages ]] || die "apt found no packages for the $arch guest"
	# shellcheck disable=SC2086 # words
	download $packages
	rm -rf "$root"
	for deb_file in "$DEBS"/*.deb; do
		logged "unpacking a program" unpack "$deb_file" "$root" './*'
	done
	rm -rf "$DEBS"
	set_stamp "guestroot-$arch" "$key"
}

stap_version() {
	sed -n '/^Package: systemtap$/,/^$/ s/^Version: //p' "$CHROOT/var/lib/dpkg/status"
}

guest_image_key() {
	hash_of "$LAB_DIR/init" "$LAB_DIR/packages/guest-programs" "$LAB_DIR/lib/guest-tree.sh" \
		"$CACHE/stamps/guestroot-$1" 2>/dev/null
}

guest_image_fresh() {
	is_fresh "image-$1" "$(guest_image_key "$1")"
}

# setup_guest_image ARCH: images/ARCH.cpio, not compressed: unpacking would cost the guest more
# than QEMU's copying.
setup_guest_image() {
	local arch=$1 tree=$CACHE/images/$1.tree
	! guest_image_fresh "$arch" || return 0
	note "the $arch guest's image"
	rm -rf "$tree"
	mkdir -p "$tree"
	list_of guest-programs | sed '/^$/d' >"$tree.list"
	logged "guest image $arch" in_chroot -C / "$LAB_DIR/lib/guest-tree.sh" "$CACHE/guestroot/$arch" "$tree" <"$tree.list"
	cp "$tree/usr/bin/busybox" "$tree/lab/busybox"
	install -m 755 "$LAB_DIR/init" "$tree/init"
	printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' >"$tree/etc/passwd"
	printf 'root:x:0:\nstapdev:x:156:\nstapusr:x:157:\nstapsys:x:158:\nnogroup:x:65534:\n' >"$tree/etc/group"
	ln -s ../lab/busybox "$tree/usr/bin/sh"
	cpio_of "$tree" "$CACHE/images/$arch.cpio.new"
	mv "$CACHE/images/$arch.cpio.new" "$CACHE/images/$arch.cpio"
	rm -rf "$tree" "$tree.list"
	set_stamp "image-$arch" "$(guest_image_key "$arch")"
}

# cpio_of DIR FILE, padded so that another may follow
cpio_of() {
	(cd "$1" && find . -print0 | cpio -0 -o -H newc -R 0:0 --quiet) >"$2" || die "cannot write $2"
}

# setup_own_tool: the stapwatch command of this tree, likewise
setup_own_tool() {
	local tree=$TMP/tree.stapwatch built=$BUILD/translator-ext/stapwatch
	TOOL=$BUILD/stapwatch.tar
	[[ ! -f $TOOL || $built -nt $TOOL ]] || return 0
	in_chroot -C / "$LAB_DIR/lib/guest-tree.sh" '' "$tree" <<<"$built" || die "cannot make $TOOL"
	mv "$tree$built" "$tree/usr/bin/stapwatch"
	tar -c -f "$TOOL.new" -C "$tree" usr && mv "$TOOL.new" "$TOOL" || die "cannot make $TOOL"
	rm -rf "$tree"
}

# setup_tool PACKAGE PROGRAM...: programs that few x86_64 guests want, and the libraries that they
# load, as $TOOL, a tar to unpack at the guest's root; what others have asked for of that package
# is in it, too
setup_tool() {
	local package=$1 root=$TMP/root.$1 tree=$TMP/tree.$1 packages deb program have
	shift
	TOOL=$CACHE/tools/$package.tar
	have=$(tar -t -f "$TOOL" 2>"$TMP/tool.err" | grep '/s\?bin/.' | sed 's|^|/|')
	[[ -n $(printf '%s\n' "$@" | grep -v -x -F -e "${have:-none}") ]] || return 0
	note "the tool $* of $package"
	mkdir -p "$CACHE/tools"
	# with an empty status file apt names all that it needs
	packages=$(in_chroot -C / apt-get -s -y --no-install-recommends -o Dir::State::status=/dev/null install "$package" |
		awk '/^Inst/ { sub(/^\(/, "", $3); print $2 "=" $3 }')
	[[ -n $packages ]] || die "apt found no $package"
	# shellcheck disable=SC2086 # words
	download $packages
	for deb in "$DEBS"/*.deb; do
		unpack "$deb" "$root" './*' || die "cannot unpack $deb"
	done
	rm -rf "$DEBS"
	in_chroot -C / "$LAB_DIR/lib/guest-tree.sh" "$root" "$tree" \
		< <(printf '%s\n' "$@" ${have:+"$have"} | sort -u) || die "cannot make $TOOL"
	for program in "$@"; do
		[[ -e $tree$program ]] || die "$package has no $program"
	done
	tar -c -f "$TOOL.new" -C "$tree" usr && mv "$TOOL.new" "$TOOL" || die "cannot make $TOOL"
	rm -rf "$root" "$tree"
}
