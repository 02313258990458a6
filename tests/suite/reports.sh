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

html_is_one_safe_page() {
	from html
	expect_text view '^<!DOCTYPE html>'
	expect_text view "default-src 'none'"
	expect_no_text view '<script|<link|<img|src=|https?://[^w]'
	expect_text view 'class="verdict timeout">timeout</span> <a href="#t3">x86_64/hang</a>'
	expect_text view '@ktt panic text=' # of the log
	# Well-formed as XML but for HTML's own doctype, void elements and attributes without values.
	xmllint --html --noout view 2>&1 | grep -v 'Tag .* invalid' | grep -q 'error :' &&
		complain "not well-formed: $(xmllint --html --noout view 2>&1 | grep error | head -n 3)"
}

# Logs are taken from the run's own directory alone.
html_reads_no_foreign_file() {
	cp -r "$bad" foreign
	echo 'a secret' >secret
	jq '.tests[0].log = "logs/../../secret" | .tests[1].log = "'"$PWD"'/secret"' \
		"$bad/results.json" >foreign/results.json
	ln -sf "$PWD/secret" foreign/logs/x86_64/hang.log
	timeout 20 "$run" --from foreign --report html=view >stdout 2>stderr
	expect_no_text view 'a secret'
}

html_has_plots() {
	run_suite --accel icount -a arm64 --report html=view counter-read
	expect_status 0
	expect_text view '<th>cntvct</th>'
	[ "$(grep -c '<svg' view)" -ge 3 ] || complain "$(grep -c '<svg' view) plots, not one a benchmark"
}

html_without_gnuplot() {
	mkdir -p bin
	printf '#!/bin/sh\nexit 1\n' >bin/gnuplot
	chmod +x bin/gnuplot
	run_suite --accel icount -a arm64 counter-read
	PATH="$PWD/bin:$PATH" timeout 20 "$run" --from results --report html=view >stdout 2>stderr
	status=$?
	expect_status 0
	expect_text stderr 'without plots.*gnuplot'
	expect_text view 'There are no plots'
	expect_text view '<th>cntvct</th>'
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
it "--report html is one page that loads nothing" html_is_one_safe_page
it "--report html takes no file but the run's logs" html_reads_no_foreign_file
if command -v gnuplot >/dev/null; then
	it "--report html has a plot of each benchmark" html_has_plots
else
	skip "--report html has a plot of each benchmark" "no gnuplot"
fi
it "--report html without gnuplot says so" html_without_gnuplot
it "--from reads a results.json, = - is stdout" to_stdout
it "mistakes with reports are named" mistakes_are_named
finish
