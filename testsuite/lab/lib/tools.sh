# Smaller verbs: cc, kbuild, tool, build, shell, remove.
# shellcheck shell=bash

# lab cc [--arch A] -o OUT SRC... [flags]: a static program for the guest; one of C++, if a source is
# named .cc, by the compiler that brings no other one along
verb_cc() {
	local arch=x86_64 cc=gcc
	if [[ ${1-} == --arch ]]; then
		(($# >= 2)) || usage_error "--arch needs a value"
		arch=$2
		shift 2
	fi
	check_kernel "$arch" current
	[[ $arch != aarch64 ]] || cc=aarch64-linux-gnu-gcc
	(($#)) || usage_error "cc wants gcc's arguments"
	ensure "$arch" current
	if [[ " $* " == *".cc "* ]]; then
		[[ $arch == x86_64 ]] || die "cc: C++ is compiled for x86_64 only" 2
		ensure_chroot chroot chroot-test
		cc=clang++
	fi
	in_chroot "$cc" -static -O2 -Wall -pthread "$@"
}

# lab stapwatch ARGS...: the built command, where the libraries are that it takes
verb_stapwatch() {
	ensure x86_64 current
	build_tree
	in_chroot "$BUILD/translator-ext/stapwatch" "$@"
}

# lab asks [guest options] -- stapwatch ARGS...: what that asks stap for, on such a kernel: stap's
# arguments, each with a NUL after it; nothing, where it asks for nothing. Nothing is compiled.
verb_asks() {
	guest_options "" "$@"
	[[ ${REST[0]-} == stapwatch ]] || usage_error "asks: after '--' comes stapwatch"
	ensure "$ARCH" "$KERNEL"
	build_tree
	make_tmp
	stap_command "$ARCH" "$KERNEL" stapwatch
	: >"$TMP/asked"
	# it says that nothing came, which is so
	in_chroot env "TMPDIR=$TMP" "LAB_ASKED=$TMP/asked" "STAPWATCH_STAP=$LAB_DIR/lib/stap-asked.sh" \
		"SYSTEMTAP_RELEASE=$(kernel_release "$ARCH" "$KERNEL")" \
		"STAPWATCH_KALLSYMS=/boot/System.map-$(kernel_release "$ARCH" "$KERNEL")" \
		"${STAPWATCH[@]:1}" "${REST[@]:1}" >&2 || true
	cat "$TMP/asked"
}

# lab kbuild [--arch A] [--kernel K] DIR: a kernel module directory, built in place
verb_kbuild() {
	local dir make
	guest_options "" "$@"
	((${#REST[@]} == 1)) || usage_error "kbuild wants one directory"
	dir=$(realpath -e -- "${REST[0]}") || die "no such directory: ${REST[0]}" 2
	ensure "$ARCH" "$KERNEL"
	make=(make -s -C "$(kernel_build "$ARCH" "$KERNEL")" M="$dir" CONFIG_MODULE_SIG=n)
	[[ $ARCH != aarch64 ]] || make+=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-)
	in_chroot -C "$dir" "${make[@]}" modules
}

# lab tool PACKAGE PROGRAM...: see setup_tool; prints where it is
verb_tool() {
	(($# >= 2)) || [[ $* == stapwatch ]] || usage_error "tool wants a package and programs' paths, or 'stapwatch'"
	ensure x86_64 current
	build_tree
	make_tmp
	lock tools
	if (($# >= 2)); then
		setup_tool "$@"
	else
		setup_own_tool
	fi
	unlock tools
	echo "$TOOL"
}

# lab modules [guest options] NAME...: see setup_modules; prints where they are
verb_modules() {
	local name
	guest_options "" "$@"
	((${#REST[@]})) || usage_error "modules wants names"
	[[ $ARCH == x86_64 && $KERNEL != @(debug|kasan|kcsan) ]] || usage_error "modules are for x86_64 guests with a Debian kernel"
	ensure "$ARCH" "$KERNEL"
	make_tmp
	lock tools
	setup_modules "${REST[@]}"
	unlock tools
	for name in "${REST[@]}"; do
		compgen -G "$MODULES/$name.ko*" || die "$(kernel_release "$ARCH" "$KERNEL") has no module $name"
	done
}

verb_build() {
	(($# == 0)) || usage_error "build takes no arguments"
	ensure x86_64 current
	build_tree
	echo "$BUILD"
}

# lab shell [guest options]: a root shell in a guest, its console on this terminal
verb_shell() {
	guest_options "--put" "$@"
	((${#REST[@]} == 0)) || usage_error "shell takes no arguments"
	[[ $ARCH == x86_64 && -z $DEBIAN ]] || usage_error "shell: x86_64 only, without --debian"
	local file
	ensure "$ARCH" "$KERNEL"
	make_tmp
	mkdir -p "$TMP/tree/lab" "$TMP/tree/root"
	for file in "${PUT[@]}"; do
		put_file "$file" "$TMP/tree" "$TMP/tree/root"
	done
	echo shell >"$TMP/tree/lab/mode"
	cpio_of "$TMP/tree" "$TMP/extra"
	cat "$CACHE/images/$ARCH.cpio" "$TMP/extra" >"$TMP/initrd"
	echo "Ctrl-A X leaves the guest at any time" >&2
	spawn qemu-system-x86_64 -machine pc -cpu "$X86_CPU" -accel tcg,thread=multi -m 2G -smp "$SMP" \
		-nodefaults -display none -no-reboot -serial mon:stdio -kernel "$(kernel_dir "$ARCH" "$KERNEL")/vmlinuz" \
		-initrd "$TMP/initrd" -append "console=ttyS0 $KERNEL_WORDS $APPEND"
	# a terminal's Ctrl-C is the guest's
	trap '' INT
	waited "$SPAWNED"
}

# lab remove: all that the lab has here, but for packages
verb_remove() {
	(($# == 0)) || usage_error "remove takes no arguments"
	check_host
	[[ -d $CACHE/stamps ]] || die "there is no lab in $CACHE"
	# nobody may be at work in it
	lock setup
	lock chroot
	if [[ -s $CACHE/host-packages ]]; then
		echo "The lab has installed these packages, which stay: $(sort -u "$CACHE/host-packages" | xargs)"
	fi
	rm -rf "$CACHE"
	echo "removed $CACHE"
}
