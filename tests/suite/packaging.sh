#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The suite as something to hand on: installed, as a tarball, its man page and its completion.

# shellcheck source-path=SCRIPTDIR source=suite.sh
. "$(dirname "$0")/suite.sh"

native=x86_64
[ "$HOSTTYPE" = aarch64 ] && native=arm64

build() { # build TARGET [VARIABLE=VALUE...]
	make -s -C "$root" "$@" >make.log 2>&1 || complain "make $* failed: $(tail -n 5 make.log)"
}

options_of_help() {
	"$run" --help | sed -n 's/^  \(-[a-z], \)\{0,1\}\(--[a-z-]*\).*/\2/p' | sort
}

# Every option that is parsed is told by --help, but for those by which runners talk to one another.
help_is_complete() {
	local option told
	told=$(options_of_help)
	while read -r option; do
		case $option in stream | outer-qemu | machines) continue ;; esac
		grep -qx -- "--$option" <<<"$told" || complain "--help does not tell --$option"
	done < <(sed -n 's/^\t{ "\([a-z-]*\)", .*_argument, .*/\1/p' "$root/host/options.c")
	[ "$(wc -l <<<"$told")" -gt 15 ] || complain "--help has too few options: $told"
}

man_page() {
	local option page
	build man
	page=$root/build/run_tests.sh.1
	groff -man -Tascii -P-cbou -ww -rLL=100n "$page" >text 2>complaints || complain "groff: status $?"
	[ ! -s complaints ] || complain "groff complains: $(head -n 5 complaints)"
	for option in $(options_of_help); do
		expect_text text "(^|[ ,])$option( |=|\\[|\$)"
	done
	expect_text text 'Kernel mode'
	expect_no_text "$page" '@[A-Z]+@'
}

# Installed below DESTDIR, moved, with the checkout out of reach and read-only: it runs from there.
installed() {
	build install DESTDIR="$PWD/stage" PREFIX=/usr
	mv stage/usr moved || return
	chmod -R a-w moved
	mkdir here
	cd here || return
	(unset KTT_ROOT KTT_RESULTS && ../moved/bin/run_tests.sh --accel tcg -a x86_64 selftest-user) \
		>../stdout 2>../stderr </dev/null
	status=$?
	cd ..
	expect_status 0
	expect_text stdout '^1 passed, 0 failed'
	jq -e '.environment.suite.git' here/results/latest/results.json >/dev/null ||
		complain "results do not tell the suite's git version"
	grep -rlI "$root" moved && complain "the build directory's name is in an installed file"
	[ -s moved/share/man/man1/run_tests.sh.1 ] || complain "there is no man page"
	chmod -R u+w moved
}

uninstalled() {
	build install DESTDIR="$PWD/stage" PREFIX=/usr
	build uninstall DESTDIR="$PWD/stage" PREFIX=/usr
	find stage ! -type d | grep . && complain "files are left"
}

completion() {
	cat >complete.sh <<-EOF
		. "$root/scripts/completion.bash"
		complete_words() {
			COMP_WORDS=("\$@") COMP_CWORD=\$((\$# - 1)) COMPREPLY=()
			_ktt_complete "\$1"
			echo "\${COMPREPLY[*]}"
		}
		complete_words "$run" --acce
		complete_words "$run" --accel i
		complete_words "$run" selftest-u
		complete_words "$run" -g self,ti
	EOF
	bash complete.sh >stdout 2>stderr
	status=$?
	expect_status 0
	expect_text stdout '^--accel$'
	expect_text stdout '^icount$'
	expect_text stdout '^selftest-user$'
	expect_text stdout '^self,time$'
	[ ! -s stderr ] || complain "stderr: $(cat stderr)"
}

# What checks guard against is in the catalogue, which --explain reads.
guards_are_known() {
	local id
	for id in $(sed -n 's/.*guards = "\([^"]*\)".*/\1/p' "$root"/{x86,arm}/*.c "$root"/lib/*.c \
		"$root"/lib/*/*.c | tr ' ' '\n' | sort -u); do
		grep -q "^| $id |" "$root/docs/catalogue.md" || complain "$id is not in docs/catalogue.md"
	done
}

explains_a_check() {
	run_suite --explain x86_64/counter.cross-cpu
	expect_status 0
	expect_text stdout '^x86_64/counter\.cross-cpu$'
	expect_text stdout '^    K19  '
	expect_text stdout '/run_tests\.sh .*check=cross-cpu x86_64/counter$'
	run_suite --explain counter.cros-cpu
	expect_status 3
	expect_text stderr "mean 'cross-cpu'"
	run_suite --explain countr.cross-cpu
	expect_status 3
	expect_text stderr "mean 'counter'"
}

# It has every option, and of a test every check with what it guards.
reference() {
	local option
	"$root/scripts/reference.sh" "$root/build/$native/host/runner" x86_64/counter >reference.md ||
		complain "scripts/reference.sh: status $?"
	for option in $(options_of_help); do
		expect_text reference.md "^  (-[a-z], )?$option( |=|\\[|\$)"
	done
	expect_text reference.md '^### x86_64/counter$'
	expect_text reference.md '^\| .cross-cpu/2. \| .*T7.* \| RDTSC never .* \|$'
	expect_text reference.md '^deadline-early '
}

# The same bytes twice, and from a clone.
tarball() {
	local file name
	build dist
	file=$(ls "$root"/build/kvm-time-tests-*.tar.gz)
	name=$(basename "$file")
	sha256sum <"$file" >first
	build dist
	sha256sum <"$file" >second
	git clone -q "$root" clone 2>/dev/null
	make -s -C clone dist >clone.log 2>&1 ||
		complain "make dist failed in a clone: $(tail -n 5 clone.log)"
	sha256sum <"clone/build/$name" >third
	cmp -s first second || complain "two builds differ"
	cmp -s first third || complain "that of a clone differs"
	tar -tzf "$file" >list
	expect_text list "^${name%.tar.gz}/run_tests\.sh\$"
	expect_text list "^${name%.tar.gz}/git-version\$"
}

it "--help tells every option" help_is_complete
it "the man page has every option, and groff has no complaint" man_page
it "installed and moved, it runs without the checkout" installed
it "what was installed is uninstalled" uninstalled
it "what checks guard against is in the catalogue" guards_are_known
it "--explain tells of a check, and what is meant by a name that is none" explains_a_check
it "the reference has every option, check and fault" reference
it "bash completes options, tests and groups" completion
if git -C "$root" rev-parse -q --verify HEAD >/dev/null 2>&1; then
	it "the tarball has the same bytes twice, and from a clone" tarball
else
	skip "the tarball has the same bytes twice, and from a clone" "this is no git checkout"
fi
finish
