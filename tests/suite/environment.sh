#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What surrounds a test goes wrong: QEMU missing, dying or silent, an image missing, cut short or of
# another architecture, an accelerator that is not there. Each is an ERROR of the tests concerned.

# shellcheck source-path=SCRIPTDIR source=suite.sh
. "$(dirname "$0")/suite.sh"

fake_qemu() { # fake_qemu BODY : an executable of that shell text
	printf '#!/bin/sh\n%s\n' "$1" >qemu
	chmod +x qemu
}

qemu_missing() {
	run_suite --qemu "$PWD/nowhere" --accel tcg -a x86_64 selftest
	expect_status 3
	expect_text stderr 'nowhere'
}

qemu_dies() {
	# Answers to questions about itself as the real one does, and dies when it is to run a guest.
	# shellcheck disable=SC2016 # for the fake to expand
	fake_qemu 'case "$*" in *-kernel*) echo "out of luck" >&2; exit 1;; esac
exec qemu-system-x86_64 "$@"'
	run_suite --qemu "$PWD/qemu" --accel tcg -a x86_64 selftest
	expect_status 1
	expect_json '.tests[0].verdict == "error"'
	expect_json '.tests[0].stderr | test("out of luck")'
	expect_text stdout 'out of luck'
}

qemu_is_silent() {
	# shellcheck disable=SC2016
	fake_qemu 'case "$*" in *-kernel*) exec sleep 1000;; esac
exec qemu-system-x86_64 "$@"'
	run_suite --qemu "$PWD/qemu" --accel tcg -a x86_64 --timeout 2 selftest
	expect_status 1
	expect_json '.tests[0].verdict == "timeout" or .tests[0].verdict == "error"'
	expect_no_process 'sleep 1000'
}

qemu_cannot_execute() {
	echo nonsense >qemu
	run_suite --qemu "$PWD/qemu" --accel tcg -a x86_64 selftest
	[ "$status" -eq 1 ] || [ "$status" -eq 3 ] || complain "status $status"
	expect_text stderr 'qemu'
}

copy_images() {
	mkdir -p images/x86_64/x86
	cp "$root"/build/x86_64/x86/*.elf images/x86_64/x86/
}

image_missing() {
	copy_images
	rm images/x86_64/x86/counter.elf
	run_suite --images images --accel tcg -a x86_64 selftest counter
	expect_status 1
	expect_json '.tests[] | select(.name == "counter") | .verdict == "error"'
	expect_json '.tests[] | select(.name == "selftest") | .verdict == "pass"'
	expect_text stdout 'counter\.elf'
}

image_truncated() {
	copy_images
	truncate -s 5000 images/x86_64/x86/counter.elf
	run_suite --images images --accel tcg -a x86_64 --timeout 5 selftest counter
	expect_status 1
	expect_json '.tests[] | select(.name == "counter") | .verdict == "error"'
	expect_json '.tests[] | select(.name == "selftest") | .verdict == "pass"'
}

image_of_another_arch() {
	copy_images
	cp "$root/build/arm64/arm/counter.elf" images/x86_64/x86/counter.elf
	run_suite --images images --accel tcg -a x86_64 --timeout 5 selftest counter
	expect_status 1
	expect_json '.tests[] | select(.name == "counter") | .verdict == "error"'
	expect_json '.tests[] | select(.name == "counter") | .reason | test("arm64|aarch64")'
}

kvm_is_asserted() {
	if [ -e /dev/kvm ]; then
		# The guest is of an architecture that this host's KVM cannot run.
		[ -d "$root/build/arm64" ] || return
		run_suite --accel kvm -a arm64 selftest
	else
		run_suite --accel kvm -a x86_64 selftest
	fi
	expect_status 3
	expect_text stderr 'kvm'
}

icount_is_deterministic() {
	timeout 100 "$run" --accel icount -a x86_64,arm64 -o r1 selftest >stdout 2>stderr
	status=$?
	expect_status 0
	timeout 100 "$run" --accel icount -a x86_64,arm64 -o r2 selftest >stdout 2>stderr
	cmp r1/ktap.txt r2/ktap.txt || complain "two runs under icount differ: $(diff r1/ktap.txt r2/ktap.txt)"
}

it "a QEMU that is missing is named" qemu_missing
it "a QEMU that dies at start is an ERROR with its words" qemu_dies
it "a QEMU that is silent does not hold the run up" qemu_is_silent
it "a QEMU that cannot be executed is named" qemu_cannot_execute
it "an image that is missing is an ERROR of its test alone" image_missing
it "an image that is cut short is an ERROR of its test alone" image_truncated
it "an image of another architecture is an ERROR of its test alone" image_of_another_arch
it "--accel kvm is asserted, not replaced" kvm_is_asserted
it "two runs under icount say the same" icount_is_deterministic
finish
