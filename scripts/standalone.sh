#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes one file of every test: the script standalone.in and, behind it, the test's images. Each part
# begins at a multiple of 4096 bytes, so that dd finds it. The same sources give the same bytes.
#
# Usage: scripts/standalone.sh RUNNER VERSION DIRECTORY STRIP_X86_64 STRIP_ARM64 [TEST...]
set -eu

here=$(dirname "$0")
runner=$1 version=$2 out=$3 strip_x86_64=$4 strip_arm64=$5
shift 5

tmp=$(mktemp -d "${TMPDIR:-/tmp}/standalone.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$out"

size_of() { stat -c %s "$1"; }
blocks_of() { echo $((($(size_of "$1") + 4095) / 4096)); }
pad() { truncate -s %4096 "$1"; }

# image ARCH FILE: a copy without symbols, once
image() {
	local copy
	copy=$tmp/$1-$(basename "$2")
	if [ ! -e "$copy" ]; then
		case $2 in
		*.elf) if [ "$1" = x86_64 ]; then $strip_x86_64 -g -o "$copy" "$2"; else $strip_arm64 -g -o "$copy" "$2"; fi ;;
		*) cp "$2" "$copy" ;;
		esac
		pad "$copy"
	fi
	echo "$copy"
}

# write NAME: of the machines in the arrays
write() {
	local name=$1 file=$out/$1 first=SCRIPT i table='' script
	# The table tells where images begin, which is behind the script: it has room for what it takes.
	for first in 1 2 3 4; do
		table=
		local at=$first
		for ((i = 0; i < ${#archs[@]}; i++)); do
			table+="${archs[i]})
	first=$at blocks=$(blocks_of "${images[i]}") image=${images[i]##*/"${archs[i]}-"} seconds=${seconds[i]}
	default_qemu=qemu-system-${archs[i]/arm64/aarch64}
	args='${args[i]}'
	tcg='${tcg[i]}'
	kvm='${kvm[i]}'
	;;
"
			at=$((at + $(blocks_of "${images[i]}")))
		done
		script=$(<"$here/standalone.in")
		script=${script//@NAME@/$name}
		script=${script//@VERSION@/$version}
		script=${script//@ARCHS@/"${archs[*]}"}
		printf '%s\n' "${script/@TABLE@/"${table%$'\n'}"}" >"$tmp/script"
		[ "$(blocks_of "$tmp/script")" -gt "$first" ] || break
	done
	pad "$tmp/script"
	[ "$(blocks_of "$tmp/script")" -eq "$first" ]
	cat "$tmp/script" "${images[@]}" >"$tmp/file"
	chmod 755 "$tmp/file"
	mv "$tmp/file" "$file"
}

names=()
declare -A lines
while IFS=$'\t' read -r arch name rest; do
	[ -n "${lines[$name]+x}" ] || names+=("$name")
	lines[$name]+="$arch"$'\t'"$rest"$'\n'
done < <("$runner" --machines "$@")
[ ${#names[@]} -gt 0 ]

for name in "${names[@]}"; do
	archs=() images=() seconds=() args=() tcg=() kvm=()
	while IFS=$'\t' read -r arch file limit words tcg_words kvm_words; do
		[ -e "$file" ] || continue
		archs+=("$arch") images+=("$(image "$arch" "$file")") seconds+=("$limit")
		args+=("$words") tcg+=("$tcg_words") kvm+=("$kvm_words")
	done <<<"${lines[$name]%$'\n'}"
	[ ${#archs[@]} -eq 0 ] || write "$name"
done
