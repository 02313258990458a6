#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs the tests of time in every environment that a machine without hardware help can have, and
# writes docs/coverage.md: check by environment. What was run already (results in the directory) is
# not run again, so that an environment can be added, or one be run anew after removing its directory.
#
# Usage: scripts/coverage.sh [-o DIR] [LABEL...]     DIR: default results/coverage
#        LABEL: only these environments are run, all that have results are written
#
# Status: 0, or 3 when an environment could not be run or jq is missing. Verdicts do not count.
set -u

cd "$(dirname "$0")/.." || exit 3
dir=results/coverage

usage() {
	sed -n 's/^# \{0,1\}//; /^Usage/,/^Status/p' "$0"
}

while getopts "o:h" option; do
	case $option in
	o) dir=$OPTARG ;;
	h) usage && exit 0 ;;
	*) usage >&2 && exit 3 ;;
	esac
done
shift $((OPTIND - 1))
wanted=" $* "

command -v jq >/dev/null || {
	echo "coverage.sh: jq is needed: install it (Debian, Fedora: jq)" >&2
	exit 3
}

# label|what it is|options of run_tests.sh
environments() {
	cat <<-'END'
		x86 tcg|QEMU's TCG, the distribution's QEMU|-a x86_64 --accel tcg
		x86 tcg sid|QEMU's TCG, QEMU of Debian sid|-a x86_64 --accel tcg --qemu debian:sid
		x86 icount|QEMU's TCG under icount|-a x86_64 --accel icount
		x86 kvm 6.1|KVM (SVM) of Linux 6.1 under QEMU of Debian trixie|-a x86_64 --kernel debian:6.1 --qemu debian:trixie
		x86 kvm 6.12 icount|KVM (SVM) of Linux 6.12 under icount|-a x86_64 --kernel debian:6.12 --accel icount
		x86 kvm 7.2 icount|KVM (SVM) of Linux 7.2 under icount|-a x86_64 --kernel debian:7.2 --accel icount
		arm tcg|QEMU's TCG, the distribution's QEMU|-a arm64 --accel tcg
		arm tcg sid|QEMU's TCG, QEMU of Debian sid|-a arm64 --accel tcg --qemu debian:sid
		arm icount|QEMU's TCG under icount|-a arm64 --accel icount
		arm kvm 6.1|KVM (VHE) of Linux 6.1|-a arm64 --kernel debian:6.1 --qemu debian:trixie
		arm kvm 6.12|KVM (VHE) of Linux 6.12|-a arm64 --kernel debian:6.12 --qemu debian:trixie
		arm kvm 6.12 nvhe|KVM (nVHE) of Linux 6.12, cortex-a72|-a arm64 --kernel debian:6.12 --qemu debian:trixie --kernel-cpu cortex-a72
		arm kvm 6.12 icount|KVM (VHE) of Linux 6.12 under icount|-a arm64 --kernel debian:6.12 --accel icount
		arm kvm 7.2|KVM (VHE) of Linux 7.2|-a arm64 --kernel debian:7.2 --qemu debian:trixie
		arm kvm 7.3 nested|KVM (nested) of Linux 7.3 under QEMU of Debian sid|-a arm64 --kernel debian:7.3 --qemu debian:sid --kernel-cpu max --kernel-append kvm-arm.mode=nested
	END
}

list=$(mktemp "${TMPDIR:-/tmp}/coverage.XXXXXX") || exit 3
trap 'rm -f "$list"' EXIT
mkdir -p "$dir" || exit 3
failed=0
while IFS='|' read -r label what options; do
	out=$dir/${label// /-}
	if [ ! -e "$out/results.json" ] && [[ $wanted == "  " || $wanted == *" ${label// /-} "* ]]; then
		echo "coverage.sh: $label"
		# shellcheck disable=SC2086 # words of options
		./run_tests.sh -g time -o "$out" $options </dev/null >"$out.txt" 2>&1
		status=$?
		tail -n 1 "$out.txt"
		[ $status -lt 3 ] || {
			echo "coverage.sh: '$label' could not be run: see $out.txt" >&2
			failed=3
		}
	fi
	[ -e "$out/results.json" ] || continue
	jq -n --arg column "$label" --arg what "$what" --slurpfile results "$out/results.json" \
		'{$column, $what, results: $results[0]}' >>"$list"
done < <(environments)

jq -r -s -f scripts/coverage.jq "$list" >docs/coverage.md.new || exit 3
mv docs/coverage.md.new docs/coverage.md
echo "docs/coverage.md: $(grep -c '^| ' docs/coverage.md) lines of table"
exit $failed
