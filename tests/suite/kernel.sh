#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Kernel mode: what is no kernel, a kernel that gets nowhere, and the same words from two
# deterministic runs. Tests that boot are skipped where no kernel can be fetched.

# shellcheck source-path=SCRIPTDIR source=suite.sh
. "$(dirname "$0")/suite.sh"

not_an_image() {
	head -c 100000 /dev/urandom >noise
	run_suite --kernel "$PWD/noise" selftest
	expect_status 3
	expect_text stderr 'noise: neither a bzImage'
}

image_too_short() {
	echo short >short
	run_suite --kernel "$PWD/short" selftest
	expect_status 3
	expect_text stderr 'short: .*too few'
}

image_missing() {
	run_suite --kernel "$PWD/nowhere" selftest
	expect_status 3
	expect_text stderr 'nowhere: No such file'
}

tree_not_built() {
	mkdir -p tree
	run_suite --kernel "$PWD/tree" selftest
	expect_status 3
	expect_text stderr 'tree: no built kernel'
}

modules_missing() {
	run_suite --kernel "$kernel" --modules "$PWD/nowhere" -a arm64 selftest
	expect_status 3
	expect_text stderr 'modules .*nowhere: no such directory'
}

wrong_arch() {
	run_suite --kernel "$kernel" -a x86_64 selftest
	expect_status 3
	expect_text stderr 'is for arm64, not x86_64'
}

# A header that promises a kernel and nothing behind it: the CPU runs zeroes.
never_boots() {
	head -c 64 "$kernel" >hollow
	truncate -s 1M hollow
	run_suite --kernel "$PWD/hollow" -a arm64 --kernel-timeout 3 selftest
	expect_status 1
	expect_json '.tests[0].verdict == "error"'
	expect_text stdout 'did not come as far as the runner|powered off|was reset|QEMU'
	expect_no_process 'kernel .*hollow'
	[ -z "$(find results -name '.initramfs*')" ] || complain "an initramfs was left"
}

panics() {
	run_suite --kernel "$kernel" -a arm64 --kernel-append "rdinit=/nowhere" selftest
	expect_status 1
	expect_json '.tests[0].verdict == "error"'
	expect_text stdout 'the kernel panicked'
	expect_text stdout 'Kernel panic'
}

no_kvm() {
	run_suite --kernel "$kernel" -a arm64 --kernel-append "kvm-arm.mode=none" selftest
	expect_status 1
	expect_json '.tests[0].verdict == "error"'
	expect_text stdout '/dev/kvm'
}

deterministic() {
	local n
	for n in 1 2; do
		timeout 120 "$run" --kernel "$kernel" -a arm64 --accel icount -o "r$n" selftest \
			>stdout 2>stderr
		status=$?
		expect_status 0
	done
	cmp r1/ktap.txt r2/ktap.txt || complain "two runs under icount differ"
}

interrupted() {
	timeout 60 "$root/build/$(host_arch)/host/runner" --kernel "$kernel" -a arm64 -o results \
		--repeat 1000 selftest >stdout 2>stderr &
	local pid=$!
	wait_for 40 grep -q PASS stdout || complain "no verdict came: $(cat stdout stderr)"
	kill -INT "$(pgrep -P "$pid" -f host/runner | head -n 1)"
	wait "$pid"
	status=$?
	expect_status 3
	expect_json '.interrupted and (.tests | length) >= 1'
	expect_no_process "$kernel"
	[ -z "$(find results -name '.initramfs*')" ] || complain "an initramfs was left"
}

host_arch() {
	case $HOSTTYPE in aarch64) echo arm64 ;; *) echo x86_64 ;; esac
}

it "what is no kernel is refused" not_an_image
it "a kernel that is too short is refused" image_too_short
it "a kernel that is missing is named" image_missing
it "a tree that was not built is named" tree_not_built
kernel=$("$root/scripts/fetch.sh" kernel 6.1 arm64 2>"$scratch/fetch.err" | sed -n 's/^kernel=//p')
if [ -n "$kernel" ] && [ -x "$root/build/arm64/host/runner" ]; then
	it "modules that are missing are named" modules_missing
	it "a kernel of another architecture is refused" wrong_arch
	it "a kernel that never boots is an ERROR" never_boots
	it "a kernel that panics is an ERROR with its last words" panics
	it "a kernel without KVM is an ERROR that says so" no_kvm
	it "two runs under icount say the same" deterministic
	it "an interrupted run leaves whole files and no machine" interrupted
else
	skip "tests that boot a kernel" "none could be fetched: $(tail -n 1 "$scratch/fetch.err")"
fi
finish
