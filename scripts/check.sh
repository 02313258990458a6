#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The suite's own checks: lint, unit tests (plain and under ASan/UBSan), tests of the runner's
# behaviour, then the default run of both architectures. The last line is "N passed, N failed".
#
# Usage: scripts/check.sh [STAGE...]     stages: lint build unit suite run kernel (default: all)
set -u

cd "$(dirname "$0")/.." || exit 3
root=$PWD

usage() {
	sed -n 's/^# \{0,1\}//; 4,8p' "$0" | sed '/^$/d'
}

stages=()
for argument in "$@"; do
	case $argument in
	lint | build | unit | suite | run | kernel) stages+=("$argument") ;;
	-h | --help)
		usage
		exit 0
		;;
	*)
		echo "check.sh: no stage '$argument'; they are: lint build unit suite run kernel" >&2
		exit 3
		;;
	esac
done
[ ${#stages[@]} -eq 0 ] && stages=(lint build unit suite run kernel)

"$root/scripts/setup.sh" --checks || exit 3
mkdir -p build
out=$(mktemp -d "${TMPDIR:-/tmp}/check.XXXXXX")
trap 'rm -rf "$out"' EXIT

passed=0
failed=0
skipped=0

# step NAME COMMAND... : one check with its own verdict; its output is shown when it fails
step() {
	local name=$1 started=$SECONDS
	shift
	if "$@" >"$out/log" 2>&1; then
		passed=$((passed + 1))
		echo "ok      $name ($((SECONDS - started)) s)"
	else
		failed=$((failed + 1))
		echo "FAILED  $name ($((SECONDS - started)) s):"
		tail -n 40 "$out/log" | sed 's/^/        /'
	fi
}

c_files() { git ls-files '*.c' '*.h' 2>/dev/null || find lib x86 arm host tests -name '*.[ch]'; }
shell_files() {
	git ls-files '*.sh' '*.bash' configure .ci/run 2>/dev/null || ls configure .ci/run run_tests.sh scripts/*.sh
}

# The template with an entry in the place of its table.
standalone_lint() {
	sed "s/^@TABLE@\$/x86_64) first=1 blocks=1 image=x seconds=1 default_qemu=q args=a tcg=t kvm=k ;;/" \
		scripts/standalone.in | shellcheck -s sh -
}

stage_lint() {
	local files
	mapfile -t files < <(shell_files)
	step "lint: shellcheck" shellcheck -x "${files[@]}"
	mapfile -t files < <(c_files)
	step "lint: shellcheck of standalone.in" standalone_lint
	step "lint: clang-format" clang-format --dry-run --Werror "${files[@]}"
	step "lint: cppcheck" cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr -j2 \
		--enable=warning,performance,portability --suppress=missingInclude \
		--suppress=missingIncludeSystem -D__x86_64__ -D_GNU_SOURCE -Ilib -Ihost host
}

stage_build() {
	step "build: images, host programs, unit tests" make -j2 all units
	# A second make has nothing to do.
	step "build: nothing to do the second time" bash -c \
		'! make -n all | grep -E "(gcc|clang|ar|objcopy|CC|LD) " '
}

# A cmocka program counts by its tests.
unit_program() {
	local program=$1 log=$out/unit.log status ran bad
	timeout 300 "$program" >"$log" 2>&1
	status=$?
	ran=$(sed -n 's/^\[==========\].* \([0-9]*\) test(s) run\.$/\1/p' "$log" | awk '{s += $1} END {print s + 0}')
	bad=$(sed -n 's/^\[  FAILED  \].* \([0-9]*\) test(s), listed below:$/\1/p' "$log" | awk '{s += $1} END {print s + 0}')
	if [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then
		bad=1
	fi
	if [ "$ran" -eq 0 ] && [ "$bad" -eq 0 ]; then
		bad=1
		echo "$program ran no test" >>"$log"
	fi
	passed=$((passed + ran - (bad < ran ? bad : ran)))
	failed=$((failed + bad))
	if [ "$bad" -ne 0 ]; then
		echo "FAILED  $program: status $status"
		grep -v '^\[ RUN\|^\[       OK' "$log" | tail -n 40 | sed 's/^/        /'
	else
		echo "ok      $program: $ran tests"
	fi
}

stage_unit() {
	local program found=0
	if ! make -j2 units >"$out/log" 2>&1; then
		failed=$((failed + 1))
		echo "FAILED  unit: build"
		tail -n 30 "$out/log" | sed 's/^/        /'
		return
	fi
	for program in build/unit/lib_* build/unit/host_* build/unit-asan/lib_* build/unit-asan/host_*; do
		case $program in *.[od] | *\*) continue ;; esac
		found=1
		unit_program "$program"
	done
	[ $found = 1 ] || {
		failed=$((failed + 1))
		echo "FAILED  unit: there is no unit test (is cmocka installed?)"
	}
	for program in build/unit-asan/fuzz_*; do
		case $program in *.d | *\*) continue ;; esac
		step "unit: seeds of ${program##*/}" timeout 120 "$program" "tests/fuzz/seeds/${program##*/fuzz_}"
	done
}

# tests/suite/*.sh print "ok NAME", "not ok NAME" and "skip NAME: reason" lines.
stage_suite() {
	local file lines
	make -j2 all >"$out/log" 2>&1 || {
		failed=$((failed + 1))
		echo "FAILED  suite: build"
		return
	}
	for file in tests/suite/[a-z]*.sh; do
		[ "$file" = tests/suite/suite.sh ] && continue
		"$file" >"$out/suite.log" 2>&1
		local status=$?
		grep -E '^(ok|not ok|skip) ' "$out/suite.log" >"$out/suite.verdicts"
		lines=$(grep -c '^ok ' "$out/suite.verdicts")
		passed=$((passed + lines))
		lines=$(grep -c '^skip ' "$out/suite.verdicts")
		skipped=$((skipped + lines))
		lines=$(grep -c '^not ok ' "$out/suite.verdicts")
		if [ $status -ne 0 ] && [ "$lines" -eq 0 ]; then
			lines=1
		fi
		failed=$((failed + lines))
		sed "s|^ok |ok      ${file#tests/}: |; s|^not ok |FAILED  ${file#tests/}: |; s|^skip |skip    ${file#tests/}: |" \
			"$out/suite.log"
	done
}

# run NAME OPTIONS... : a run of the suite counts by its tests
suite_run() {
	local name=$1 line
	shift
	./run_tests.sh -o "$out/results" "$@" >"$out/log" 2>&1
	local status=$?
	cat "$out/log"
	line=$(tail -n 1 "$out/log")
	if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped ]]; then
		passed=$((passed + BASH_REMATCH[1]))
		failed=$((failed + BASH_REMATCH[2]))
		skipped=$((skipped + BASH_REMATCH[3]))
		[ $status -eq 0 ] || [ "${BASH_REMATCH[2]}" -ne 0 ] || failed=$((failed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED  $name: status $status and no closing line"
	fi
	rm -rf "$out/results"
}

stage_run() {
	suite_run "default run, TCG" --accel tcg -j2
	run_on_kvm
}

# Our own VMM on this machine's KVM, where there is one. PVM, a software KVM, is known to be wrong
# where it counts (docs/findings.md): what the suite says of it is shown and counts for nothing.
run_on_kvm() {
	local arch
	arch=$(uname -m)
	if ! [ -r /dev/kvm ] || ! [ -w /dev/kvm ]; then
		skipped=$((skipped + 1))
		echo "skip    own VMM on /dev/kvm: it is not there, or not for this user"
	elif [ -d /sys/module/kvm_pvm ]; then
		skipped=$((skipped + 1))
		timeout 300 ./run_tests.sh --vmm kvm -a "${arch/aarch64/arm64}" selftest counter
		echo "skip    own VMM on /dev/kvm: this is PVM, known to be wrong; see above"
	else
		suite_run "own VMM on /dev/kvm" --vmm kvm -a "${arch/aarch64/arm64}" selftest counter
	fi
}

# Real KVM in kernel mode, for both architectures. The newer QEMU is for x86: the emulated SVM of
# 7.2 loses interrupts (docs/kernel-mode.md).
stage_kernel() {
	local request
	if ! make -j2 all >"$out/log" 2>&1; then
		failed=$((failed + 1))
		echo "FAILED  kernel: build"
		return
	fi
	for request in "kernel 6.12 arm64" "kernel 6.1 x86_64" "qemu trixie"; do
		# shellcheck disable=SC2086 # words of one request
		if ! scripts/fetch.sh $request >"$out/log" 2>&1; then
			skipped=$((skipped + 1))
			echo "skip    kernel mode: '$request' cannot be fetched: $(tail -n 1 "$out/log")"
			return
		fi
	done
	suite_run "kernel mode, arm64" --kernel debian:6.12 --qemu debian:trixie -a arm64 \
		selftest counter
	suite_run "kernel mode, x86_64" --kernel debian:6.1 --qemu debian:trixie -a x86_64 \
		selftest counter
}

for stage in "${stages[@]}"; do
	echo "== $stage"
	"stage_$stage"
done

[ "$skipped" -eq 0 ] || echo "($skipped skipped, each with its reason above)"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
