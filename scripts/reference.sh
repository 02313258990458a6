#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Writes the reference of the suite in Markdown: options, tests, checks, faults, defects. All of it is
# asked of the programs themselves, the checks of the images, so that it cannot go stale.
#
# Usage: scripts/reference.sh RUNNER [TEST...]      (default: every test; boots each image once)
set -eu

runner=$1
shift

cat <<'END'
# Reference

Made by `make reference` from the runner and the images. What a column means is in
[writing-tests.md](../docs/writing-tests.md).

## Options

```
END
"$runner" --help
cat <<'END'
```

## Tests

```
END
"$runner" -l
cat <<'END'
```

## Checks

`./run_tests.sh --explain NAME` tells more of each.
END
"$runner" --list-checks "$@" | awk -F '\t' '
	{
		test = $1
		sub(/\..*/, "", test)
		name = substr($1, length(test) + 2)
		if (test != last) {
			printf "\n### %s\n\n| check | guards against | what is to hold |\n| --- | --- | --- |\n", test
			last = test
		}
		gsub(/,/, " ", $2)
		gsub(/\|/, "\\|", $3)
		printf "| `%s` | %s | %s |\n", name, $2, $3
	}
'
cat <<'END'

## Faults

Ways in which our own VMM can be told to be wrong (`--fault`): architectures, where, value, the check that
fails, the defects.

```
END
"$runner" --list-faults
echo '```'
