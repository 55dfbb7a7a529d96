# Kernels: which releases they are, and what stap and the guest need of each.
# shellcheck shell=bash
#
# $CACHE/kernels/ARCH-KERNEL/ holds `version` (RELEASE PACKAGE-VERSION) and the bootable image
# `vmlinuz`. Headers, System.map and the kernel's DWARF stand in the chroot, where stap looks
# for them by release.

# Debian's kernels, and where they are from.
declare -A KERNEL_SUITE=([5.10]=bullseye [6.1]=bookworm [lts]=trixie [current]=forky [rt]=forky [7.3]=trixie-backports
	[newest]=forky)
# other names of these
declare -A KERNEL_ALIAS=([6.12]=lts [7.2]=current)

# The kernels that each stap builds and loads modules for.
declare -A STAP_KERNELS=([5.1]='5.10 6.1' [5.6]='6.1 6.12 7.2')

# stap_can STAP KERNEL: by whatever name; rt is the current one with PREEMPT_RT, and of the newest one nobody knows
stap_can() {
	local name wanted=$2
	[[ $wanted != @(rt|newest) ]] || wanted=current
	for name in ${STAP_KERNELS[$1]}; do
		[[ ${KERNEL_ALIAS[$name]:-$name} != "${KERNEL_ALIAS[$wanted]:-$wanted}" ]] || return 0
	done
	return 1
}

# kernel_names KERNEL: all names that it has, a line each
kernel_names() {
	local name kernel=${KERNEL_ALIAS[$1]:-$1}
	echo "$kernel"
	for name in "${!KERNEL_ALIAS[@]}"; do
		[[ ${KERNEL_ALIAS[$name]} != "$kernel" ]] || echo "$name"
	done
}

# check_cell KERNEL: can the stap that was chosen do it?
check_cell() {
	local stap else=''
	! stap_can "$STAP_VERSION" "$1" || return 0
	for stap in "${!STAP_KERNELS[@]}"; do
		! stap_can "$stap" "$1" || else=", or --stap $stap"
	done
	# kernels of our own are the newest one's
	stap_can "$STAP_VERSION" current && [[ -z $else && -z ${KERNEL_SUITE[$1]:-} ]] && return
	usage_error "stap $STAP_VERSION makes no modules that kernel '$1' loads: --kernel ${STAP_KERNELS[$STAP_VERSION]// / or }$else"
}

# lab cells: what check_cell lets pass, one a line
verb_cells() {
	local stap kernel
	for stap in $(printf '%s\n' "${!STAP_KERNELS[@]}" | sort -V); do
		for kernel in ${STAP_KERNELS[$stap]}; do
			echo "$stap $kernel"
		done
	done
}

check_kernel() {
	local kernel=${KERNEL_ALIAS[$2]:-$2}
	case $1-$kernel in
	x86_64-debug | x86_64-kasan | x86_64-kcsan | aarch64-current) ;;
	x86_64-*)
		[[ -n ${KERNEL_SUITE[$kernel]:-} ]] ||
			usage_error "no kernel '$2': current, newest, lts, rt, debug, kasan, kcsan, 5.10, 6.1, 6.12, 7.2 or 7.3"
		;;
	aarch64-*) usage_error "on aarch64 there is only --kernel current" ;;
	*) usage_error "no architecture '$1': x86_64 or aarch64" ;;
	esac
}

kernel_dir() {
	echo "$CACHE/kernels/$1-$2"
}

kernel_release() {
	local version
	read -r version _ <"$(kernel_dir "$1" "$2")/version"
	echo "$version"
}

# What stap is given for it.
STAP_AARCH64=(-a arm64 -B CROSS_COMPILE=aarch64-linux-gnu-)

# What `stap -r` takes: a release, or the build directory of a kernel of our own.
stap_release() {
	case $2 in
	debug | kasan | kcsan) echo "$(kernel_dir "$1" "$2")/build" ;;
	*) kernel_release "$1" "$2" ;;
	esac
}

# The build directory to compile modules by, in the chroot.
kernel_build() {
	case $2 in
	debug | kasan | kcsan) stap_release "$1" "$2" ;;
	*) echo "/lib/modules/$(kernel_release "$1" "$2")/build" ;;
	esac
}

# flavour ARCH KERNEL: what the names of its packages end in
flavour() {
	case $1-$2 in
	x86_64-rt) echo rt-amd64 ;;
	x86_64-*) echo amd64 ;;
	aarch64-*) echo arm64 ;;
	esac
}

