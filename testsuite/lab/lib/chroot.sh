# The chroot in which stap, the kernels' headers and this tree's build live.
# shellcheck shell=bash

CHROOT=$CACHE/chroot
SUITE=forky
STAP_VERSION=5.6
# where jobs may stand, too
SHOWN=$CACHE
export DEBIAN_FRONTEND=noninteractive

# choose_stap VERSION: another stap is that of another Debian. It has a lab of its own within this one, as its programs
# for guests and what is built with it are others, too.
choose_stap() {
	case $1 in
	"$STAP_VERSION") return ;;
	5.1) SUITE=trixie ;;
	*) usage_error "no stap '$1': 5.1 or 5.6" ;;
	esac
	STAP_VERSION=$1
	CACHE=$CACHE/stap-$1
	CHROOT=$CACHE/chroot
	BUILD=$(build_dir)
	# who has built the tree has done so for another
	LAB_NOBUILD=
}

# How long what runs in the chroot may take; who knows better says so for himself.
LIMIT=$LONGEST

# in_chroot [-C DIR] COMMAND...: see enter.sh; standard input passes through
in_chroot() {
	local dir=$PWD
	if [[ $1 == -C ]]; then
		dir=$2
		shift 2
	fi
	LAB_SHOW=$SHOWN:$TREE LC_ALL=C.UTF-8 SYSTEMTAP_DIR=$CACHE/stap \
		spawn_within "$LIMIT" unshare --mount --pid --fork --kill-child "$LAB_DIR/lib/enter.sh" "$CHROOT" "$dir" "$@"
	waited_spawned "$LIMIT" "$1"
}

# Output of something long goes to a log, of which the end is shown if it fails.
# logged WHAT COMMAND...
logged() {
	local what=$1 log
	shift
	mkdir -p "$CACHE/log"
	log=$(log_of "$what")
	if ! "$@" >"$log" 2>&1; then
		tail -n 15 "$log" >&2
		die "$what failed; the whole log is $log"
	fi
}

log_of() {
	echo "$CACHE/log/${1//[^A-Za-z0-9.+-]/_}.log"
}

# apt_logged WHAT DIR COMMAND...: the same of an apt whose downloads come to DIR; says how far these are
apt_logged() {
	local what=$1 dir=$2 teller='' status=0
	shift 2
	if is_watched; then
		(
			trap - EXIT
			tell_coming "$what" "$dir"
		) &
		teller=$!
	fi
	(
		trap - EXIT
		logged "$what" "$@"
	) || status=$?
	[[ -z $teller ]] || stop_child "$teller"
	((status == 0)) || exit "$status"
}

# seconds between two such lines
TELL_EVERY=5

tell_coming() {
	local what=$1 dir=$2 log all have before=0
	log=$(log_of "$what")
	while nap "$TELL_EVERY"; do
		unless_orphaned
		all=$(megabytes_in "$log")
		have=$(du -sb "$dir" 2>/dev/null | awk '{ print int($1 / 1000000) }')
		[[ ${have:-0} -le $before || $all == 0 ]] || note "$what: $have of $all MB"
		before=${have:-$before}
	done
}

# megabytes_in LOG: what apt said that it needs; where it only downloads, what it has begun to get
megabytes_in() {
	cat "$1" 2>/dev/null | awk '
	function megabytes(number, unit) {
		gsub(",", "", number)
		return number * (unit == "GB" ? 1000 : unit == "MB" ? 1 : unit == "kB" ? 0.001 : 0)
	}
	/^Need to get/ { sub(/\/.*/, "", $5); need += megabytes($4, $5) }
	/^Get:/ { sub(/.*\[/, ""); sub(/\]/, ""); get += megabytes($1, $2) }
	END { printf "%d\n", (need ? need : get) + 0.5 }'
}

mirror() {
	local site
	if [[ -n ${STAPWATCH_MIRROR:-} ]]; then
		echo "$STAPWATCH_MIRROR"
		return
	fi
	# shellcheck disable=SC2016 # apt's own variable
	site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 2>/dev/null | grep -v -e security -e '^$')
	site=$(grep -m1 '/debian/*$' <<<"$site" || head -n1 <<<"$site")
	[[ -n $site ]] || die "apt names no Debian mirror: set STAPWATCH_MIRROR=URL"
	echo "$site"
}

