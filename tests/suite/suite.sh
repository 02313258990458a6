# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the tests of the suite share; sourced by each file beside it. A test is a function; it runs
# in a scratch directory of its own, calls expect_* and ends with "ok" if none of them objected.

set -u
suite_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # for the files that source this one
root=$(cd "$suite_dir/../.." && pwd)
run="$root/run_tests.sh"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/suite.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
suite_failed=0

# runs the runner; sets $status; stdout and stderr in files of these names
run_suite() {
	timeout 300 "$run" -o results "$@" >stdout 2>stderr </dev/null
	status=$?
}

complain() {
	complaints=$((complaints + 1))
	echo "  $*"
}

expect_status() {
	[ "$status" -eq "$1" ] || complain "status is $status, not $1; stderr: $(tail -n 5 stderr)"
}

# expect_text FILE PATTERN (extended regular expression)
expect_text() {
	grep -Eq -- "$2" "$1" || complain "no line of $1 matches '$2':" "$(tail -n 15 "$1")"
}

expect_no_text() {
	! grep -Eq -- "$2" "$1" || complain "a line of $1 matches '$2': $(grep -E -m1 -- "$2" "$1")"
}

# expect_json FILTER : jq -e on results/results.json
expect_json() {
	jq -e "$1" results/results.json >/dev/null 2>jq.err ||
		complain "results.json does not satisfy: $1 $(cat jq.err)"
}

# No process whose command line has the text.
expect_no_process() {
	! pgrep -f -- "$1" >/dev/null || complain "still running: $(pgrep -af -- "$1" | head -n 3)"
}

# wait_for SECONDS COMMAND... : until it succeeds
wait_for() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $deadline ] || return 1
		read -rt 0.05 <> <(:) || :
	done
}

# it NAME FUNCTION : one test
it() {
	complaints=0
	mkdir -p "$scratch/$2" && cd "$scratch/$2" || exit 3
	"$2" >../report 2>&1
	if [ $complaints -eq 0 ]; then
		echo "ok $1"
	else
		suite_failed=1
		echo "not ok $1"
		cat ../report
	fi
	cd "$suite_dir" || exit 3
}

skip() {
	echo "skip $1: $2"
}

finish() {
	exit $suite_failed
}
