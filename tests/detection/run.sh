#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs faults on purpose against the checks that have to notice them, in kernel mode: one boot of the
# kernel an architecture, a machine of its own for each. The same checks run without a fault beside
# them, and what fails there is not put down to a fault.
#
# Usage: tests/detection/run.sh [-f] [-d] [-a ARCH] [-o DIR] [FAULT...]
#        -f: all of the test that has the declared check, not this check alone
#        -d: write docs/detection.md of all that was run into DIR
#        DIR: default results/detection
#
# Status: 0 every fault was noticed by its check, and none without a fault; 1 not so; 3 no run.
set -u

cd "$(dirname "$0")/../.." || exit 3
dir=results/detection
archs="arm64 x86_64"

usage() {
	sed -n 's/^# \{0,1\}//; /^Usage/,/^Status/p' "$0"
}

full=
doc=
while getopts "fda:o:h" option; do
	case $option in
	f) full=1 ;;
	d) doc=1 ;;
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

# NAME FAULT TEST CHECK: every fault with its check or test, and every one of these without a fault
plan() {
	local fault check test
	while read -r fault check; do
		[ "$check" != - ] || check=$(quiet_test).-
		test=${check%%.*}
		check=${check#*.}
		[ -z "$full" ] || check=-
		echo "$fault--$test $fault $test $check"
		if [ -n "$full" ]; then
			echo "$test - $test -"
		else
			echo "sound--$test--${check//\//-} - $test $check"
		fi
	done < <(faults "$1") | sed 's/--- / /' | sort -u
}

# One line a fault
show() {
	jq -r '(.sound[] | "FAILED   without a fault: \(.name): \(.wrong | join(" ")) \(.reason // "")"),
		(.rows[] | "\(if .noticed then "noticed" else "MISSED " end)  \(.name)  \(.check)  \(.ms) ms" +
			"  \(.failed - [.check] | join(" ")) \(.reason // "")")' "$1"
}

failed=0
for arch in $archs; do
	out=$dir/$arch${full:+-full}
	plan "$arch" >"$dir/plan"
	[ -s "$dir/plan" ] || continue
	awk -v arch="$arch" -f tests/detection/plan.awk "$dir/plan" unittests.cfg >"$out.cfg"
	rm -rf "$out"
	# shellcheck disable=SC2046 # words of options
	./run_tests.sh $(options "$arch") --config "$out.cfg" -o "$out" </dev/null >"$out.txt" 2>&1
	[ $? -lt 3 ] || {
		echo "detection: $arch could not be run: see $out.txt" >&2
		exit 3
	}
	jq --arg arch "$arch" --rawfile faults "$dir/faults.txt" -f tests/detection/judge.jq \
		"$out/results.json" >"$out.judged" || exit 3
	show "$out.judged"
	! show "$out.judged" | grep -q '^\(MISSED\|FAILED\)' || failed=1
done
if [ -n "$doc" ]; then
	jq -r -s --rawfile coverage docs/coverage.md -f tests/detection/report.jq "$dir"/*.judged \
		>docs/detection.md.new || exit 3
	mv docs/detection.md.new docs/detection.md
fi
exit $failed