# in_suite SUITE PACKAGE: the newest version that it has there
in_suite() {
	in_chroot -C / apt-cache madison "$2" |
		awk -F'|' -v suite=" $1/main" 'index($3, suite) { gsub(/ /, "", $2); print $2 }' | sed -n 1p
}

# suite_kernel ARCH KERNEL: 'RELEASE VERSION' of what the suite's kernel metapackage depends on
# today; never what some directory happens to hold.
suite_kernel() {
	local package suite=${KERNEL_SUITE[$2]} version release
	package=linux-image-$(flavour "$1" "$2")
	[[ $1 != aarch64 ]] || package+=:arm64
	version=$(in_suite "$suite" "$package")
	[[ -n $version ]] || die "$suite has no package $package"
	release=$(in_chroot -C / apt-cache show "$package=$version" |
		sed -n 's/^Depends:.*linux-image-\([0-9][^ ,(]*\).*/\1/p' | sed -n 1p)
	[[ -n $release ]] || die "$package $version names no kernel release"
	echo "$release $version"
}

# is_known RELEASE: is the chosen stap known to build modules for it, or for a newer one?
is_known() {
	local series
	series=$(sed 's/^\([0-9]*\.[0-9]*\).*/\1/' <<<"$1")
	[[ $(printf '%s\n' "$series" ${STAP_KERNELS[$STAP_VERSION]} | sort -V | tail -n 1) != "$series" ||
		" ${STAP_KERNELS[$STAP_VERSION]} " == *" $series "* ]]
}

# known_kernel ARCH KERNEL: the newest that its suite still has and that stap is known for, by the packages' own names
known_kernel() {
	local suffix='' package version
	[[ $1 != aarch64 ]] || suffix=:arm64
	in_chroot -C / apt-cache pkgnames linux-image- | sed 's/:.*//' |
		grep -E "^linux-image-[0-9][0-9.]*(\+[^-]*)?(-[0-9]+)?-$(flavour "$1" "$2")\$" | sort -u -V -r |
		while read -r package; do
			is_known "${package#linux-image-}" || continue
			version=$(in_suite "${KERNEL_SUITE[$2]}" "$package$suffix")
			[[ -n $version ]] || continue
			echo "${package#linux-image-} $version"
			break
		done
}

# resolve ARCH KERNEL: 'RELEASE VERSION'. Debian testing's kernel moves on; what stap is not known to build for is no
# `current', but the newest one before it, or, where none is left, the LTS kernel.
resolve() {
	local found
	found=$(suite_kernel "$1" "$2") || return
	if [[ $2 == current || $2 == rt ]] && ! is_known "${found% *}"; then
		note "stap $STAP_VERSION is not known to build modules for Linux ${found% *}"
		mkdir -p "$CACHE/kernels"
		echo "${found% *}" >"$CACHE/kernels/newer"
		found=$(known_kernel "$1" "$2")
		if [[ -z $found && $2 == current ]]; then
			add_suites "${KERNEL_SUITE[lts]}"
			found=$(suite_kernel "$1" lts) || return
		fi
		[[ -n $found ]] || die "${KERNEL_SUITE[$2]} has no kernel '$2' that stap $STAP_VERSION builds modules for"
	fi
	echo "$found"
}

# say_newer: what testing has, and nothing here was tried with
say_newer() {
	local newer release
	[[ -f $CACHE/kernels/newer && -f $(kernel_dir x86_64 current)/version ]] || return 0
	newer=$(<"$CACHE/kernels/newer")
	release=$(kernel_release x86_64 current)
	[[ $newer == "$release" ]] ||
		echo "Debian has Linux $newer, which stap $STAP_VERSION is not known to build modules for: tests are with $release; \`lab setup --newest' tries the other"
}

package_exists() {
	in_chroot -C / apt-cache show "$1" >/dev/null 2>&1
}

size_of() {
	in_chroot -C / apt-cache show "$1" | awk '/^Size:/ { print int($2 / 1000000) " MB" }' | sed -n 1p
}

