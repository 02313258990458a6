#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The command line and the config: mistakes are named, with the right status, and say what to do.

# shellcheck source-path=SCRIPTDIR source=suite.sh
. "$(dirname "$0")/suite.sh"

unknown_option() {
	run_suite --nonsense
	expect_status 3
	expect_text stderr "nonsense"
	expect_text stderr "help"
}

unknown_test() {
	run_suite nosuch
	expect_status 3
	expect_text stderr "nosuch"
	expect_text stderr "selftest"
}

near_miss_is_suggested() {
	run_suite selftst
	expect_status 3
	expect_text stderr "selftest"
}

unknown_group() {
	run_suite -g nosuch
	expect_status 3
	expect_text stderr "nosuch"
	expect_text stderr "time"
}

unknown_arch() {
	run_suite -a riscv64
	expect_status 3
	expect_text stderr "riscv64"
	expect_text stderr "x86_64"
}

bad_numbers() {
	local option
	for option in "-j 0" "-j x" "--timeout -1" "--repeat 0" "--repeat 1x" "--accel xen" "--vmm bhyve"; do
		# shellcheck disable=SC2086 # an option and its value
		run_suite $option selftest
		expect_status 3
		expect_text stderr "${option#* }"
	done
}

list() {
	run_suite -l
	expect_status 0
	expect_text stdout 'counter +x86_64'
	expect_text stdout 'counter +arm64'
}

help() {
	run_suite -h
	expect_status 0
	local option
	for option in -l -g -a -j -o --vmm --accel --timeout --repeat --ktap -v -h; do
		expect_text stdout "(^| )$option"
	done
}

config_mistakes_have_lines() {
	cat >bad.cfg <<-'EOF'
		[one]
		image = selftest
		smp = many
		nonsense = 1

		[one]
		image = selftest
	EOF
	run_suite --config bad.cfg
	expect_status 3
	expect_text stderr 'bad\.cfg:3: .*smp'
	expect_text stderr 'bad\.cfg:4: .*nonsense'
	expect_text stderr 'bad\.cfg:6: .*one'
}

config_missing() {
	run_suite --config nowhere.cfg
	expect_status 3
	expect_text stderr 'nowhere\.cfg'
}

config_is_a_directory() {
	mkdir -p dir.cfg
	run_suite --config dir.cfg
	expect_status 3
	expect_text stderr 'dir\.cfg'
}

bench_options_go_together() {
	run_suite --boots 3 selftest
	expect_status 3
	expect_text stderr '--boots is for benchmarks: add --bench'
	run_suite --bench --repeat 3
	expect_status 3
	expect_text stderr '--boots 3'
	run_suite --bench --boots 0
	expect_status 3
	run_suite --threshold 2x --compare a b
	expect_status 3
	expect_text stderr "2x"
	run_suite --compare one
	expect_status 3
	expect_text stderr "OLD and NEW"
}

compare_names_the_bad_file() {
	printf '{"schema": 1,\n "tool": ' >cut.json
	run_suite --compare cut.json cut.json
	expect_status 3
	expect_text stderr 'cut\.json:2:'
	run_suite --compare nowhere.json cut.json
	expect_status 3
	expect_text stderr 'nowhere\.json'
}

it "an unknown option is refused" unknown_option
it "an unknown test is refused, with the list" unknown_test
it "a near miss is suggested" near_miss_is_suggested
it "an unknown group is refused, with the list" unknown_group
it "an unknown arch is refused" unknown_arch
it "bad option values are named" bad_numbers
it "-l lists tests of both architectures" list
it "-h tells every option" help
it "config mistakes are all reported with their lines" config_mistakes_have_lines
it "a config that is missing is named" config_missing
it "a config that is a directory is named" config_is_a_directory
it "options of benchmarks go together" bench_options_go_together
it "--compare says which file is bad and where" compare_names_the_bad_file
finish