install_host_packages() {
	local missing=() p
	for p in $(list_of host); do
		[[ $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null) == *'ok installed'* ]] || missing+=("$p")
	done
	((${#missing[@]})) || return 0
	note "installing on this machine: ${missing[*]}"
	logged "apt-get update" apt-get update
	apt_logged "apt-get install" /var/cache/apt/archives apt-get install -y --no-install-recommends "${missing[@]}"
	printf '%s\n' "${missing[@]}" >>"$CACHE/host-packages"
}

# apt inside the chroot; a mirror may lag behind its Release file's expiry.
chroot_apt() {
	in_chroot -C / apt-get -q -y --no-install-recommends -o Acquire::Check-Valid-Until=false \
		-o Acquire::Retries=2 -o Dpkg::Options::=--force-confold -o Dpkg::Options::=--force-unsafe-io \
		-o APT::Sandbox::User=root "$@"
}

# make_chroot: a minimal one. What is installed in it later can be beside what is downloaded and unpacked by its apt.
make_chroot() {
	local mirror lines=()
	! is_fresh chroot-base "$SUITE" || return 0
	mirror=$(mirror) || exit
	need_space 12 "the lab"
	drop_stamp chroot-base
	rm -rf "$CHROOT" "$CHROOT.new" "$CACHE"/stamps/{chroot,headers,bare-headers,vmlinux,debuginfo,kernel,source}-* \
		"$CACHE"/kernels/headers-* "$CACHE/apt-updated"
	mapfile -t lines < <(apt-config dump | grep -i '^Acquire::.*proxy')
	note "making a chroot of $SUITE from $mirror"
	# a mirror may lag behind its Release file's expiry; packages must start no service (mmdebstrap sees to that)
	apt_logged mmdebstrap "$CHROOT.new/var/cache/apt/archives" in_namespace mmdebstrap --verbose --mode=root --variant=minbase --architectures=amd64,arm64 \
		--include=ca-certificates --keyring=/usr/share/keyrings/debian-archive-keyring.gpg --skip=cleanup/apt/lists \
		--aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Retries "2"' \
		--aptopt='APT::Sandbox::User "root"' --aptopt='APT::Install-Recommends "false"' "${lines[@]/#/--aptopt=}" \
		--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt=force-unsafe-io \
		"$SUITE" "$CHROOT.new" "deb $mirror $SUITE main"
	printf '#!/bin/sh\nexit 101\n' >"$CHROOT.new/usr/sbin/policy-rc.d"
	chmod 755 "$CHROOT.new/usr/sbin/policy-rc.d"
	# making an initramfs serves nobody here
	mkdir -p "$CHROOT.new/usr/local/sbin"
	ln -sf /bin/true "$CHROOT.new/usr/local/sbin/update-initramfs"
	mv "$CHROOT.new" "$CHROOT"
	touch "$CACHE/apt-updated"
	set_stamp chroot-base "$SUITE"
}

# in_namespace COMMAND...: so that everything that it starts ends with it, and with us
in_namespace() {
	spawn_within "$LIMIT" unshare --mount --pid --fork --kill-child --mount-proc "$@"
	waited_spawned "$LIMIT" "$1"
}

# Package lists from the network, at most once a day unless something is missing.
update_apt() {
	local archs
	if [[ -z ${1:-} && -n $(find "$CACHE/apt-updated" -mmin -1440 2>/dev/null) ]]; then
		return 0
	fi
	[[ ! -e /etc/resolv.conf ]] || cp -L /etc/resolv.conf "$CHROOT/etc/resolv.conf"
	apt-config dump | grep -i '^Acquire::.*proxy' >"$CHROOT/etc/apt/apt.conf.d/90proxy"
	archs=$(in_chroot -C / dpkg --print-foreign-architectures)
	[[ $archs == *arm64* ]] || in_chroot -C / dpkg --add-architecture arm64
	note "reading package lists from $(awk 'NR == 1 { print $2 }' "$CHROOT/etc/apt/sources.list")"
	logged "chroot apt-get update" chroot_apt update --error-on=any
	# a new kernel may need a new stap
	lock chroot
	apt_logged "chroot apt-get upgrade" "$CHROOT/var/cache/apt/archives" chroot_apt dist-upgrade
	unlock chroot
	touch "$CACHE/apt-updated"
}

# add_suites SUITE...: their packages can be had in the chroot, too. They are older than the chroot's own, or backports, which
# apt takes when they are asked for; so no other package comes from there.
add_suites() {
	local list=$CHROOT/etc/apt/sources.list line suite added=''
	for suite; do
		! grep -q " $suite main$" "$list" || continue
		line=$(grep -m 1 " $SUITE main$" "$list") || die "$list does not name $SUITE"
		echo "${line/ $SUITE / $suite }" >>"$list"
		added=1
	done
	[[ -z $added ]] || update_apt now
}

# install_list NAME: the packages of a list, in the chroot
install_list() {
	local key
	key=$(hash_of "$LAB_DIR/packages/$1")
	! is_fresh "chroot-$1" "$key" || return 0
	note "installing in the chroot: $(list_of "$1" | xargs)"
	lock chroot
	logged "dpkg --configure" in_chroot -C / dpkg --configure -a
	# shellcheck disable=SC2046 # words
	apt_logged "chroot install $1" "$CHROOT/var/cache/apt/archives" chroot_apt install $(list_of "$1")
	chroot_apt clean
	unlock chroot
	set_stamp "chroot-$1" "$key"
}

# download PACKAGE...: the .deb files, into the directory $DEBS
download() {
	make_tmp
	# others may be downloading beside us
	DEBS=$(mktemp -d "$TMP/debs.XXXXXX")
	# not by the _apt user, which may not enter a cache under a private home
	apt_logged "download ${1%%[:=]*}" "$DEBS" in_chroot -C "$DEBS" apt-get -q -o Acquire::Check-Valid-Until=false \
		-o Acquire::Retries=2 -o APT::Sandbox::User=root download "$@"
}

# unpack DEB DIR [PATTERN...]: its files (those that match), in the chroot, because the host's
# tar may lack the compressor. Packages of before 2024 have a /lib of their own, where the chroot has a link.
unpack() {
	local deb=$1 dir=$2
	shift 2
	mkdir -p "$dir"
	in_chroot -C / sh -c 'deb=$1 dir=$2; shift 2; dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$dir" --wildcards "$@"' \
		unpack "$deb" "$dir" "$@"
}
