#!/bin/bash
# build-kernel.sh TARBALL LOCALVERSION FRAGMENT...: build a kernel in the current directory, and keep of it
# what modules are compiled and probed with. Runs in the chroot.
set -e
tarball=$1
localversion=$2
shift 2
name=${tarball##*/}
name=${name%.tar*}

# bulky, and read by no part of this build
excludes=("$name/drivers/gpu/drm/amd/include")
for arch in arm arm64 mips powerpc riscv; do
	excludes+=("$name/arch/$arch/boot")
done
tar -x -f "$tarball" --strip-components=1 --anchored "${excludes[@]/#/--exclude=}"

make -s tinyconfig
scripts/kconfig/merge_config.sh -m .config "$@"
echo "CONFIG_LOCALVERSION=\"$localversion\"" >>.config
make -s olddefconfig
# an option that another one made impossible would be missed only much later
# shellcheck disable=SC2013 # words
for option in $(sed -n 's/^\(CONFIG_[A-Z0-9_]*\)=y$/\1/p' "$@"); do
	grep -q "^$option=y" .config || echo "note: $option is not set"
done
# The code of these races on purpose while it holds a lock. KCSAN then waits there, with interrupts off, for the CPU whose
# access it saw; an interrupt on that CPU may want the lock, and both wait for ever.
for object in hrtimer timekeeping; do
	printf '%s\n' "KCSAN_SANITIZE_$object.o := n" "KCSAN_INSTRUMENT_BARRIERS_$object.o := y" >>kernel/time/Makefile
done
make -j"$(nproc)" bzImage modules

find . -name '*.o' -not -path './scripts/*' -not -path './tools/objtool/*' -delete
find . \( -name '*.a' -o -name '.tmp_vmlinux*' -o -name '*.cmd' -not -path './scripts/*' \) -delete
find drivers sound net fs crypto lib -name '*.c' -delete
find arch -mindepth 1 -maxdepth 1 -type d -not -name x86 -exec rm -rf {} +
rm -rf Documentation samples tools/testing LICENSES vmlinux.unstripped
