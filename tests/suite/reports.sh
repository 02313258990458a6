#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The views of results: made after a run, or later of its directory; valid where there is a schema;
# whatever a guest printed.

# shellcheck source-path=SCRIPTDIR source=suite.sh
. "$(dirname "$0")/suite.sh"

misbehave="$suite_dir/misbehave.cfg"

# Good guests and bad ones, one that never says hello among them: made once, the tests read it.
bad="$scratch/bad"
timeout 120 "$run" --accel tcg -a x86_64 --config "$misbehave" -o "$bad" \
	good panic hang garbage >/dev/null 2>&1

# from FORMAT : that view of the run of bad guests, in the file "view"
from() {
	timeout 20 "$run" --from "$bad" --report "$1=view" >stdout 2>stderr
	status=$?
	expect_status 0
}

with_a_run() {
	run_suite --accel tcg -a x86_64 --report junit --report markdown=r.md selftest
	expect_status 0
	expect_text stdout '^report: results/junit.xml$'
	expect_text results/junit.xml '<testsuite name="x86_64/selftest"'
	expect_text r.md '^\| x86.*selftest \| pass \|'
	expect_text stdout '^1 passed, 0 failed, 0 skipped$'
}

junit_is_valid() {
	from junit
	xmllint --noout --schema "$suite_dir/junit.xsd" view 2>xml.err ||
		complain "not as junit.xsd has it: $(head -n 5 xml.err)"
	[ "$(xmllint --xpath 'count(//testsuite)' view)" = 4 ] || complain "not 4 suites"
	[ "$(xmllint --xpath 'string(//testsuite[@name="x86_64/panic"]/@errors)' view)" -ge 1 ] ||
		complain "the panic is no error"
	[ "$(xmllint --xpath 'sum(//testsuite/@tests)' view)" = \
		"$(xmllint --xpath 'count(//testcase)' view)" ] || complain "tests are miscounted"
}

markdown_tells_failures() {
	from markdown
	expect_text view '^\| x86.*/panic \| \*\*error\*\* \|'
	expect_text view '^### x86.*/hang: timeout'
}

ktap_is_the_same() {
	from ktap
	cmp view "$bad/ktap.txt" || complain "not the ktap.txt of the run"
}

to_stdout() {
	timeout 20 "$run" --from "$bad/results.json" --report ktap=- >stdout 2>stderr
	status=$?
	expect_status 0
	cmp stdout "$bad/ktap.txt" || complain "not the ktap.txt of the run"
}

mistakes_are_named() {
	run_suite --report pdf selftest
	expect_status 3
	expect_text stderr "'pdf'.*junit"
	run_suite --from "$bad"
	expect_status 3
	expect_text stderr 'say with --report'
	run_suite --from nowhere --report junit
	expect_status 3
	expect_text stderr 'nowhere'
	run_suite --from "$bad" --report junit=/proc/nowhere/x
	expect_status 3
	expect_text stderr '/proc/nowhere/x'
}

it "--report makes views after a run" with_a_run
it "--report junit is valid, whatever guests did" junit_is_valid
it "--report markdown tells what failed" markdown_tells_failures
it "--report ktap is the run's ktap.txt" ktap_is_the_same
it "--from reads a results.json, = - is stdout" to_stdout
it "mistakes with reports are named" mistakes_are_named
finish
