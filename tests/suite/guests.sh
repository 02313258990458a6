#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Guests that misbehave: each becomes a clear verdict, the tests beside it still run, and nothing
# is lost. Run for every architecture that was built.

# shellcheck source-path=SCRIPTDIR source=suite.sh
. "$(dirname "$0")/suite.sh"

arch=x86_64

run_mode() {
	run_suite --accel tcg -a "$arch" --config "$suite_dir/misbehave.cfg" "$@"
}

# judged VERDICT TEST : its verdict in results.json
judged() {
	expect_json ".tests[] | select(.name == \"$2\") | .verdict == \"$1\""
}

panic_is_error() {
	run_mode panic good
	expect_status 1
	judged error panic
	judged pass good
	expect_text stdout '^ERROR +'"$arch"'/panic'
	expect_text stdout 'misbehave_panic|panic'
	expect_json '.tests[] | select(.name == "panic") | .backtrace | test("main")'
	expect_text stdout '^1 passed, 1 failed, 0 skipped$'
}

assert_is_error() {
	run_mode assert
	expect_status 1
	judged error assert
	expect_text stdout 'assertion failed'
}

hang_is_timeout() {
	run_mode hang good
	expect_status 1
	judged timeout hang
	judged pass good
	expect_text stdout '^TIMEOUT +'"$arch"'/hang'
	expect_no_process 'qemu-system.*mode=hang'
}

silence_is_timeout() {
	run_mode silent
	expect_status 1
	judged timeout silent
}

exception_is_error() {
	run_mode exception
	expect_status 1
	judged error exception
	expect_json '.tests[0].backtrace | test("main")'
}

triple_fault_is_error() {
	run_mode triple-fault good
	expect_status 1
	judged error triple-fault
	judged pass good
	expect_text stdout 'reset'
}

stack_smash_is_error() {
	run_mode smash
	expect_status 1
	judged error smash
	expect_text stdout 'stack'
}

garbage_is_survived() {
	run_mode garbage
	expect_json '.tests[0].checks | length > 0'
	expect_json '.complete'
	expect_text stdout 'passed, . failed'
}

forged_verdict_is_error() {
	run_mode forge good
	expect_status 1
	judged error forge
	judged pass good
	expect_text stdout 'plan'
}

flood_is_bounded() {
	run_mode flood
	expect_status 1
	judged error flood
	[ "$(stat -c %s "results/logs/$arch/flood.log")" -lt $((20 << 20)) ] ||
		complain "the log has $(stat -c %s "results/logs/$arch/flood.log") bytes"
}

for arch in x86_64 arm64; do
	[ -x "$root/build/$arch/libcflat.a" ] || [ -f "$root/build/$arch/libcflat.a" ] || continue
	it "$arch: a panic is an ERROR with a backtrace" panic_is_error
	it "$arch: an assertion is an ERROR" assert_is_error
	it "$arch: a hang is a TIMEOUT" hang_is_timeout
	it "$arch: silence is a TIMEOUT" silence_is_timeout
	it "$arch: an exception is an ERROR with a backtrace" exception_is_error
	[ $arch = x86_64 ] && it "$arch: a triple fault is an ERROR" triple_fault_is_error
	it "$arch: a smashed stack is an ERROR" stack_smash_is_error
	it "$arch: garbage, NULs and a 1 MB line are survived" garbage_is_survived
	it "$arch: a forged verdict is an ERROR" forged_verdict_is_error
	it "$arch: a flood is stopped" flood_is_bounded
done
finish