# install_headers RELEASE VERSION SUFFIX DEPENDENCIES: the headers package is unpacked and not installed: it depends on the
# kernel's image, which depends on the makers of initramfs. DEPENDENCIES is a regular expression of those that are wanted.
install_headers() {
	local release=$1 version=$2 suffix=$3 deps
	deps=$(in_chroot -C / apt-cache show "linux-headers-$release$suffix=$version" |
		sed -n '/^Depends:/ { s/^Depends: //; s/([^)]*)//g; s/,/ /g; p }' |
		xargs -n1 | grep -E "^($4)\$" | xargs)
	lock chroot
	# shellcheck disable=SC2086 # words
	apt_logged "headers' dependencies" "$CHROOT/var/cache/apt/archives" chroot_apt install $deps
	chroot_apt clean
	unlock chroot
	download "linux-headers-$release$suffix=$version"
	logged "unpacking headers" unpack "$DEBS"/linux-headers-*.deb "$CHROOT"
	rm -rf "$DEBS"
}

setup_headers() {
	local release=$1 version=$2 suffix=$3
	! is_fresh "headers-$release" "$version" || return 0
	note "kernel headers $release"
	install_headers "$release" "$version" "$suffix" 'linux-headers-.*-common|linux-kbuild-.*|linux-compiler-.*|gcc-[0-9]+'
	set_stamp "headers-$release" "$version"
}

# What differs by kernel is compiled for each that a Debian has headers of (headers.exp), though no guest runs it.
HEADERS=(5.10 6.1 lts)

# bare_headers RELEASE VERSION: without the compiler that Debian has for them; what is compiled takes the chroot's
bare_headers() {
	! is_fresh "headers-$1" "$2" && ! is_fresh "bare-headers-$1" "$2" || return 0
	note "kernel headers $1"
	install_headers "$1" "$2" '' 'linux-headers-.*-common|linux-kbuild-.*'
	set_stamp "bare-headers-$1" "$2"
}

setup_all_headers() {
	local kernel version release suites=()
	lock setup
	for kernel in "${HEADERS[@]}"; do
		suites+=("${KERNEL_SUITE[$kernel]}")
	done
	for kernel in "${HEADERS[@]}"; do
		version=$CACHE/kernels/headers-$kernel/version
		if refresh_wanted "$version"; then
			make_tmp
			add_suites "${suites[@]}"
			mkdir -p "${version%/*}"
			suite_kernel x86_64 "$kernel" >"$version.new" || exit
			mv "$version.new" "$version"
		fi
		read -r release version <"$version"
		bare_headers "$release" "$version"
	done
	unlock setup
}

# with_debuginfo RELEASE VERSION: the lab of another stap that has it, if one has
with_debuginfo() {
	local lab
	for lab in "$SHOWN" "$SHOWN"/stap-*; do
		[[ $lab != "$CACHE" && $(cat "$lab/stamps/debuginfo-$1" 2>/dev/null) == "$2" ]] || continue
		echo "$lab"
		return
	done
	return 1
}

# link_debuginfo RELEASE VERSION: that of another stap's chroot, if one has it
link_debuginfo() {
	local lab file vmlinux=usr/lib/debug/lib/modules/$1/vmlinux
	lab=$(with_debuginfo "$1" "$2") || return
	mkdir -p "$CHROOT/${vmlinux%/*}"
	for file in "$vmlinux" "boot/System.map-$1"; do
		ln -f "$lab/chroot/$file" "$CHROOT/$file" || return
	done
}

# dbg packages are a gigabyte: only vmlinux and System.map of them stay.
setup_debuginfo() {
	local release=$1 version=$2 suffix=$3 nm=nm
	local vmlinux=/usr/lib/debug/lib/modules/$1/vmlinux
	[[ $suffix != :arm64 ]] || nm=aarch64-linux-gnu-nm
	! is_fresh "debuginfo-$release" "$version" || return 0
	if link_debuginfo "$release" "$version"; then
		set_stamp "debuginfo-$release" "$version"
		return
	fi
	setup_vmlinux "$@"
	# the packages' own System.map is a stub
	in_chroot -C / "$nm" -n "$vmlinux" >"$CHROOT/boot/System.map-$release" || die "nm failed on vmlinux of $release"
	set_stamp "debuginfo-$release" "$version"
}

