# A PMU for guests that have none: the module of testsuite/guest/pmu, loaded for a job's time.
# shellcheck shell=bash

# pmu_words PROFILE[,NAME=VALUE]...: what insmod is given
pmu_words() {
	[[ $1 =~ ^[a-z]+(,[a-z_]+=[0-9a-z]+)*$ ]] || usage_error "--pmu wants PROFILE[,NAME=VALUE]..., not '$1'"
	echo "profile=${1//,/ }"
}

# build_pmu: the module for $ARCH and $KERNEL, as $PMU_MODULE; of the same it is not built again
build_pmu() {
	local source=$TREE/testsuite/guest/pmu key status=0
	[[ $ARCH == x86_64 ]] || usage_error "the simulated PMU is for x86_64 guests only"
	key=$({
		cat "$(kernel_dir "$ARCH" "$KERNEL")/version"
		content_of "$source"
	} | sha256sum | cut -c1-32)
	PMU_MODULE=$CACHE/modules/simpmu-$KERNEL-$key.ko
	mkdir -p "$CACHE/modules"
	lock "module-$key"
	if [[ ! -f $PMU_MODULE ]]; then
		note "building the simulated PMU"
		cp -r "$source" "$TMP/pmu"
		in_chroot -C "$TMP/pmu" make -s -C "$(kernel_build "$ARCH" "$KERNEL")" M="$TMP/pmu" CONFIG_MODULE_SIG=n \
			modules >"$TMP/pmu.log" 2>&1 || status=$?
		if ((status)); then
			cat "$TMP/pmu.log" >&2
			die "the simulated PMU does not build for $(kernel_release "$ARCH" "$KERNEL")"
		fi
		mv "$TMP/pmu/simpmu.ko" "$PMU_MODULE"
		rm -rf "$TMP/pmu"
	fi
	touch "$PMU_MODULE"
	unlock "module-$key"
	rm -f "$CACHE/locks/module-$key"
}

# with_pmu JOBDIR PROFILE: the job in JOBDIR runs with it
with_pmu() {
	local words
	words=$(pmu_words "$2") || exit
	build_pmu
	cp "$PMU_MODULE" "$TMP/tree/lab/simpmu.ko"
	mv "$1/run.sh" "$1/with-pmu.sh"
	printf '%s\n' "insmod /lab/simpmu.ko $words || exit" 'trap : INT' 'sh ../with-pmu.sh' 'status=$?' \
		'rmmod simpmu' 'exit $status' >"$1/run.sh"
}
