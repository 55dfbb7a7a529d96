# Booting a guest, following it, and judging its kernel's log.
# shellcheck shell=bash

# Lines by which a kernel says that something is wrong with it. Only lines after our init's start
# count. "Call Trace:" alone is no complaint: fault injection prints it.
# A race that KCSAN sees is ours where it names a module; the kernel has races of its own.
BAD_LINES='BUG:($| ([^K]|K[^C]))|KCSAN: .*\[|WARNING:|\bOops\b|general protection fault|Kernel panic|Internal error|[Uu]nable to handle kernel'
BAD_LINES+='|rcu: INFO|INFO: rcu|INFO: task .* blocked for more than|self-detected stall|soft lockup|hard LOCKUP'
BAD_LINES+='|INFO: possible|INFO: suspicious|suspicious RCU usage|DEBUG_LOCKS_WARN_ON|INFO: trying to register non-static key'
BAD_LINES+='|ODEBUG|UBSAN:|KASAN:|kmemleak: [0-9]+ new|corruption|refcount_t:|Slab .*: |workqueue lockup|deprecated workqueue|lab: lockdep|lab: job .* left'
# Not ours are SystemTap's transport and the kernel's relay, of which stapio reads without a lock.
RELAY='(_stp_data_write_reserve|__stp_relay_[a-z_]*|relay_[a-z_]*)( \[[^]]*\])?'
NOT_OURS="KCSAN: data-race in $RELAY / $RELAY\$"

# QEMU before 8.0 leaves flags after cmpxchg16b that are none, and an interrupt that comes there ends in a fault.
X86_CPU=max,la57=off,cx16=off
# A kernel that may clears pages by the byte, which takes QEMU eight times as long as by the word; and Debian's clears them
# twice, for who clears them himself: a session has 32 MB of buffers. Under -icount figures are of what users have.
X86_QUICK=,erms=off,fsrm=off
# QEMU translates a library anew for each place that a process has it at, and a page is overwritten the more slowly the more
# translations there are of it: without places of chance, all processes share one.
QUICK_WORDS='init_on_alloc=0 norandmaps'
# of each kernel's command line
KERNEL_WORDS='loglevel=5 panic=-1 oops=panic nokaslr tsc=reliable'

