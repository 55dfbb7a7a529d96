# The debug kernels: Debian's source of the current release with debug-kernel*.config.
# shellcheck shell=bash
#
# They are built where they stay, $CACHE/kernels/x86_64-*/build, because DWARF names the directory.

debug_configs() {
	echo "$LAB_DIR/debug-kernel.config"
	[[ $1 == debug ]] || echo "$LAB_DIR/debug-kernel-$1.config"
}

debug_key() {
	local files
	mapfile -t files < <(debug_configs "$1")
	hash_of "${files[@]}" "$LAB_DIR/lib/build-kernel.sh"
}

setup_debug_kernel() {
	local arch=$1 kernel=$2 dir series package version key release minutes=10
	[[ $kernel == debug ]] || minutes=16
	dir=$(kernel_dir "$arch" "$kernel")
	if ! refresh_wanted "$dir/version" && kernel_fresh "$arch" "$kernel"; then
		return 0
	fi
	# the release that is `current` too
	[[ -f $(kernel_dir "$arch" current)/version ]] || setup_kernel "$arch" current
	series=$(kernel_release "$arch" current | sed 's/^\([0-9]*\.[0-9]*\).*/\1/')
	package=linux-source-$series
	version=$(in_chroot -C / apt-cache madison "$package" | awk -F'|' '{ gsub(/ /, "", $2); print $2 }' | sed -n 1p)
	[[ -n $version ]] || die "there is no package $package for a $kernel kernel"
	key="$version $(debug_key "$kernel")"
	if is_fresh "source-$kernel" "$key"; then
		touch "$dir/version"
		return 0
	fi
	need_space 6 "building a $kernel kernel"
	install_list chroot-kernel
	drop_stamp "source-$kernel"
	drop_stamp "kernel-$arch-$kernel"
	rm -rf "$dir"
	mkdir -p "$dir/build"
	make_tmp
	note "downloading $package $version ($(size_of "$package=$version"))"
	download "$package=$version"
	logged "unpacking kernel source" unpack "$DEBS"/*.deb "$TMP/source" './usr/src/linux-source-*.tar.*'
	rm -rf "$DEBS"
	note "building the $kernel kernel (about $minutes minutes on 2 CPUs)"
	# shellcheck disable=SC2046 # words
	logged "building the $kernel kernel" in_chroot -C "$dir/build" "$LAB_DIR/lib/build-kernel.sh" \
		"$TMP/source/usr/src/$package".tar.* "-sw$kernel" $(debug_configs "$kernel")
	rm -rf "$TMP/source"
	release=$(<"$dir/build/include/config/kernel.release")
	mv "$dir/build/arch/x86/boot/bzImage" "$dir/vmlinuz" || die "the $kernel kernel is not there"
	cp "$dir/build/System.map" "$CHROOT/boot/System.map-$release" || die "the $kernel kernel has no System.map"
	echo "$release $key" >"$dir/version"
	set_stamp "source-$kernel" "$key"
	set_stamp "kernel-$arch-$kernel" "$release $key"
	aside setup_stap "$arch" "$dir/build"
	note "built $release, $(du -sm "$dir" | cut -f1) MB"
}
