#!/bin/bash
# enter.sh CHROOT DIR COMMAND...: run COMMAND in DIR of CHROOT.
# lab starts this in mount and pid namespaces of its own, so nothing that is mounted
# or started here can outlive it. The host's own directories appear under the same
# names, so that file names mean the same inside and outside.

root=$1
dir=$2
shift 2

set -e
# A directory that the host's tree shows inside the chroot too, unless it has one.
show() {
	if [[ ! -e $root$1 ]]; then
		mkdir -p "$root$1"
		mount --rbind "$1" "$root$1"
	fi
}

for d in /*; do
	case $d in
	/bin | /boot | /dev | /etc | /lib | /lib32 | /lib64 | /libx32 | /lost+found | /proc | /run | /sbin | /sys | /usr | /var)
		continue ;;
	esac
	if [[ -d $d ]]; then
		mkdir -p "$root$d"
		mount --rbind "$d" "$root$d"
	fi
done
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/run"
shown=$LAB_SHOW:$dir
IFS=:
for d in $shown; do
	[[ -z $d ]] || show "$d"
done
unset IFS LAB_SHOW

cd "$dir" 2>/dev/null || cd /
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
unset LD_LIBRARY_PATH LD_PRELOAD
# GNU make names a fifo by its process number, and every namespace has the same ones
mkdir -p "$root/run/tmp"
export TMPDIR=/run/tmp
# chroot(1) leaves for /, so the directory is entered again inside
exec chroot "$root" /bin/sh -c 'cd "$1" || exit 126; shift; exec "$@"' enter "$PWD" "$@"
