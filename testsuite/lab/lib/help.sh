# lab help
# shellcheck shell=bash

verb_help() {
	cat <<'TEXT'
lab: the disposable machine on which scripts are compiled, run and tested.
It runs on Debian x86_64 as root. Nothing that it does outlives it but its cache,
and the Debian packages that it installs here: QEMU, mmdebstrap and the like.

	lab setup [--arch x86_64|aarch64] [--kernel K] [--stap 5.1|5.6] [--newest]
		Get what is needed, without options for all of `lab check`; looks for
		newer kernels once a day. All other verbs set up what they lack.
		`current' is the newest of Debian testing's that this stap is known to build
		modules for, or else the LTS one. --newest gets the newest, as kernel
		`newest', and says whether stap builds a module for it.
	lab demo
		The main job, to look at.
	lab check [--full [K/N]] [--stall] [--busy] [--list] [WORD...]
		The tests that each change must pass, or those of an area (unit, front,
		guest, figures), of a file (counts, guest/ppa.exp) or with a word in their
		names; the last line is 'N passed, N failed'. A test that fails is tried once
		more, in a guest of its own, and is listed if it passes then.
		--full adds the LTS kernel, the one that checks itself, those with KASAN and
		kmemleak and with KCSAN, each SystemTap with each kernel, torture, and longer
		runs of fuzzers; what passes the second time only has failed. K/N is the
		Kth of N parts. Without it the parts' results are added up, those of 10
		parts; what has no result for this very tree is run first.
		--stall lets each guest stand still for 200 ms about once a second, and --busy
		has two loops of work beside all: nothing may fail by that.
		--list prints each file with its tier, how many modules it builds, and its
		guests.
	lab check-kasan [FILE...]
		The tests that name that kernel, on it alone.
	lab bench
		What probes cost.
	lab run [GUEST OPTIONS] [--pmu[=PROFILE]] [--load CMD] [--put FILE]... [--timeout S] -- stap|stapwatch|perf ARGS...
		Compile a script with this tree's tapsets, run it in a guest as root.
		stdout is the script's, the exit status too; others are 98 (--timeout)
		and 99 (the kernel complained, hung or died: its words are on stderr).
		--load CMD	a shell command that starts when the probes are armed;
				when it ends, the script is asked to exit
		--put FILE	stands in CMD's directory, executable, and in the
				guest under its own name, so that process("FILE") works
		--timeout S	seconds, from when the script starts
		--pmu[=PROFILE]	with a simulated PMU (x86_64): plain, narrow, nmi or precise; and
				,NAME=VALUE for a parameter of testsuite/guest/pmu: sockets=1
				adds PMUs of a socket, hybrid=1 a CPU of another kind
		-o FILE is written here, -c and -x are the guest's. Ctrl-C asks the
		script to exit; a second one ends the guest. `stapwatch stat',
		`record' and `latency' count, sample and record there; their COMMAND is
		the guest's, and its output goes to stderr.
	lab batch [GUEST OPTIONS] [--timeout S] DIR...
		Run the jobs DIR/NAME/ in one guest, in the order of their names. A guest
		that does not come to its end is followed by another, for the jobs left.
		  args		arguments of stap, one a line; compiled in that directory
				(with -p4 the module is built, and not run)
		  command	`stapwatch', to take that instead of stap
		  load		shell command, as --load
		  put/		files, as --put
		  timeout	seconds, instead of 120 or --timeout
		  guest.sh	runs there in place of staprun, among the files of put/ and
				  modules/M/args (and command), each compiled to M.ko
		  pmu		the PROFILE of --pmu, for this job's time
		  allow		regular expressions of kernel messages that it is meant to cause
		  DIR/monitor	a script that runs here beside the guest; $1 is the socket of
				QEMU's monitor, $2 the kernel's log
		which leaves
		  out err status klog	what the job printed, its exit status, the kernel's
					lines of its time; no status where it did not run to its end
		  compile.err compile.status
		  DIR/status	0, or what went wrong: `timeout JOB', `hang JOB', `died', `boot',
				`the kernel complained'
		  DIR/badlines	its complaints	  DIR/klog	its whole log
		--timeout limits the guest as a whole, too. Exit status 0: all compiled
		and ran, and the kernel did not complain.
	lab shell [--kernel K] [--smp N] [--put FILE]...
		A root shell in a guest; the files stand in /root.
	lab build
		Build this tree in the cache; prints the build directory.
	lab stapwatch ARGS
		The built command, here: `lab stapwatch report TRACE' reports what a
		script in a guest has sampled.
	lab asks [guest options] -- stapwatch ARGS
		What that asks stap for, on such a kernel: stap's arguments, each with a NUL
		after it. Nothing is compiled.
	lab cc [--arch A] -o OUT SRC... [FLAGS]
		A static program for guests.
	lab kbuild [--arch A] [--kernel K] DIR
		Build the kernel modules of DIR (a Kbuild file), in DIR.
	lab modules [--kernel K] NAME...
		Modules of a Debian kernel, which guests have none of; prints their files' names, to
		--put. They may be compressed.
	lab cells
		What kernels each SystemTap makes modules for, one a line.
	lab remove
		Remove the cache; names the packages that the lab has installed here.
	lab tool PACKAGE PROGRAM | stapwatch
		A program of a Debian package, or this tree's command, with the libraries
		that it loads, for x86_64 guests that want it; prints the tar's name, to
		--put and to unpack at the guest's root.

Guest options: --arch x86_64|aarch64, --kernel current|newest|lts|rt|debug|kasan|kcsan, or 5.10, 6.1, 6.12
(lts), 7.2 (current) of Debian (x86_64 only but for current), --stap 5.6|5.1, of Debian testing or
13, --smp N (2; 1 with --icount on aarch64), --icount (one instruction is a nanosecond of
the guest's time), --mttcg (each CPU in a thread of its own), --debian (the guest can
mount the lab's Debian, this tree and its build: 9p's debian, tree and build), --append
WORDS (for its kernel's command line). -v tells of progress where stderr is no terminal.

Environment:
	STAPWATCH_LAB		the cache, ~/.cache/stapwatch-lab
	STAPWATCH_MIRROR	a Debian mirror's URL; else the one that apt uses here
	STAPWATCH_KVM		use KVM
	KERNELS			the kernels that `lab check` uses: current, and all with
				--full
	LAB_NOBUILD		take the build of this tree as it is
TEXT
}
