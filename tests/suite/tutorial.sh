#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# docs/tutorial.md does what it says: its files are written and its commands run, in a copy of the
# checkout, and every line of output that it promises comes, in that order. Left out of the comparison
# are what was read and measured, and the line that says what the host has. Blocks of the document are told by what stands
# behind their fence:
#
#	c file=FILE		the whole of FILE
#	ini append=FILE		lines for the end of FILE
#	diff			a patch
#	console			"$ COMMAND" and what it prints; a line "…" stands for any lines

# shellcheck source-path=SCRIPTDIR source=suite.sh
. "$(dirname "$0")/suite.sh"

blocks=$scratch/blocks
copy=$scratch/copy

# One file a block, NNN, and what stands behind its fence in NNN.info.
cut_blocks() {
	mkdir -p "$blocks"
	awk -v dir="$blocks" '
		/^```/ && !file { file = sprintf("%s/%03d", dir, ++n); print substr($0, 4) >(file ".info"); printf "" >file; next }
		/^```/ { close(file); file = ""; next }
		file { print >file }
		END { exit file != "" }' "$root/docs/tutorial.md" ||
		complain "a block of docs/tutorial.md has no end"
}

# The checkout with what was built of it, as a repository of its own.
make_copy() {
	mkdir -p "$copy"
	(
		cd "$root" || exit
		tar -cf - --exclude=./build/unit --exclude=./build/unit-asan --exclude=./build/fuzz \
			--exclude=./build/standalone --exclude=./results --exclude=./.git . |
			tar -xf - -C "$copy"
		cd "$copy" && git init -q && git add -A && git -c user.name=nobody \
			-c user.email=nobody@localhost commit -qm copy
	) >copy.log 2>&1 || complain "no copy of the checkout: $(tail -n 5 copy.log)"
}

# What is compared of lines: no header, whose parts are the host's, and no figures that vary.
stable() {
	sed -E "s|$copy/||g"'
		/^(x86_64|arm64)  (qemu|kvm) /d
		s/0x[0-9a-f]+|[0-9]+\.[0-9]+ s\b|[0-9]+ reads|[0-9]{8}-[0-9]{6}/N/g
		s/ +/ /g
		s/ $//'
}

# expect_output PROMISED ACTUAL: every line of the first is in the second, in order; without "…"
# between them nothing else is.
expect_output() {
	awk -v promised="$1" -v actual="$2" '
		BEGIN {
			while ((getline line <actual) > 0)
				seen[++count] = line
			at = 1
			while ((getline line <promised) > 0) {
				if (line == "…") {
					any = 1
					continue
				}
				while (any && at <= count && seen[at] != line)
					at++
				if (at > count || seen[at] != line) {
					print "promised: " line
					print "came:     " (at > count ? "nothing more" : seen[at])
					exit 1
				}
				any = 0
				at++
			}
			if (!any && at <= count) {
				print "not promised: " seen[at]
				exit 1
			}
		}' || complain "so '$command' does not do what docs/tutorial.md says:" "$(cat "$3")"
}

# Runs a command in the copy, with $? of the one before.
run_command() {
	(
		cd "$copy" || exit
		unset KTT_ROOT KTT_RESULTS
		(exit "$status")
		eval "$command"
	) >raw 2>&1 </dev/null
	status=$?
	stable <raw >actual
}

# A console block: file
run_session() {
	local line
	command="" status=0
	while IFS= read -r line || [ -n "$line" ]; do
		if [[ $line == '$ '* ]]; then
			[ -z "$command" ] || expect_output promised actual raw
			command=${line#\$ }
			: >promised
			run_command
		else
			printf '%s\n' "$line" | stable >>promised
		fi
	done <"$1"
	expect_output promised actual raw
}

# What a block says, done.
do_block() {
	local block=$1 info
	info=$(cat "$block.info")
	case $info in
	*" file="*) cp "$block" "$copy/${info##*=}" ;;
	*" append="*) cat "$block" >>"$copy/${info##*=}" ;;
	diff) git -C "$copy" apply "$block" >apply.log 2>&1 || complain "the patch: $(cat apply.log)" ;;
	console) run_session "$block" ;;
	*) complain "docs/tutorial.md has a block '$info', of which nothing is known here" ;;
	esac
}

boots_kernel() { grep -q -- '^\$.* --kernel ' "$1"; }

can_boot=yes
no_boot=""
look_for_kernel() {
	if [ ! -x "$root/build/x86_64/host/runner" ]; then
		can_boot=no no_boot="no static x86_64 programs were built"
	elif ! "$root/scripts/fetch.sh" kernel 6.12 x86_64 >/dev/null 2>"$scratch/fetch.err" ||
		! "$root/scripts/fetch.sh" qemu trixie >/dev/null 2>"$scratch/fetch.err"; then
		can_boot=no no_boot="none could be fetched: $(tail -n 1 "$scratch/fetch.err")"
	fi
}

all_steps() {
	local block
	cut_blocks
	make_copy
	for block in "$blocks"/[0-9][0-9][0-9]; do
		[ "$complaints" -eq 0 ] || return
		boots_kernel "$block" && [ "$can_boot" = no ] && continue
		do_block "$block"
	done
	[ -z "$(git -C "$copy" status --porcelain)" ] ||
		complain "left behind: $(git -C "$copy" status --porcelain)"
}

look_for_kernel
it "the tutorial's files and commands do what it says" all_steps
[ "$can_boot" = yes ] || skip "the tutorial's steps that boot a kernel" "$no_boot"
finish
