#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guests that attack our own VMM, on KVM in kernel mode: each ends in the verdict that its story in
# x86/hostile.c and arm/hostile.c names, and the test after it runs. host/kvm bounds its own memory
# (main.c, bound_memory()), so that a guest that made it grow would end in an ERROR about that.

# shellcheck source-path=SCRIPTDIR source=suite.sh
. "$(dirname "$0")/suite.sh"

# by architecture
declare -A survived=(
	[x86_64]="ports fw-cfg msrs bulk-edges exit-storm"
	[arm64]="uart calls cpu-on cpu-on-nowhere exit-storm"
)
declare -A ended=(
	[x86_64]="bulk-past bulk-wrap bulk-long mmio-wild code-nowhere"
	[arm64]="bulk-past bulk-wrap bulk-long mmio-wild mmio-pair code-nowhere"
)

# Where the CPU can fault for ever without an exit, or the host may be too slow for the bound.
declare -A ended_or_stopped=(
	[x86_64]="page-tables-nowhere descriptors flood"
	[arm64]="flood"
)

# verdict TEST : as results.json has it
verdict() {
	jq -r --arg t "$1" '.tests[] | select(.name == $t) | .verdict' results/results.json
}

expect_verdict() {
	[ "$(verdict "$2")" = "$1" ] ||
		complain "$2 is '$(verdict "$2")', not $1:" "$(grep -A 3 "/$2 " stdout)"
}

# expect_reason TEST PATTERN : in its reason or in what the VMM said
expect_reason() {
	jq -e --arg t "$1" --arg p "$2" \
		'.tests[] | select(.name == $t) | [.reason, .stderr] | map(strings | test($p)) | any' \
		results/results.json >/dev/null || complain "$1: nothing says '$2'"
}

attack() {
	local name
	# shellcheck disable=SC2086 # lists of words
	run_suite --kernel "$kernel" --qemu debian:trixie -a "$arch" --config "$suite_dir/hostile.cfg" \
		${survived[$arch]} ${ended[$arch]} ${ended_or_stopped[$arch]} exit-loop good
	expect_status 1
	expect_json '.complete'
	for name in ${survived[$arch]}; do
		expect_verdict pass "$name"
	done
	for name in ${ended[$arch]}; do
		expect_verdict error "$name"
	done
	for name in ${ended_or_stopped[$arch]}; do
		[[ $(verdict "$name") =~ ^(error|timeout)$ ]] ||
			complain "$name is '$(verdict "$name")', neither error nor timeout"
	done
	expect_verdict timeout exit-loop
	expect_verdict pass good
	expect_reason bulk-past 'bulk console: 1 bytes at 0x'
	expect_reason bulk-long 'bulk console: 4294967295 bytes'
	expect_reason mmio-wild 'write of 8 bytes at 0x[0-9a-f]*, where this machine has nothing'
	! jq -r '.tests[].stderr // ""' results/results.json | grep -i 'out of memory' ||
		complain "a guest made the VMM run out of its memory"
}

for arch in x86_64 arm64; do
	case $arch in
	x86_64) kernel=debian:6.1 ;;
	arm64) kernel=debian:6.12 ;;
	esac
	if [ ! -x "$root/build/$arch/host/vmm" ]; then
		continue
	elif "$root/scripts/fetch.sh" kernel "${kernel#debian:}" $arch >/dev/null 2>"$scratch/fetch.err" &&
		"$root/scripts/fetch.sh" qemu trixie >/dev/null 2>"$scratch/fetch.err"; then
		it "$arch: what attacks the VMM ends in a verdict" attack
	else
		skip "$arch: what attacks the VMM" "no kernel or QEMU: $(tail -n 1 "$scratch/fetch.err")"
	fi
done
finish