# setup_vmlinux RELEASE VERSION SUFFIX: one at a time, as it may have been begun early
setup_vmlinux() {
	local release=$1 version=$2 suffix=$3 package=linux-image-$1-dbg$3
	local vmlinux=$CHROOT/usr/lib/debug/lib/modules/$1/vmlinux unpacked=$TMP/dbg-$1
	lock "vmlinux-$release"
	if is_fresh "vmlinux-$release" "$version"; then
		unlock "vmlinux-$release"
		return
	fi
	need_space 4 "debug information of $release"
	note "downloading debug information of $release ($(size_of "$package=$version"))"
	download "$package=$version"
	note "unpacking it (about 35 s)"
	# where it stands has changed over time; the other name is then a link
	logged "unpacking debug information of $release" unpack "$DEBS"/*.deb "$unpacked" './usr/lib/debug/*vmlinux*'
	rm -rf "$DEBS"
	mkdir -p "${vmlinux%/*}"
	rm -f "$vmlinux"
	find "$unpacked" -name 'vmlinux*' -type f -exec mv {} "$vmlinux" \;
	rm -rf "$unpacked"
	[[ -s $vmlinux ]] || die "$package has no vmlinux"
	set_stamp "vmlinux-$release" "$version"
	unlock "vmlinux-$release"
}

# early_vmlinux ARCH KERNEL: what takes longest of a kernel that Debian has, while packages are installed; setup_debuginfo
# does what is not done here, and says what fails
early_vmlinux() (
	local release version suffix=''
	case $2 in
	debug | kasan | kcsan) return ;;
	esac
	! kernel_fresh "$1" "$2" || return 0
	# package lists are not read anew beside who installs
	grep -q " ${KERNEL_SUITE[$2]} main$" "$CHROOT/etc/apt/sources.list" || return 0
	[[ $1 != aarch64 ]] || suffix=:arm64
	read -r release version < <(suite_kernel "$1" "$2")
	[[ -n $version ]] && is_known "$release" || return 0
	is_fresh "debuginfo-$release" "$version" || with_debuginfo "$release" "$version" >/dev/null ||
		(setup_vmlinux "$release" "$version" "$suffix") || :
)

# stap_builds ARCH RELEASE: does stap build a module for it at all?
stap_builds() {
	local cross=()
	[[ $1 != aarch64 ]] || cross=("${STAP_AARCH64[@]}")
	in_chroot -C / stap "${cross[@]}" -r "$2" -p4 -e 'probe begin { exit() }' >/dev/null 2>&1
}

# setup_stap ARCH RELEASE: stap compiles its own feature tests once for a kernel. They take a minute and a half of a
# processor, and what is built side by side later would each take it again.
setup_stap() {
	stap_builds "$@" || note "stap builds no module for $2"
}

# say_newest: what came of `setup --newest'
say_newest() {
	local release
	release=$(kernel_release x86_64 newest)
	if stap_builds x86_64 "$release"; then
		echo "Linux $release: stap $STAP_VERSION builds modules for it"
	else
		echo "Linux $release: stap $STAP_VERSION builds no module for it"
	fi
}

# image_package WHAT RELEASE VERSION SUFFIX: the packages have been split over time, and the image, or the modules, are in the
# first of these that there is
image_package() {
	local package
	for package in "linux-$1-$2" "linux-image-$2"; do
		! package_exists "$package$4=$3" || break
	done
	echo "$package"
}

# setup_modules NAME...: these of $KERNEL's, in $MODULES
setup_modules() {
	local release version name missing=()
	read -r release version <"$(kernel_dir "$ARCH" "$KERNEL")/version"
	MODULES=$CACHE/tools/modules-$release
	for name; do
		compgen -G "$MODULES/$name.ko*" >/dev/null || missing+=("$name")
	done
	((${#missing[@]})) || return 0
	note "modules of $release: $*"
	download "$(image_package modules "$release" "$version" '')=$version"
	mkdir -p "$MODULES"
	for name in "${missing[@]}"; do
		# what came whole; what there is not is for the caller to say
		if unpack "$DEBS"/*.deb "$TMP/modules" "*/$name.ko*"; then
			find "$TMP/modules" -name "$name.ko*" -type f -exec mv {} "$MODULES" \;
		fi
	done
	rm -rf "$DEBS" "$TMP/modules"
}

setup_image() {
	local release=$1 version=$2 suffix=$3 dir=$4 package
	package=$(image_package binary "$release" "$version" "$suffix")
	note "kernel image $release ($(size_of "$package$suffix=$version"))"
	download "$package$suffix=$version"
	logged "unpacking the kernel" unpack "$DEBS"/*.deb "$TMP/image" '*/vmlinu[xz]*'
	rm -rf "$DEBS"
	mkdir -p "$dir"
	rm -f "$dir/vmlinuz"
	find "$TMP/image" -name 'vmlinu*' -type f -exec mv {} "$dir/vmlinuz" \;
	rm -rf "$TMP/image"
	[[ -s $dir/vmlinuz ]] || die "$package has no kernel"
}

