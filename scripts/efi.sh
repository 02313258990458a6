#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes a UEFI application of every test: the loader of that architecture with the test's image and
# arguments in it. The number of CPUs is the machine's, and nobody answers host calls.
#
# Usage: scripts/efi.sh RUNNER DIRECTORY ARCH LOADER LIBRARY... -- COMPILER OBJCOPY STRIP [TEST...]
#   LOADER is the loader's objects, linked with -r, LIBRARY what they need.
set -eu
shopt -s extglob

here=$(cd "$(dirname "$0")" && pwd)
runner=$1 out=$2 arch=$3 loader=$4
shift 4
libraries=()
while [ "$1" != -- ]; do
	libraries+=("$1")
	shift
done
compiler=$2 objcopy=$3 strip=$4
shift 4

machine=0xaa64
[ "$arch" = x86_64 ] && machine=0x8664
tmp=$(mktemp -d "${TMPDIR:-/tmp}/efi.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$out"

while IFS=$'\t' read -r own name file _ args _; do
	if [ "$own" != "$arch" ] || [ ! -e "$file" ]; then continue; fi
	if [ "$arch" = x86_64 ]; then $strip -g -o "$tmp/image" "$file"; else cp "$file" "$tmp/image"; fi
	args=" $args "
	args=${args/ cpus=+([0-9]) / }
	args=${args%% } args=${args## }
	# shellcheck disable=SC2086 # a command with its arguments
	$compiler -c -DPAYLOAD="\"$tmp/image\"" -DPAYLOAD_ARGS="\"alone${args:+ }$args\"" \
		"$here/../efi/payload.S" -o "$tmp/payload.o"
	# shellcheck disable=SC2086
	$compiler -nostdlib -static-pie -Wl,--no-dynamic-linker -Wl,--build-id=none -Wl,-z,notext \
		-Wl,-z,noexecstack -Wl,-z,max-page-size=4096 -Wl,--no-warn-rwx-segments \
		-Wl,--defsym=PE_MACHINE=$machine \
		-Wl,-T,"$here/../efi/loader.lds" -o "$tmp/application" "$loader" "$tmp/payload.o" \
		"${libraries[@]}"
	$objcopy -O binary "$tmp/application" "$tmp/application.efi"
	mv "$tmp/application.efi" "$out/$name.efi"
done < <("$runner" --machines "$@")
