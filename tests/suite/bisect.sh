#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# git bisect run with --bisect finds the commit that broke time, in a tree that stands for a kernel's:
# its "build" copies a kernel that was fetched, or fails, or makes one that does not boot, as the
# commit's file says.

# shellcheck source-path=SCRIPTDIR source=suite.sh
. "$(dirname "$0")/suite.sh"

kernel=$("$root/scripts/fetch.sh" kernel 6.12 arm64 2>/dev/null | sed -n 's/^kernel=//p')

# commit NAME KIND: KIND is what build.sh makes of it
commit() {
	echo "$1" >tree/name
	echo "$2" >tree/kind
	git -C tree add -A
	git -C tree -c user.name=test -c user.email=test@localhost commit -qm "$1"
	git -C tree tag "$1"
}

make_tree() {
	git init -q tree
	mkdir -p tree/arch/arm64/boot
	printf '/arch\n' >tree/.gitignore
	cat >tree/build.sh <<-EOF
		rm -f arch/arm64/boot/Image
		case \$(cat kind) in
		nobuild) exit 2 ;;
		noboot) { head -c 64 '$kernel'; head -c 100000 /dev/zero; } >arch/arm64/boot/Image ;;
		*) cp '$kernel' arch/arm64/boot/Image ;;
		esac
	EOF
	commit one good
	commit two good
	commit three nobuild
	commit four noboot
	commit five bad
	commit six bad
}

# A kernel that is the same is bad where its test is one that fails: the commit says which is run.
bisect() {
	make_tree
	cat >run.sh <<-EOF
		test=selftest
		[ "\$(cat kind)" = bad ] && test=misbehave
		exec "$run" --kernel . --bisect='sh build.sh' --kernel-timeout 60 -a arm64 \\
			-o "$PWD/results-\$(cat kind)" \$test
	EOF
	chmod +x run.sh
	(cd tree && git bisect start six one && timeout 600 git bisect run sh ../run.sh) \
		>stdout 2>stderr
	# Between good two and bad five lie only commits that cannot be told.
	expect_text stdout "only 'skip'ped commits left|five"
	git -C tree bisect log >history
	expect_text history '^# good: .* two$'
	expect_text history '^# bad: .* five$'
	expect_text history '^# skip: .* (three|four)$'
	expect_no_text history '^# (good|bad): .* (three|four)$'
}

without_a_kernel() {
	run_suite --bisect
	expect_status 128
	expect_text stderr 'kernel'
}

it "--bisect wants a kernel" without_a_kernel
if [ -n "$kernel" ]; then
	it "git bisect run finds the commit" bisect
else
	skip "git bisect run finds the commit" "no kernel can be fetched"
fi
finish
