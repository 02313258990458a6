#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Writes the man page: a template in which @OPTIONS@ stands for what the runner's --help says of its
# options, and @VERSION@ for the version.
#
# Usage: scripts/man.sh TEMPLATE VERSION RUNNER
set -eu

template=$1 version=$2 runner=$3

# --help has an option in columns 1 to 24 and its text behind, on as many lines as that takes; lines at
# the margin head what follows.
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
			name = trim(substr($0, 1, 24))
			text = trim(substr($0, 25))
			if (substr($0, 24, 1) != " ") {
				name = trim($0)
				text = ""
			}
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
