# bash completion for stapwatch(1)				-*- shell-script -*-
# Options, commands, files, and within a script the events of startwatch("...").

# The names that `stapwatch list' knows, for the --pmu of the command line.
_stapwatch_events()
{
	local i pmu=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--pmu)
			pmu=(--pmu "${COMP_WORDS[i + 1]}")
			# the shell takes a = for a word of its own
			[[ ${pmu[1]} != = ]] || pmu[1]=${COMP_WORDS[i + 2]}
			;;
		esac
	done
	# not ${COMP_WORDS[0]}, which may be sudo
	stapwatch list "${pmu[@]}" 2>/dev/null | sed 's/[[:blank:]].*//'
}

# Completes $1, which ends within the string of an event.
_stapwatch_script()
{
	local head quote=\" event closing
	head=${1%\"*}
	# -e "probe kernel.startwatch(\"cy
	[[ $head != *\\ ]] || quote='\"' head=${head%\\}
	event=${1##*\"}
	# what is put in place of an open quotation is what stands in it
	head=${head#[\"\']}
	mapfile -t COMPREPLY < <(compgen -W "$(_stapwatch_events)" -- "$event")
	((${#COMPREPLY[@]})) || return
	COMPREPLY=("${COMPREPLY[@]/#/"$head$quote"}")
	((${#COMPREPLY[@]} == 1)) || return
	# of one match the shell would think that the script ends with it
	closing="$quote)"
	[[ $head != *pmu_profile\( ]] || closing=:
	COMPREPLY=("${COMPREPLY[0]}$closing" "${COMPREPLY[0]}$closing ")
}

# For `ppa': its options, processes, modules that account.
_stapwatch_ppa()
{
	local modules keys words=" ${COMP_WORDS[*]} "
	local causes='disk page reclaim lock futex pipe socket poll sleep
		child stopped device work kernel'
	case $prev in
	-p)
		mapfile -t COMPREPLY < <(cd /proc && compgen -G '[0-9]*' | grep "^$cur")
		return
		;;
	--sort)
		# the shell takes a = for a word of its own
		case ${words// = / } in
		*' --irqs '*) keys='time count' ;;
		*' --locks '*) keys='time count longest spun blocked' ;;
		*' --syscalls '*)
			keys="cpu system ready time count errors longest blocked
				$causes"
			;;
		*' --by cpu '*) keys='cpu system syscalls latency switches' ;;
		*' --by process '* | *' --by cgroup '*)
			keys="cpu system ready blocked $causes"
			;;
		*)
			keys="cpu system syscalls latency switches ready longest
				blocked $causes"
			;;
		esac
		mapfile -t COMPREPLY < <(compgen -W "$keys" -- "$cur")
		return
		;;
	--by)
		mapfile -t COMPREPLY < <(compgen -W 'thread process cgroup cpu' -- "$cur")
		return
		;;
	-[ciInt] | --threads)
		return
		;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W '-p -t -a -c -i -I -n --sort --by --why --irqs --syscalls --locks --threads --json -o' -- "$cur")
		return
	fi
	if [[ $prev == -o ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
	fi
	modules=$(compgen -G '/proc/systemtap/*/ppa')
	modules=${modules//\/proc\/systemtap\/}
	mapfile -t COMPREPLY < <(compgen -W "${modules//\/ppa}" -- "$cur")
}

# For `top' and `metrics': their options, modules that have a map, files.
_stapwatch_map()
{
	local options='-n -d -I --sort --json --csv' maps
	[[ ${COMP_WORDS[1]} == top ]] || options='--listen --prometheus'
	case $prev in
	--sort)
		mapfile -t COMPREPLY < <(compgen -W 'name value rate' -- "$cur")
		return
		;;
	-[ndI] | --listen)
		return
		;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
		return
	fi
	maps=$(compgen -G '/proc/systemtap/*/stapwatch/map')
	maps=${maps//\/proc\/systemtap\/}
	mapfile -t COMPREPLY < <(
		compgen -W "${maps//\/stapwatch\/map}" -- "$cur"
		[[ $cur != */* ]] || compgen -f -- "$cur"
	)
	compopt -o filenames 2>/dev/null
}

# For `report': its options, their values, files.
_stapwatch_report()
{
	local options='--annotate --between --branches --by --callees --callers --chrome --comm
		-C --csv --diff -e --flamegraph --folded --follow --idle --image --inclusive --inline
		-i --json --kallsyms --limit --no-demangle -o -p --perfetto --pprof --root
		--samples --sort --symbol -t --time --timeline -v --wall'
	local names='comm pid tid cpu wait image symbol line block address stack
		data source trace'
	local head=
	case $prev in
	--by)
		[[ $cur != *,* ]] || head=${cur%,*},
		mapfile -t COMPREPLY < <(
			compgen -P "$head" -W "$names" -- "${cur##*,}")
		compopt -o nospace 2>/dev/null
		return
		;;
	--sort)
		mapfile -t COMPREPLY < <(
			compgen -W 'events samples name change' -- "$cur")
		return
		;;
	--annotate | --comm | -C | --cpu | -e | --event | --image | --limit | -p | --pid | \
		--symbol | -t | --tid | --time | --between)
		return
		;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
		return
	fi
	mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	compopt -o filenames 2>/dev/null
}

# For `stat', `latency' and `record': their options, events, processes, a command.
_stapwatch_starts()
{
	local options
	case ${COMP_WORDS[1]} in
	stat) options='-e --every -a -C -p -t -G -c -I -r --per-thread --estimate --json -o -v' ;;
	latency) options='-e -p -t -G -a -c --by --over -I -n --svg --force --json -o -v' ;;
	record) options='-e -F -g -a -C -p -t -G -c --wall --mark --timeline --keep --dump --activate --for -o -v' ;;
	esac
	case $prev in
	-e)
		mapfile -t COMPREPLY < <(compgen -W "$(_stapwatch_events)" -- "$cur")
		return
		;;
	-[pt])
		mapfile -t COMPREPLY < <(cd /proc && compgen -G '[0-9]*' | grep "^$cur")
		return
		;;
	--by)
		mapfile -t COMPREPLY < <(compgen -W 'cpu process arg1 arg2 arg3 arg4 arg5 arg6' -- "$cur")
		return
		;;
	-o | --svg)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--every | --over | --mark | --keep | --dump | --activate | --for | -[CFGIcn])
		return
		;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
		return
	fi
	mapfile -t COMPREPLY < <(compgen -c -- "$cur")
}

_stapwatch()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local own='--lower --explain --pmu --json-schema --help --version'
	local stap='--all-modules --bpf --build-as --check-version --clean-cache
		--client-options --color --colour --compatible --debug
		--disable-cache --download-debuginfo --dump-functions
		--dump-probe-aliases --dump-probe-types --dyninst --example
		--interactive --language-server --ldd --list-servers --modinfo
		--monitor --no-global-var-display --poison-cache --privilege
		--prologue-searching --remote --remote-prefix --rlimit-as
		--rlimit-cpu --rlimit-fsize --rlimit-nproc --rlimit-stack
		--runtime --save-uprobes --semantic-keep-going --sign-module
		--skip-badvars --suppress-handler-errors --suppress-time-limits
		--sysenv --sysroot --target-namespaces --tmpdir --trust-servers
		--unprivileged --use-http-server --use-server
		--use-server-on-error --vp'
	COMPREPLY=()

	if [[ $cur =~ (startwatch|elapsed|pmu_profile)\(\\?\"[^\"\\]*$ ]]; then
		_stapwatch_script "$cur"
		return
	fi
	if [[ ${COMP_WORDS[1]} == @(top|metrics) ]] && ((COMP_CWORD > 1)); then
		_stapwatch_map
		return
	fi
	if [[ ${COMP_WORDS[1]} == ppa ]] && ((COMP_CWORD > 1)); then
		_stapwatch_ppa
		return
	fi
	if [[ ${COMP_WORDS[1]} == @(stat|latency|record) ]] && ((COMP_CWORD > 1)); then
		_stapwatch_starts
		return
	fi
	if [[ ${COMP_WORDS[1]} == help ]] && ((COMP_CWORD > 1)); then
		mapfile -t COMPREPLY < <(compgen -W 'list top metrics ppa stat latency record report' -- "$cur")
		return
	fi
	if [[ ${COMP_WORDS[1]} == report ]] && ((COMP_CWORD > 1)); then
		_stapwatch_report
		return
	fi
	case $prev in
	-I | -R | --sysroot | --tmpdir)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return
		;;
	-p)
		mapfile -t COMPREPLY < <(compgen -W '1 2 3 4 5' -- "$cur")
		return
		;;
	-[aBcDeEGlLmrsSTxJ] | --pmu | --remote | --vp)
		return
		;;
	esac
	if [[ ${COMP_WORDS[1]} == list ]] && ((COMP_CWORD > 1)); then
		if [[ $cur == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W '--json --pmu' -- "$cur")
		else
			mapfile -t COMPREPLY < <(compgen -W "$(_stapwatch_events)" -- "$cur")
		fi
		return
	fi
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$own $stap" -- "$cur")
		return
	fi
	mapfile -t COMPREPLY < <(
		compgen -f -X '!*.stp' -- "$cur"
		compgen -d -- "$cur"
		((COMP_CWORD > 1)) || compgen -W 'list top metrics ppa stat latency record report help' -- "$cur"
	)
	compopt -o filenames 2>/dev/null
}

complete -F _stapwatch stapwatch
