#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A test in one file: it judges, says so in its status, and leaves nothing behind, whatever ends it.

# shellcheck source-path=SCRIPTDIR source=suite.sh
. "$(dirname "$0")/suite.sh"

native=x86_64
[ "$HOSTTYPE" = aarch64 ] && native=arm64

# Files for these tests in the directory "standalone".
make_files() {
	"$root/scripts/standalone.sh" "$root/build/$native/host/runner" 0.0 "$1" strip \
		aarch64-linux-gnu-strip selftest misbehave timer >make.log 2>&1 ||
		complain "scripts/standalone.sh: $(tail -n 5 make.log)"
}

files=$scratch/files
make_files "$files"

# alone NAME OPTION...: runs that file, in a TMPDIR of its own that has to be empty afterwards
alone() {
	local name=$1
	shift
	mkdir -p tmp
	TMPDIR=$PWD/tmp timeout 100 "$files/$name" "$@" >stdout 2>stderr </dev/null
	status=$?
	[ -z "$(ls tmp)" ] || complain "left in TMPDIR: $(ls tmp)"
}

passes() {
	local arch
	for arch in x86_64 arm64; do
		alone selftest -A tcg -a "$arch"
		expect_status 0
		expect_text stdout '^KTAP version 1$'
		expect_text stdout '^    ok [0-9]+ exceptions$'
		expect_text stdout "^ok 1 $arch/selftest\$"
		expect_no_text stdout 'not ok'
	done
}

fails() {
	alone selftest -A tcg -a x86_64 -p check=nosuch
	expect_status 1
	expect_text stdout '^not ok 1 x86_64/selftest$'
}

panics() {
	alone misbehave -A tcg -a x86_64
	expect_status 1
	expect_text stdout '^not ok 1 x86_64/misbehave # ERROR panic: '
}

hangs() {
	alone misbehave -A tcg -a x86_64 -t 2 -p mode=hang
	expect_status 1
	expect_text stdout '^not ok 1 x86_64/misbehave # TIMEOUT no end after 2 s$'
	expect_no_process "$PWD/tmp"
}

cannot_be_run() {
	alone selftest -q no-such-qemu
	expect_status 3
	expect_text stderr 'no-such-qemu is not there'
	alone selftest -a riscv64
	expect_status 3
	expect_text stderr 'x86_64 arm64'
	alone selftest -A tcg -q /bin/false
	expect_status 3
	expect_text stderr 'did not start'
	alone selftest -t soon
	expect_status 3
	alone timer -a x86_64
	expect_status 3
	expect_text stderr 'arm64'
}

# By SIGTERM it cleans up itself; after SIGKILL its watcher ends QEMU.
ends() {
	local signal
	for signal in TERM KILL; do
		mkdir -p tmp
		TMPDIR=$PWD/tmp "$files/misbehave" -A tcg -a x86_64 -t 60 -p mode=hang >stdout 2>&1 &
		local child=$!
		wait_for 30 pgrep -f "kernel $PWD/tmp/" || complain "QEMU did not start"
		kill -"$signal" "$child"
		wait "$child" 2>/dev/null
		status=$?
		[ "$signal" = KILL ] || expect_status 3
		wait_for 20 eval "! pgrep -f 'kernel $PWD/tmp/'" || complain "QEMU outlives SIG$signal"
		rm -rf tmp
	done
}

unpacks() {
	mkdir image
	alone selftest -a arm64 -x "$PWD/image"
	expect_status 0
	cmp -n "$(stat -c %s "$root/build/arm64/arm/selftest.img")" image/selftest.img \
		"$root/build/arm64/arm/selftest.img" || complain "not the image"
}

same_bytes() {
	make_files again
	cmp "$files/selftest" again/selftest || complain "two builds differ"
}

it "a test in one file passes, for both architectures" passes
it "a check that fails is status 1" fails
it "a panic is status 1 and tells its text" panics
it "a guest that hangs is a TIMEOUT and is ended" hangs
it "what cannot be run is status 3 and says why" cannot_be_run
it "no QEMU outlives it, whatever ends it" ends
it "the image can be unpacked" unpacks
it "two builds have the same bytes" same_bytes
finish