# kernel_fresh ARCH KERNEL: it is there, and of what this tree says; whether it is the newest is not asked
kernel_fresh() {
	local dir hash
	dir=$(kernel_dir "$1" "$2")
	[[ -f $dir/version ]] && is_fresh "kernel-$1-$2" "$(<"$dir/version")" || return 1
	case $2 in
	debug | kasan | kcsan)
		read -r _ _ hash <"$dir/version"
		[[ $hash == "$(debug_key "$2")" ]]
		;;
	esac
}

setup_debian_kernel() {
	local arch=$1 kernel=$2 dir suffix='' resolved release version
	dir=$(kernel_dir "$arch" "$kernel")
	if ! refresh_wanted "$dir/version" && kernel_fresh "$arch" "$kernel"; then
		return 0
	fi
	add_suites "${KERNEL_SUITE[$kernel]}"
	resolved=$(resolve "$arch" "$kernel") || exit
	if is_fresh "kernel-$arch-$kernel" "$resolved"; then
		touch "$dir/version"
		return 0
	fi
	read -r release version <<<"$resolved"
	note "$arch $kernel is Linux $release"
	if [[ $arch == aarch64 ]]; then
		suffix=:arm64
		install_list chroot-aarch64
	fi
	make_tmp
	aside setup_debuginfo "$release" "$version" "$suffix"
	setup_headers "$release" "$version" "$suffix"
	aside setup_stap "$arch" "$release"
	setup_image "$release" "$version" "$suffix" "$dir"
	join_aside
	echo "$resolved" >"$dir/version"
	set_stamp "kernel-$arch-$kernel" "$resolved"
	drop_old_kernels
}

# Resolved once a day at most, and then only by `setup`: everything else works offline.
refresh_wanted() {
	[[ ! -f $1 ]] || [[ -n ${REFRESH:-} && $CACHE/apt-updated -nt $1 ]]
}

# Debug information and headers of releases that no kernel here is any more.
drop_old_kernels() {
	local stamp release
	for stamp in "$CACHE"/stamps/headers-* "$CACHE"/stamps/bare-headers-*; do
		[[ -f $stamp ]] || continue
		release=${stamp##*/}
		release=${release#bare-}
		release=${release#headers-}
		if ! grep -qs "^$release " "$CACHE"/kernels/*/version; then
			note "dropping kernel $release"
			rm -rf "$stamp" "$CACHE/stamps/bare-headers-$release" "$CACHE/stamps/"{vmlinux,debuginfo}-"$release" "$CHROOT/usr/lib/debug/lib/modules/$release" \
				"$CHROOT/lib/modules/$release" "$CHROOT/usr/src/linux-headers-$release" \
				"$CHROOT/boot/System.map-$release" "$CACHE/tools/modules-$release"
		fi
	done
}

# Without DWARF, stap takes the names of functions from System.map, and the package's is a stub; the
# kernel itself knows them.
setup_system_map() {
	local release jobs=$TMP/kallsyms
	release=$(kernel_release "$1" "$2")
	[[ $1 == aarch64 && ! -s $CHROOT/boot/System.map-$release ]] || return 0
	note "asking the kernel for its symbols"
	mkdir -p "$jobs/kallsyms"
	echo "grep -v '\[' /proc/kallsyms" >"$jobs/kallsyms/guest.sh"
	LAB_NOBUILD=1 spawn "$LAB_DIR/lab" batch --stap "$STAP_VERSION" --arch "$1" --kernel "$2" "$jobs"
	waited_within $LONGEST "$SPAWNED" "the guest of $1" || die "the $1 guest did not name its kernel's symbols"
	sort "$jobs/kallsyms/out" >"$CHROOT/boot/System.map-$release.new"
	mv "$CHROOT/boot/System.map-$release.new" "$CHROOT/boot/System.map-$release"
}

setup_kernel() {
	case $2 in
	debug | kasan | kcsan) setup_debug_kernel "$1" "$2" ;;
	*) setup_debian_kernel "$1" "$2" ;;
	esac
}
