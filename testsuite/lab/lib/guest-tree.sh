#!/bin/bash
# guest-tree.sh ROOT TREE <PROGRAMS: copy programs and the libraries that they load from unpacked
# packages in ROOT to TREE. Runs in the chroot, whose readelf reads every architecture's files.
set -e
root=$1
tree=$2
declare -A seen=()

mkdir -p "$tree"/usr/{bin,sbin,lib,lib64} "$tree"/{etc,lab}
for d in bin sbin lib lib64; do
	ln -s "usr/$d" "$tree/$d"
done

# Packages name files by /bin and /lib too, which are links to those below /usr.
resolve() {
	local f=$1
	[[ -e $root$f || -L $root$f ]] || f=/usr$f
	echo "$f"
}

find_library() {
	local d
	for d in /usr/lib/*-linux-gnu /usr/lib /usr/lib64 /usr/lib/*-linux-gnu/systemtap; do
		for f in "$root"${d}/"$1"; do
			if [[ -e $f ]]; then
				echo "${f#"$root"}"
				return
			fi
		done
	done
}

copy() {
	local f lib interp
	f=$(resolve "$1")
	[[ -z ${seen[$f]} ]] || return 0
	seen[$f]=1
	if [[ ! -e $root$f ]]; then
		echo "missing: $1" >&2
		return 0
	fi
	mkdir -p "$tree${f%/*}"
	cp -L "$root$f" "$tree$f"
	interp=$(readelf -lW "$root$f" 2>/dev/null | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
	[[ -z $interp ]] || copy "$interp"
	while read -r lib; do
		copy "$(find_library "$lib")"
	done < <(readelf -dW "$root$f" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
}

while read -r program; do
	copy "$program"
done
