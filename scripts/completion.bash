# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Completion of run_tests.sh for bash: options as --help tells them, tests and groups as -l lists them.
# Installed with the suite; in a checkout: source scripts/completion.bash

# The runner behind the command that is being completed; nothing where it is not built yet.
_ktt_runner() {
	local command root native=x86_64
	[ "$HOSTTYPE" = aarch64 ] && native=arm64
	command=$(type -P -- "$1") || return
	root=$(dirname -- "$(readlink -f -- "$command")")
	[ -x "$root/build/$native/host/runner" ] || return
	printf '%s\n' "$root/build/$native/host/runner"
}

_ktt_complete() {
	local runner word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} prefix=
	COMPREPLY=()
	runner=$(_ktt_runner "$1") || return 0
	case $before in
	-a | --arch) mapfile -t COMPREPLY < <(compgen -W "x86_64 arm64" -- "$word") ;;
	--vmm) mapfile -t COMPREPLY < <(compgen -W "qemu kvm" -- "$word") ;;
	--accel) mapfile -t COMPREPLY < <(compgen -W "kvm tcg icount" -- "$word") ;;
	-g | --group)
		[[ $word == *,* ]] && prefix=${word%,*},
		mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$("$runner" -l |
			awk '$3 != "-" {print $3}' | tr , '\n' | sort -u)" -- "${word##*,}")
		;;
	-o | --output | --expected | --images | --modules | --merge)
		mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
	--config | --qemu | --kernel) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
	-j | --jobs | --timeout | --repeat | --append | --kernel-*) ;;
	*)
		if [[ $word == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$("$runner" --help |
				sed -n 's/^  \(-[a-z], \)\{0,1\}\(--[a-z-]*\).*/\2/p')" -- "$word")
		else
			mapfile -t COMPREPLY < <(compgen -W "$("$runner" -l |
				awk '{print $1; print $2 "/" $1}' | sort -u)" -- "$word")
		fi
		;;
	esac
}

complete -F _ktt_complete run_tests.sh ./run_tests.sh
