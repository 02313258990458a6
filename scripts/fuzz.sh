#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Fuzzes every reader of what the suite did not write itself (tests/fuzz/NAME.c) with libFuzzer under
# ASan and UBSan. Inputs that found something are left in build/fuzz-findings/; put one into
# tests/fuzz/seeds/NAME/ and the unit tests keep it.
#
# Usage: scripts/fuzz.sh [--seconds N] [--jobs N] [NAME...]     default: 600 s each, 2 at once, all
set -u

cd "$(dirname "$0")/.." || exit 3

usage() {
	sed -n 's/^# \{0,1\}//; 4,8p' "$0" | sed '/^$/d'
}

die() {
	echo "fuzz.sh: $*" >&2
	exit 3
}

seconds=600
jobs=2
names=()
while [ $# -gt 0 ]; do
	case $1 in
	--seconds | --jobs)
		[[ ${2-} =~ ^[1-9][0-9]*$ ]] || die "$1 needs a number"
		declare "${1#--}=$2"
		shift
		;;
	-h | --help)
		usage
		exit 0
		;;
	-*) die "no option '$1'; --help lists them" ;;
	*)
		[ -d "tests/fuzz/seeds/$1" ] || die "no target '$1'; they are: $(cd tests/fuzz/seeds && echo *)"
		names+=("$1")
		;;
	esac
	shift
done
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(ls tests/fuzz/seeds)

make -j2 "${names[@]/#/build/fuzz/}" >build/fuzz.log 2>&1 || {
	tail -n 20 build/fuzz.log >&2
	die "the targets do not build; libFuzzer comes with clang (FUZZ_CC=clang)"
}

findings=build/fuzz-findings
mkdir -p "$findings"

# One target, to its end or its first finding; the last line says which.
fuzz() {
	local name=$1 corpus=build/fuzz-corpus/$1 log=build/fuzz-corpus/$1.log status
	mkdir -p "$corpus"
	build/fuzz/"$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
		-max_len=16384 -artifact_prefix="$findings/$name-" -print_final_stats=1 \
		"$corpus" "tests/fuzz/seeds/$name" >"$log" 2>&1
	status=$?
	awk -v name="$name" -v status=$status '
		/^stat::number_of_executed_units/ { runs = $2 }
		/ cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") cov = $(i + 1) }
		/^SUMMARY|not so:|ERROR: libFuzzer/ { why = why $0 "; " }
		END { printf "%-7s %-14s %d inputs, %d edges covered%s\n", status ? "FOUND" : "ok",
			name, runs, cov, why ? ": " why : "" }' "$log"
	return $status
}

export -f fuzz
export seconds findings
printf '%s\n' "${names[@]}" | xargs -P "$jobs" -I NAME bash -c 'fuzz NAME'
status=$?
[ $status -eq 0 ] || {
	echo "inputs that found something: $findings/; the logs: build/fuzz-corpus/*.log" >&2
	exit 1
}
