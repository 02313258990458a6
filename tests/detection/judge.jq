# SPDX-License-Identifier: GPL-2.0-or-later
#
# One line a fault of a run: was it noticed by its check, and what else failed. See run.sh.

def rows: [ $faults | split("\n")[] | select(. != "") | [ splits(" +") ]
  | { name: .[0], archs: (.[1] | split(",")), mechanism: .[2], argument: .[3], check: .[4],
      guards: .[5], what: (.[6:] | join(" ")) } | select(.archs | index([$arch])) ];

# Checks that are wrong, sub-checks and not their parents; a test that has none of its own verdict.
def wrong: [ .checks[] | select(.has_sub_checks | not)
  | select(.raw_verdict | IN("fail", "timeout", "error")) | .name ]
  + (if .verdict | IN("timeout", "error") then ["(" + .verdict + ": " + (.reason // "?") + ")"] else [] end);

.tests as $tests
| ([ $tests[] | select(has("faults") | not) | (.name | split("--")[1]) as $test | wrong[] | $test + "." + . ]) as $known
| ( $tests[] | select(has("faults") | not) | select(wrong != [])
    | "\(if .verdict | IN("fail", "timeout", "error") then "FAILED " else "known  " end)  without a fault: \(.name): \(wrong | join(" "))" ),
  ( rows[] | . as $row
    | $tests[] | select(.faults == [$row.name])
    | (.name | split("--")[1]) as $test
    | [ wrong[] | select($test + "." + . | IN($known[]) | not) ] as $new
    | (if $row.check == "-" then ($new == [])
       else $new | any(.[]; $test + "." + . == $row.check) end) as $good
    | "\(if $good then "noticed" else "MISSED " end)  \($row.name)  \($row.check)  \(.duration_ms | round) ms  \($new | join(" "))" )
