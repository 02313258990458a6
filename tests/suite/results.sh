#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Results are never lost and never half written: full disk, unwritable places, two runs at once,
# signals, a reader that goes away; and no VMM outlives its runner.

# shellcheck source-path=SCRIPTDIR source=suite.sh
. "$(dirname "$0")/suite.sh"

misbehave="$suite_dir/misbehave.cfg"

result_files_are_whole() {
	run_suite --accel tcg -a x86_64 selftest
	expect_status 0
	expect_json '.complete and .schema == 1 and (.tests | length) == 1'
	expect_json '.environment.host.kernel | length > 0'
	expect_json '.tests[0].checks | length > 3'
	expect_text results/ktap.txt '^KTAP version 1$'
	expect_text results/ktap.txt '^ok 1 x86_64/selftest'
	[ -s results/logs/x86_64/selftest.log ] || complain "no log"
}

output_is_a_file() {
	: >results
	run_suite selftest
	expect_status 3
	expect_text stderr 'results'
}

output_cannot_be_made() {
	timeout 60 "$run" -o /proc/nowhere/x selftest >stdout 2>stderr
	status=$?
	expect_status 3
	expect_text stderr '/proc/nowhere'
}

disk_full() {
	mkdir -p small
	if ! mount -t tmpfs -o size=16k none small 2>/dev/null; then
		complain "cannot mount a small file system (needs root)"
		return
	fi
	timeout 60 "$run" --accel tcg -a x86_64 -o small/r selftest >stdout 2>stderr
	status=$?
	umount small
	expect_status 3
	expect_text stderr 'small/r.*([Nn]o space|full)'
}

two_runs_at_once() {
	KTT_RESULTS=$PWD/runs timeout 100 "$run" --accel tcg -a x86_64 selftest >out1 2>&1 &
	local first=$!
	KTT_RESULTS=$PWD/runs timeout 100 "$run" --accel tcg -a x86_64 selftest >out2 2>&1
	local second_status=$?
	wait "$first" || complain "the first run failed: $(tail -n 3 out1)"
	[ "$second_status" -eq 0 ] || complain "the second run failed: $(tail -n 3 out2)"
	[ "$(find runs -mindepth 1 -maxdepth 1 -type d | wc -l)" -eq 2 ] ||
		complain "not two directories: $(ls runs)"
	[ -f runs/latest/results.json ] || complain "latest points nowhere"
}

# Starts a run of a guest that hangs, in the background, and waits until its QEMU is there.
start_hanging() {
	timeout 100 "$root/build/$(host_arch)/host/runner" --accel tcg -a x86_64 --config "$misbehave" -j 1 \
		--timeout 90 -o results good hang >stdout 2>stderr &
	runner_pid=$!
	wait_for 20 pgrep -f 'qemu-system-x86_64.*mode=hang' || complain "no QEMU came up"
}

host_arch() {
	case $HOSTTYPE in aarch64) echo arm64 ;; *) echo x86_64 ;; esac
}

runner_of() {
	pgrep -P "$runner_pid" -f 'host/runner' | head -n 1
}

signal_leaves_whole_files() {
	local signal
	for signal in INT TERM; do
		rm -rf results
		start_hanging
		kill -"$signal" "$(runner_of)"
		wait "$runner_pid"
		status=$?
		expect_status 3
		expect_json '.interrupted and (.complete | not)'
		expect_text results/ktap.txt '^ok 1 x86_64/good'
		expect_no_process 'qemu-system-x86_64.*mode=hang'
	done
}

kill_leaves_no_qemu() {
	start_hanging
	kill -KILL "$(runner_of)"
	wait "$runner_pid" 2>/dev/null
	no_qemu() { ! pgrep -f 'qemu-system-x86_64.*mode=hang'; }
	wait_for 5 no_qemu || complain "a QEMU outlived its runner"
	expect_json '.tests | length >= 0'
}

reader_goes_away() {
	timeout 60 "$run" --accel tcg -a x86_64 -o results selftest 2>stderr | head -n 1 >stdout
	expect_json '.complete and (.tests[0].verdict == "pass")'
}

repetitions() {
	run_suite --accel tcg -a x86_64 --repeat 3 selftest
	expect_status 0
	expect_json '[.tests[].repetition] == [1, 2, 3]'
	expect_text stdout '^3 passed, 0 failed, 0 skipped$'
}

ktap_on_stdout() {
	run_suite --accel tcg -a x86_64 --ktap selftest
	expect_status 0
	expect_text stdout '^KTAP version 1$'
	expect_text stdout '^1\.\.1$'
	expect_text stdout '^ok 1 x86_64/selftest'
}

it "a run writes whole result files" result_files_are_whole
it "an output that is a file is refused" output_is_a_file
it "an output that cannot be made is refused" output_cannot_be_made
if [ "$(id -u)" -eq 0 ]; then
	it "a full disk is said, status 3" disk_full
else
	skip "a full disk is said, status 3" "mounting a small file system needs root"
fi
it "two runs at once do not meet" two_runs_at_once
it "SIGINT and SIGTERM leave whole files and no QEMU" signal_leaves_whole_files
it "SIGKILL leaves no QEMU" kill_leaves_no_qemu
it "a reader that goes away loses nothing" reader_goes_away
it "--repeat counts repetitions" repetitions
it "--ktap prints KTAP" ktap_on_stdout
finish
