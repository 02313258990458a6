#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes sure of tools and build, then becomes the runner. Nothing here decides a verdict.
set -u

root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
export KTT_ROOT=$root

case $HOSTTYPE in
aarch64) native=arm64 ;;
*) native=x86_64 ;;
esac

# Installed, all is built, and results are the user's.
if [ ! -e "$root/Makefile" ]; then
	export KTT_RESULTS=${KTT_RESULTS:-$PWD/results}
	exec "$root/build/$native/host/runner" "$@"
fi

# KTT_NO_SETUP: go on with what is there, for hosts that can have one architecture's tools alone.
if [ -z "${KTT_NO_SETUP:-}" ] && ! "$root/scripts/setup.sh"; then
	echo "run_tests.sh: to go on with what is there, set KTT_NO_SETUP=1" >&2
	exit 3
fi

log=$root/build/make.log
if ! mkdir -p "$root/build" 2>/dev/null || ! : 2>/dev/null >>"$log"; then
	echo "run_tests.sh: cannot write to $root/build: make it writable, or clone the suite" \
		"to where you may write" >&2
	exit 3
fi

# One build at a time, however many runs are started.
exec 9>"$root/build/make.lock"
flock 9
if ! make -C "$root" -j"$(nproc)" all >"$log" 2>&1 9>&-; then
	tail -n 30 "$log" >&2
	echo "run_tests.sh: the build failed; the whole of it is in $log" >&2
	exit 3
fi
exec 9>&-

exec "$root/build/$native/host/runner" "$@"