# boot_guest EXTRA_CPIO: starts QEMU as $ARCH, $KERNEL, $SMP, $APPEND and $ICOUNT say; its ports are fifos in $TMP
#   out, err  what jobs print    ctl.out, ctl.in  see init    klog  the kernel's log    monitor  QEMU's
boot_guest() {
	# One host thread for all CPUs: with one for each, a CPU of QEMU 7.2 may run into
	# the kernel's text patching (jump labels, kprobes) when the breakpoint is stale.
	# Loading and unloading any perf module under load then dies of "Oops: int3".
	local dir shown accel=tcg,thread=single console ports qemu memory=1G cpu=$X86_CPU words=$KERNEL_WORDS
	[[ -z $MTTCG || -n $ICOUNT ]] || accel=tcg,thread=multi
	[[ -n $ICOUNT ]] || cpu+=$X86_QUICK words+=" $QUICK_WORDS"
	dir=$(kernel_dir "$ARCH" "$KERNEL")
	[[ $KERNEL != debug ]] || memory=2G
	[[ $KERNEL != k?san ]] || memory=4G
	cat "$CACHE/images/$ARCH.cpio" "$1" >"$TMP/initrd"
	# half of it is for files: these, and what jobs unpack of them
	[[ $memory != 1G || $(stat -c %s "$TMP/initrd") -lt 250000000 ]] || memory=3G
	rm -f "$TMP"/{out,err,ctl.in,ctl.out,monitor}
	mkfifo "$TMP"/{out,err,ctl.in,ctl.out}
	: >"$TMP/klog"
	case $ARCH in
	x86_64)
		console=ttyS0
		ports='LAB_OUT=ttyS1 LAB_ERR=ttyS2 LAB_CTL=ttyS3'
		# four interrupts for four ports: a shared one is lost now and then
		qemu=(qemu-system-x86_64 -machine pc -cpu "$cpu"
			-device isa-serial,chardev=klog,index=0
			-device isa-serial,chardev=out,index=1
			-device isa-serial,chardev=err,index=2,irq=5
			-device isa-serial,chardev=ctl,index=3,irq=7)
		if [[ -n ${STAPWATCH_KVM:-} && -z $ICOUNT ]]; then
			accel=kvm
			qemu[4]=host
		fi
		;;
	aarch64)
		console=ttyAMA0
		ports='LAB_OUT=ttyS0 LAB_ERR=ttyS1 LAB_CTL=ttyS2'
		qemu=(qemu-system-aarch64 -machine virt -cpu cortex-a72
			-serial chardev:klog
			-device pci-serial,chardev=out
			-device pci-serial,chardev=err
			-device pci-serial,chardev=ctl)
		;;
	esac
	if [[ -n $ICOUNT ]]; then
		qemu+=(-icount 'shift=0,sleep=off')
	fi
	if [[ -n $DEBIAN ]]; then
		# as it is now, until the guest ends
		lock chroot -s
		[[ $memory != 1G ]] || memory=2G
		for shown in "debian=$CHROOT" "tree=$TREE" "build=$BUILD"; do
			qemu+=(-fsdev "local,id=${shown%%=*},path=${shown#*=},security_model=none,readonly=on,multidevs=remap"
				-device "virtio-9p-pci,fsdev=${shown%%=*},mount_tag=${shown%%=*}")
		done
	fi
	qemu+=(-accel "$accel" -m "$memory" -smp "$SMP" -nodefaults -display none -no-reboot
		-chardev "file,id=klog,path=$TMP/klog"
		-chardev "file,id=out,path=$TMP/out"
		-chardev "file,id=err,path=$TMP/err"
		-chardev "pipe,id=ctl,path=$TMP/ctl"
		-monitor "unix:$TMP/monitor,server=on,wait=off"
		-kernel "$dir/vmlinuz" -initrd "$TMP/initrd"
		-append "console=$console $words $ports $APPEND")
	exec {CTL}<>"$TMP/ctl.out" {CTL_IN}<>"$TMP/ctl.in"
	note "booting Linux $(kernel_release "$ARCH" "$KERNEL"), $SMP CPUs${ICOUNT:+, -icount}"
	# a session of its own: a terminal's Ctrl-C is not for QEMU
	spawn setsid nice -n "$POOL_NICE" "${qemu[@]}" </dev/null 2>"$TMP/qemu.log"
	QEMU=$SPAWNED
	tally boot
	STALLER=''
	if [[ -n ${LAB_STALL:-} ]]; then
		spawn bash "$LAB_DIR/lib/stall.sh" "$QEMU" </dev/null
		STALLER=$SPAWNED
	fi
}

tell_guest() {
	echo "$1" >&"$CTL_IN"
}

# Each is that of the job in whose time it came, or that ended last.
fault() {
	FAULTS+=("$job $1")
	GUEST_FAULT+="${GUEST_FAULT:+; }$1"
}

# follow_guest: until the guest ends. Calls on_event LINE for what it reports, and
# lets a job run for ${JOB_SECONDS[name]} and all of them for $GUEST_SECONDS (0: for ever). Sets GUEST_FAULT to what went wrong
# (timeout NAME, hang NAME, boot, died), if anything did, and FAULTS to each of these, after the job in whose time it was.
declare -A JOB_SECONDS=()
GUEST_SECONDS=0
INTERRUPTIBLE=
READER=
STALLER=

boot_seconds() {
	case $KERNEL$ICOUNT in
	kasan1 | kcsan1) echo 900 ;;
	kasan | kcsan | debug1) echo 420 ;;
	*) echo 240 ;;
	esac
}

