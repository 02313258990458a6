#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Fetching kernels and QEMUs: bad requests, what is missing on this host, and the cache. Nothing
# here goes to a network: the mirror is a port of this host on which nobody listens.

# shellcheck source-path=SCRIPTDIR source=suite.sh
. "$(dirname "$0")/suite.sh"

nowhere=http://127.0.0.1:9/debian

# fetch ARGUMENT... : with a cache in the test's directory
fetch() {
	env XDG_CACHE_HOME="$PWD/cache" KTT_APT_MIRROR="${mirror:-$nowhere}" timeout 60 \
		"$root/scripts/fetch.sh" "$@" >stdout 2>stderr </dev/null
	status=$?
}

# The cache entry of a kernel, as a fetch leaves it.
make_entry() {
	local cache=$PWD/cache/kvm-time-tests entry
	entry=$cache/kernels/arm64/6.99.1-test
	mkdir -p "$entry/root/boot" "$entry/root/lib/modules/6.99.1-test" "$cache/requests"
	echo image >"$entry/root/boot/vmlinuz-6.99.1-test"
	echo module >"$entry/root/lib/modules/6.99.1-test/a.ko"
	printf '%s\n' kernel=./root/boot/vmlinuz-6.99.1-test modules=./root/lib/modules/6.99.1-test \
		version=6.99.1-test >"$entry/entry"
	find "$entry" -type f -exec touch -d 2002-02-02 {} +
	(cd "$entry" && find . ! -type d ! -path ./manifest -printf '%p %y %s %Ts %l\n' |
		LC_ALL=C sort) >"$entry.manifest"
	mv "$entry.manifest" "$entry/manifest"
	echo kernels/arm64/6.99.1-test >"$cache/requests/kernel-arm64-6.99"
}

bad_requests() {
	local request
	for request in "" nonsense kernel "kernel 6.12" "qemu" "qemu a b" "kernel 6.12 mips" \
		"kernel ../6.12 arm64" "kernel UPPER arm64"; do
		# shellcheck disable=SC2086 # several arguments
		fetch $request
		expect_status 3
		expect_text stderr '^fetch\.sh: .*(--help|scripts/fetch\.sh|architecture|neither)'
		[ ! -s stdout ] || complain "'$request' printed: $(cat stdout)"
	done
	[ ! -e cache ] || complain "a bad request made a cache"
}

bad_mirror() {
	mirror="not an address" fetch kernel 6.12 arm64
	expect_status 3
	expect_text stderr "KTT_APT_MIRROR='not an address'"
}

# fetch_without_apt ARGUMENT... : all other tools are there
fetch_without_apt() {
	local tool
	mkdir -p bin
	for tool in env bash timeout sed sort find cmp; do
		ln -sf "$(command -v "$tool")" bin/
	done
	PATH=$PWD/bin fetch "$@"
}

no_apt() {
	fetch_without_apt kernel 6.12 arm64
	expect_status 3
	expect_text stderr 'apt-get is not here'
	expect_text stderr -- '--kernel FILE'
}

no_network() {
	fetch qemu trixie
	expect_status 3
	expect_text stderr "$nowhere: the package lists of .* could not be read"
	[ -z "$(ls -d cache/kvm-time-tests/scratch.* 2>/dev/null)" ] || complain "scratch files are left"
}

cache_that_cannot_be_written() {
	: >cache
	fetch kernel 6.12 arm64
	expect_status 3
	expect_text stderr 'cache/kvm-time-tests: cannot be written; set XDG_CACHE_HOME'
}

relative_cache() {
	env XDG_CACHE_HOME=somewhere "$root/scripts/fetch.sh" kernel 6.12 arm64 >stdout 2>stderr
	status=$?
	expect_status 3
	expect_text stderr 'absolute'
}

cache_answers() {
	make_entry
	fetch kernel 6.99 arm64
	expect_status 0
	expect_text stdout "^kernel=$PWD/cache/kvm-time-tests/kernels/arm64/6.99.1-test/root/boot/vmlinuz-6.99.1-test\$"
	expect_text stdout "^modules=$PWD/cache/.*/root/lib/modules/6.99.1-test\$"
	expect_text stdout '^version=6.99.1-test$'
	[ ! -s stderr ] || complain "stderr: $(cat stderr)"
}

moved_cache_answers() {
	make_entry
	mkdir elsewhere && mv cache/kvm-time-tests elsewhere/ && rmdir cache && mv elsewhere cache
	fetch kernel 6.99 arm64
	expect_status 0
}

# damaged COMMAND... : after the command the entry is not used any more
damaged() {
	rm -rf cache
	make_entry
	(cd cache/kvm-time-tests/kernels/arm64/6.99.1-test && "$@")
	fetch_without_apt kernel 6.99 arm64
	expect_status 3
	expect_text stderr 'apt-get is not here'
	[ ! -s stdout ] || complain "after $*: $(cat stdout)"
}

damage_is_noticed() {
	local module=root/lib/modules/6.99.1-test/a.ko
	make_entry
	fetch_without_apt kernel 6.99 arm64
	expect_status 0
	damaged truncate -s 3 "$module"
	damaged rm root/boot/vmlinuz-6.99.1-test
	damaged touch -d 2001-01-01 "$module"
	damaged touch root/boot/another
	damaged rm manifest
	damaged truncate -s 0 manifest
	damaged rm entry
	damaged ln -sf /etc/passwd "$module"
	# The same length.
	damaged sh -c "echo mOdule >$module"
}

# Where nothing else can be had, it says what can.
cache_is_named_without_network() {
	make_entry
	fetch kernel 6.12 arm64
	expect_status 3
	expect_text stderr "$nowhere: the package lists of .* could not be read"
	expect_text stderr 'without a network there are: kernel-arm64-6\.99$'
}

it "bad requests are refused and leave nothing" bad_requests
it "a bad mirror is named" bad_mirror
it "without apt it says what to give instead" no_apt
it "a cache that cannot be written is named" cache_that_cannot_be_written
it "a relative cache directory is refused" relative_cache
it "what is in the cache needs no network" cache_answers
it "the cache can be moved" moved_cache_answers
it "a damaged cache entry is noticed" damage_is_noticed
if command -v apt-get >/dev/null && ls /usr/share/keyrings/debian-archive-keyring.* >/dev/null 2>&1; then
	it "without a network it says so" no_network
	it "without a network it names what the cache has" cache_is_named_without_network
else
	skip "fetching without a network" "no apt-get or no debian-archive-keyring here"
fi
finish
