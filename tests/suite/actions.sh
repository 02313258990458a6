#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Host actions that go wrong: a QEMU that dies in them, a file that is cut short or cannot be written, a
# guest that panics. Each becomes a clear ERROR, tests beside it still run, and nothing is left.

# shellcheck disable=SC2016 # what a QEMU runs is expanded in it
# shellcheck source-path=SCRIPTDIR source=suite.sh
. "$(dirname "$0")/suite.sh"

# The architecture whose guests QEMU migrates, whatever its version.
arch=arm64
qemu=$(command -v qemu-system-aarch64)

# act WORDS [OPTION...] : the guest that asks for a host action, and one beside it
act() {
	local words=$1
	shift
	run_suite --accel tcg -a "$arch" -j1 --config "$suite_dir/misbehave.cfg" \
		--append "$words" "$@" act good
}

# bad_qemu : a QEMU that runs the commands on stdin before it begins; $incoming says whether it is one
# that goes on from another's state, and its process id becomes a line of the file pids
bad_qemu() {
	{
		printf '#!/bin/bash\n[[ $* == *-incoming* ]] && incoming=yes || incoming=\n'
		printf 'echo $$ >>%q\n' "$PWD/pids"
		cat
		printf 'exec %q "$@"\n' "$qemu"
	} >qemu
	chmod +x qemu
}

judged() {
	expect_json ".tests[] | select(.name == \"$2\") | .verdict == \"$1\""
}

# reason TEST REGEX : of the test or its one check
reason() {
	expect_json ".tests[] | select(.name == \"$1\") |
		[.reason, .checks[].reason] | map(. // \"\") | any(test(\"$2\"))"
}

# No process of any machine, and the neighbour as if nothing had been.
nothing_is_left() {
	local pid

	judged pass good
	while read -r pid; do
		! kill -0 "$pid" 2>/dev/null || complain "QEMU is still there: $pid"
	done <pids
	[ -z "$(find files -mindepth 1)" ] || complain "left behind: $(find files -mindepth 1)"
}

all_go_well() {
	local action

	mkdir files
	bad_qemu </dev/null
	for action in pause snapshot restore migrate; do
		TMPDIR=$PWD/files act "action=$action fields=$([ "$action" = pause ] && echo ms=1)" \
			--qemu "$PWD/qemu"
		expect_status 0
		judged pass act
		nothing_is_left
	done
}

no_machine_to_restore_in() {
	mkdir files
	bad_qemu <<<'[ $incoming ] && { echo "no room for it" >&2; exit 1; }'
	TMPDIR=$PWD/files act "action=restore" --qemu "$PWD/qemu"
	expect_status 1
	judged error act
	reason act "during the host action 'restore': QEMU ended with status 1: no room for it"
	nothing_is_left
}

no_machine_to_migrate_to() {
	mkdir files
	bad_qemu <<<'[ $incoming ] && { echo "no room for it" >&2; exit 1; }'
	TMPDIR=$PWD/files act "action=migrate" --qemu "$PWD/qemu"
	expect_status 1
	judged error act
	reason act "migrate: .*the new machine: QEMU ended with status 1: no room for it"
	nothing_is_left
}

# The one that goes on kills the other, whose process id is the first.
dies_in_migration() {
	mkdir files
	bad_qemu <<<'[ $incoming ] && kill -9 "$(tail -n 2 '"$PWD"'/pids | head -n 1)"'
	TMPDIR=$PWD/files act "action=migrate" --qemu "$PWD/qemu"
	expect_status 1
	judged error act
	reason act "during the host action 'migrate': QEMU was killed by signal 9"
	nothing_is_left
}

# The file has no name but that of the runner's descriptor.
cut_short() {
	mkdir files
	bad_qemu <<<'[ $incoming ] && for f in /proc/$PPID/fd/*; do
		[[ $(readlink "$f") == */kvm-time-tests-* ]] && truncate -s 5000 "$f"; done'
	TMPDIR=$PWD/files act "action=restore" --qemu "$PWD/qemu"
	expect_status 1
	judged error act
	reason act "during the host action 'restore': QEMU "
	nothing_is_left
}

# As on a full disk: QEMU's write() fails. The guest goes on and says so itself.
no_room_for_the_file() {
	mkdir files
	bad_qemu <<<'trap "" XFSZ; ulimit -f 10'
	TMPDIR=$PWD/files act "action=restore" --qemu "$PWD/qemu"
	expect_status 1
	judged error act
	reason act "restore: QEMU did not save the guest: .*"
	expect_json '.tests[] | select(.name == "act") | .checks | length == 1'
	nothing_is_left
}

no_directory_for_the_file() {
	mkdir files
	bad_qemu </dev/null
	TMPDIR=$PWD/absent act "action=snapshot" --qemu "$PWD/qemu"
	expect_status 1
	judged error act
	reason act "snapshot: no file for the guest's state: .*/absent/.*No such file.*TMPDIR"
	nothing_is_left
}

panics_in_an_action() {
	mkdir files
	bad_qemu </dev/null
	TMPDIR=$PWD/files run_suite --accel tcg -a "$arch" -j1 --config "$suite_dir/misbehave.cfg" \
		--append "action=restore fields=down-ms=1000" --qemu "$PWD/qemu" act-and-panic good
	expect_status 1
	judged error act-and-panic
	reason act-and-panic "deliberate panic during a host action"
	nothing_is_left
}

# Whatever it was doing.
killed_runner_leaves_nothing() {
	local pid

	mkdir files
	bad_qemu </dev/null
	TMPDIR=$PWD/files "$run" -o results --accel tcg -a "$arch" --config "$suite_dir/misbehave.cfg" \
		--append "action=restore fields=down-ms=60000" --qemu "$PWD/qemu" act \
		>stdout 2>stderr </dev/null &
	pid=$!
	wait_for 60 grep -q 'action=restore' "results/logs/$arch/act.log" ||
		complain "the guest did not ask"
	sleep 1
	kill -9 "$pid"
	wait "$pid"
	wait_for 10 eval '! kill -0 $(tail -n 1 pids)' || complain "QEMU is still there"
	[ -z "$(find files -mindepth 1)" ] || complain "left behind: $(find files -mindepth 1)"
}

if [ ! -f "$root/build/$arch/libcflat.a" ] || [ -z "$qemu" ]; then
	skip "host actions that go wrong" "no $arch images or no QEMU for them"
	finish
fi
it "host actions leave nothing behind" all_go_well
it "no machine to restore a guest in is an ERROR" no_machine_to_restore_in
it "no machine to migrate a guest to is an ERROR, and the guest goes on" no_machine_to_migrate_to
it "a QEMU that dies in a migration is an ERROR" dies_in_migration
it "a state that is cut short is an ERROR" cut_short
it "no room for a state is an ERROR, and the guest goes on" no_room_for_the_file
it "no directory for a state is an ERROR that tells how to choose one" no_directory_for_the_file
it "a panic during a host action is an ERROR" panics_in_an_action
it "a killed runner leaves nothing of a host action" killed_runner_leaves_nothing
finish