follow_guest() {
	local PART deadline=$((SECONDS + $(boot_seconds) * PATIENCE)) last=0 job='' state=boot verb rest limit where='' gone=''
	GUEST_FAULT='' FAULTS=()
	# Only noted, and looked at below: bash 5.2 does not survive a trap that ends `read -t`.
	local signal='' interrupts=0
	trap 'signal=130 interrupts=$((interrupts + 1))' INT
	trap 'signal=143' TERM
	trap 'signal=129' HUP
	while :; do
		if [[ -n $signal ]]; then
			# the first Ctrl-C asks the script to end, as without a guest; the second ends everything
			[[ $signal == 130 && $interrupts == 1 && -n $INTERRUPTIBLE && $state != boot ]] || exit "$signal"
			tell_guest interrupt
			signal=
		fi
		if read_part "$CTL" 1; then
			read -r verb rest <<<"$PART"
			case $verb in
			up)
				note "the guest is up"
				deadline=$((SECONDS + 60 * PATIENCE))
				((GUEST_SECONDS == 0)) || last=$((SECONDS + GUEST_SECONDS))
				;;
			begin)
				job=$rest
				state=job
				limit=${JOB_SECONDS[$job]:-0}
				deadline=$((limit > 0 ? SECONDS + limit : 0))
				;;
			end)
				state=between
				deadline=$((SECONDS + 60 * PATIENCE))
				;;
			bye)
				state=bye
				deadline=$((SECONDS + 10))
				;;
			esac
			on_event "$verb" "$rest"
			continue
		fi
		if ! is_running "$QEMU"; then
			# what it said last may not have been read yet
			[[ -n $gone ]] || {
				gone=1
				continue
			}
			[[ $state == bye ]] || fault died
			break
		fi
		# whoever read our output has had enough, as `head` has
		[[ -z $READER || $state != job ]] || is_running "$READER" || exit 141
		if ((last > 0 && SECONDS >= last)); then
			fault "timeout ${job:-boot}"
			break
		fi
		((deadline > 0 && SECONDS >= deadline)) || continue
		case $state in
		bye) break ;;
		boot)
			fault boot
			break
			;;
		job)
			# an orderly end first, so that the log tells a slow job from a hung kernel
			fault "timeout $job"
			state=killed
			deadline=$((SECONDS + 30))
			tell_guest kill
			;;
		*)
			fault "hang ${job:-boot}"
			where=$(where_cpus_are)
			break
			;;
		esac
	done
	normal_traps
	[[ -z $signal ]] || exit "$signal"
	stop_guest
	[[ -z $where ]] || printf '%s\n' "$where" >>"$TMP/klog"
}

# Where a hung guest's CPUs are; with nokaslr System.map is right.
where_cpus_are() {
	local map cpu address
	map=$CHROOT/boot/System.map-$(kernel_release "$ARCH" "$KERNEL")
	{
		echo 'info registers -a'
		sleep 1
	} | socat -t 2 - "UNIX-CONNECT:$TMP/monitor" 2>/dev/null |
		sed -n 's/^CPU#\([0-9]*\).*/\1/p; s/^.*\b\(RIP\|PC\)=\([0-9a-f]*\).*/\2/p' | paste - - |
		while read -r cpu address; do
			printf 'lab: CPU %s is at %s %s\n' "$cpu" "$address" "$(awk -v a="$address" '$1 > a { print f; exit } { f = $3 }' "$map")"
		done
}

stop_guest() {
	# before its PID may be another process's
	[[ -z $STALLER ]] || stop_child "$STALLER"
	stop_child "$QEMU"
	[[ -z $DEBIAN ]] || unlock chroot
	unset "UNREAD[$CTL]"
	exec {CTL}>&- {CTL_IN}>&-
}

# end_readers PID...: who reads a guest that has ended comes to the end, unless the guest never was: then nobody writes
end_readers() {
	local pid
	for pid; do
		waited_within 30 "$pid" "the reading of what the guest printed"
	done
}

# complaints [ALLOWED_REGEXP]: those lines of stdin that are the kernel's complaints
complaints() {
	grep -aE "$BAD_LINES" | grep -avE "$NOT_OURS|${1:-^$}"
}

# bad_lines KLOG [ALL]: the kernel's complaints since our init was up, or all
bad_lines() {
	sed 's/\r$//' "$1" | awk -v up="${2:+1}" '/lab: up$/ { up = 1 } up' | complaints
}

# ran_stale_code KLOG: has the kernel died of a breakpoint that is not in memory? With a thread for each CPU, QEMU may lose a
# write to code that another CPU translates at that moment, and runs for good what was there before; as the kernel patches
# itself, by breakpoints, that is one of these. Of the code around it the kernel tells what memory has. It may be before our
# init is up, as well.
ran_stale_code() {
	local bad code all=all
	! grep -aq 'lab: up' "$1" || all=
	bad=$(bad_lines "$1" $all | sed -n 1p)
	[[ $bad == *'Oops: int3'* ]] || return
	code=$(sed -n '/Oops: int3/,$ s/.* Code: //p' "$1" | sed -n 1p)
	[[ $code =~ \ ([0-9a-f]{2})\ \< && ${BASH_REMATCH[1]} != cc ]]
}

# The complaints with what follows them, for a person.
show_complaints() {
	sed 's/\r$//' "$1" | awk '/lab: up$/ { up = 1 } up' | grep -aE -A 40 -m 3 "$BAD_LINES" | sed -n 1,120p
}
