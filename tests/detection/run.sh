#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs faults on purpose against the tests that have to notice them, in kernel mode: one boot of the
# kernel an architecture, a machine of its own for each. A fault runs against the test of its declared
# check; the tests without a fault run beside them, and what they fail is not put down to a fault.
# Writes docs/detection.md when all faults were run.
#
# Usage: tests/detection/run.sh [-a ARCH] [-o DIR] [FAULT...]     DIR: default results/detection
#
# Status: 0 every fault was noticed by its check, and none without a fault; 1 not so; 3 no run.
set -u

cd "$(dirname "$0")/../.." || exit 3
dir=results/detection
archs="arm64 x86_64"

usage() {
	sed -n 's/^# \{0,1\}//; /^Usage/,/^Status/p' "$0"
}

while getopts "a:o:h" option; do
	case $option in
	a) archs=$OPTARG ;;
	o) dir=$OPTARG ;;
	h) usage && exit 0 ;;
	*) usage >&2 && exit 3 ;;
	esac
done
shift $((OPTIND - 1))
wanted=" $* "

command -v jq >/dev/null || {
	echo "detection: jq is needed: install it (Debian, Fedora: jq)" >&2
	exit 3
}
mkdir -p "$dir" || exit 3
./run_tests.sh --list-faults >"$dir/faults.txt" || exit 3

# Where the faults of an architecture are run.
options() {
	case $1 in
	arm64) echo "--kernel debian:6.12 -a arm64" ;;
	x86_64) echo "--kernel debian:6.12 --accel icount -a x86_64" ;;
	esac
}

# fault|check of an architecture's faults that were asked for
faults() {
	awk -v arch="$1" -v wanted="$wanted" \
		'$2 ~ arch && (wanted == "  " || index(wanted, " " $1 " ")) { print $1, $5 }' "$dir/faults.txt"
}

# A fault that nothing may notice runs against this.
quiet_test() {
	echo "counter"
}

# NAME FAULT TEST: every fault with its test, and every such test without one
plan() {
	local fault check test
	while read -r fault check; do
		test=${check%%.*}
		[ "$check" != - ] || test=$(quiet_test)
		echo "$fault--$test $fault $test"
		echo "$test - $test"
	done < <(faults "$1") | sort -u
}

failed=0
for arch in $archs; do
	out=$dir/$arch
	plan "$arch" >"$dir/plan"
	[ -s "$dir/plan" ] || continue
	awk -v arch="$arch" -f tests/detection/plan.awk "$dir/plan" unittests.cfg >"$dir/$arch.cfg"
	rm -rf "$out"
	# shellcheck disable=SC2046 # words of options
	./run_tests.sh $(options "$arch") --config "$dir/$arch.cfg" -o "$out" </dev/null >"$out.txt" 2>&1
	[ $? -lt 3 ] || {
		echo "detection: $arch could not be run: see $out.txt" >&2
		exit 3
	}
	jq -r --arg arch "$arch" --rawfile faults "$dir/faults.txt" -f tests/detection/judge.jq \
		"$out/results.json" >"$out.judged" || exit 3
	cat "$out.judged"
	! grep -q '^\(MISSED\|FAILED\)' "$out.judged" || failed=1
done
exit $failed
