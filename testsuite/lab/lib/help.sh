# lab help
# shellcheck shell=bash

verb_help() {
	cat <<'TEXT'
lab: the disposable machine on which scripts are compiled, run and tested.
It runs on Debian x86_64 as root. Nothing that it does outlives it but its cache.

	lab setup [--arch x86_64|aarch64] [--kernel current|lts|debug|kasan]
		Get what is needed, without options for all of `lab check`; looks for
		newer kernels once a day. All other verbs set up what they lack.
	lab demo
		The main job, to look at.
	lab check [RUNTEST-ARGS]
		All tests; the last line is 'N passed, N failed'.
	lab check-kasan [RUNTEST-ARGS]
		The tests that name it, of lifecycles and of ppa, on a kernel with KASAN and kmemleak.
	lab bench
		What probes cost.
	lab run [GUEST OPTIONS] [--load CMD] [--put FILE]... [--timeout S] -- stap|stapwatch ARGS...
		Compile a script with this tree's tapsets, run it in a guest as root.
		stdout is the script's, the exit status too; others are 98 (--timeout)
		and 99 (the kernel complained, hung or died: its words are on stderr).
		--load CMD	a shell command that starts when the probes are armed;
				when it ends, the script is asked to exit
		--put FILE	stands in CMD's directory, executable, and in the
				guest under its own name, so that process("FILE") works
		--timeout S	seconds, from when the script starts
		-o FILE is written here, -c and -x are the guest's. Ctrl-C asks the
		script to exit; a second one ends the guest.
	lab batch [GUEST OPTIONS] [--timeout S] DIR
		Run the jobs DIR/NAME/ in one guest, in the order of their names:
		  args		arguments of stap, one a line; compiled in that directory
		  command	`stapwatch', to take that instead of stap
		  load		shell command, as --load
		  put/		files, as --put
		  timeout	seconds, instead of 120 or --timeout
		  guest.sh	runs there in place of staprun, among the files of put/ and
				  modules/M/args (and command), each compiled to M.ko
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
	lab cc [--arch A] -o OUT SRC... [FLAGS]
		A static program for guests.
	lab kbuild [--arch A] [--kernel K] DIR
		Build the kernel modules of DIR (a Kbuild file), in DIR.
	lab tool PACKAGE PROGRAM
		A program of a Debian package, with the libraries that it loads, for
		x86_64 guests that want it; prints the tar's name, to --put and to
		unpack at the guest's root.

Guest options: --arch x86_64|aarch64, --kernel current|lts|debug|kasan (x86_64 only but for
current), --smp N (2; 1 with --icount on aarch64), --icount (one instruction is a nanosecond of
the guest's time), --append WORDS (for its kernel's command line). -v tells of progress where
stderr is no terminal.

Environment:
	STAPWATCH_LAB		the cache, ~/.cache/stapwatch-lab
	STAPWATCH_MIRROR	a Debian mirror's URL; else the one that apt uses here
	STAPWATCH_KVM		use KVM
	STAPWATCH_MTTCG		let QEMU run each CPU in a thread of its own
	KERNELS			the kernels that `lab check` uses: current lts debug
	LAB_NOBUILD		take the build of this tree as it is
TEXT
}
