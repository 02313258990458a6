# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a run of faults shows: an object of {arch, sound: [wrong without a fault], rows: [a fault each]}.
# Input is results.json; --arg arch, --rawfile faults as --list-faults prints them. See run.sh.

def rows: [ $faults | split("\n")[] | select(. != "") | [ splits(" +") ]
  | { name: .[0], archs: (.[1] | split(",")), mechanism: .[2], argument: .[3], check: .[4],
      guards: .[5], what: (.[6:] | join(" ")) } | select(.archs | index([$arch])) ];

# Checks that are wrong: sub-checks and not their parents.
def wrong: [ .checks[] | select(.has_sub_checks | not)
  | select(.raw_verdict | IN("fail", "timeout", "error")) | .name ];

def test: .name | split("--")[1] // .;
def unexpected: .verdict | IN("fail", "timeout", "error");

.tests as $tests
| ([ $tests[] | select(has("faults") | not) | .image as $i | (.name | ltrimstr("sound--") | split("--")[0]) as $test
     | wrong[] | $test + "." + . ]) as $known
| { arch: $arch,
    kernel: .environment.kernel_mode[$arch].host.kernel,
    outer: (.environment.kernel_mode[$arch].outer | "QEMU \(.qemu), \(.accel), \(.cpu)"),
    sound: [ $tests[] | select((has("faults") | not) and unexpected)
             | { name, wrong: wrong, reason } ],
    sound_count: ([ $tests[] | select(has("faults") | not) ] | length),
    checks: ([ $tests[] | (if has("faults") then test else (.name | ltrimstr("sound--") | split("--")[0]) end) as $test
               | .checks[] | select(.has_sub_checks | not) | $test + "." + .name ] | unique),
    rows: [ rows[] as $row | $tests[] | select(.faults == [$row.name]) | test as $test
            | ([ wrong[] | $test + "." + . ] - $known) as $new
            | $row + { test: $test, ms: (.duration_ms | round), verdict: .raw_verdict, failed: $new,
                       reason: (if .raw_verdict | IN("timeout", "error") then .reason else null end),
                       noticed: (if $row.check == "-" then (unexpected | not)
                                 else ($new | index([$row.check]) != null) end) } ] }
