#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Writes the man page: a template in which @OPTIONS@ stands for what the runner's --help says of its
# options, and @VERSION@ for the version.
#
# Usage: scripts/man.sh TEMPLATE VERSION RUNNER
set -eu

template=$1 version=$2 runner=$3

# --help has an option up to the first blank from column 24 on and its text behind, on as many lines as
# that takes; lines at the margin head what follows.
options() {
	"$runner" --help | awk '
		function escape(s) {
			gsub(/\\/, "\\e", s)
			gsub(/-/, "\\-", s)
			sub(/^[.\x27]/, "\\\\&&", s)
			return s
		}
		function trim(s) {
			gsub(/^ +| +$/, "", s)
			return s
		}
		/^  -/ {
			started = 1
			at = 24
			while (at <= length($0) && substr($0, at, 1) != " ")
				at++
			name = trim(substr($0, 1, at))
			text = trim(substr($0, at))
			print ".TP"
			print ".B " escape(name)
			if (text != "")
				print escape(text)
			next
		}
		!started { next }
		/^   / { print escape(trim($0)); next }
		/^$/ { next }
		/^Status:/ { exit }
		/^[A-Z].*:( |$)/ { print ".SS " escape(trim(substr($0, 1, index($0, ":") - 1)))
			rest = trim(substr($0, index($0, ":") + 1))
			if (rest != "")
				print escape(rest)
			next }
		{ print escape(trim($0)) }
	'
}

sed "s/@VERSION@/$version/" "$template" | while IFS= read -r line; do
	if [ "$line" = @OPTIONS@ ]; then
		options
	else
		printf '%s\n' "$line"
	fi
done
