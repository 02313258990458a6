#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes sure of the packages that building, running and checking the suite need: installs them on
# Debian and Ubuntu, names them on Fedora and Arch. Costs some milliseconds when all is there.
#
# Status: 0 all is there, 3 something is missing and could not be installed.
set -u

root=$(cd "$(dirname "$0")/.." && pwd)

usage() {
	cat <<'EOF'
Usage: scripts/setup.sh [--checks] [--probe]

  --checks   also what scripts/check.sh needs: unit tests, linters
  --probe    install nothing; say what is missing, status 3 if anything is
EOF
}

checks=no
probe=no
for option in "$@"; do
	case $option in
	--checks) checks=yes ;;
	--probe) probe=yes ;;
	-h | --help)
		usage
		exit 0
		;;
	*)
		echo "setup.sh: unknown option '$option'; scripts/setup.sh --help lists them" >&2
		exit 3
		;;
	esac
done

case $HOSTTYPE in
aarch64) native=arm64 ;;
*) native=x86_64 ;;
esac

# What is looked for: a command or a file, and the Debian package it comes from.
missing=()
need_command() { # need_command PACKAGE COMMAND
	command -v "$2" >/dev/null || missing+=("$1")
}
need_file() { # need_file PACKAGE FILE...
	local package=$1 file
	shift
	for file in "$@"; do
		[ -e "$file" ] && return
	done
	missing+=("$package")
}

if [ $native = x86_64 ]; then
	multiarch=/usr/lib/x86_64-linux-gnu
	foreign=arm64
	need_command gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc
	need_file libc6-dev-arm64-cross /usr/aarch64-linux-gnu/lib/libc.a /usr/aarch64-linux-gnu/sys-root
	need_file libfdt-dev:arm64 /usr/lib/aarch64-linux-gnu/libfdt.a /usr/aarch64-linux-gnu/lib/libfdt.a \
		"$root/build/sysroot/usr/lib/aarch64-linux-gnu/libfdt.a"
	need_file libjansson-dev:arm64 /usr/lib/aarch64-linux-gnu/libjansson.a
	need_file liblzma-dev:arm64 /usr/lib/aarch64-linux-gnu/liblzma.a
	need_file libzstd-dev:arm64 /usr/lib/aarch64-linux-gnu/libzstd.a
else
	multiarch=/usr/lib/aarch64-linux-gnu
	foreign=amd64
	need_command gcc-x86-64-linux-gnu x86_64-linux-gnu-gcc
	need_file libc6-dev-amd64-cross /usr/x86_64-linux-gnu/lib/libc.a
	need_file libfdt-dev /usr/lib/aarch64-linux-gnu/libfdt.a /usr/lib64/libfdt.a
	need_file libjansson-dev:amd64 /usr/lib/x86_64-linux-gnu/libjansson.a
	need_file liblzma-dev:amd64 /usr/lib/x86_64-linux-gnu/liblzma.a
	need_file libzstd-dev:amd64 /usr/lib/x86_64-linux-gnu/libzstd.a
fi
need_command gcc gcc
need_command make make
need_command binutils objcopy
need_file libc6-dev $multiarch/libc.a /usr/lib64/libc.a /usr/lib/libc.a
need_file libjansson-dev $multiarch/libjansson.a /usr/lib64/libjansson.so /usr/lib/libjansson.so
need_file liblzma-dev $multiarch/liblzma.a /usr/lib64/liblzma.so /usr/lib/liblzma.so
need_file libzstd-dev $multiarch/libzstd.a /usr/lib64/libzstd.so /usr/lib/libzstd.so
need_command qemu-system-x86 qemu-system-x86_64
need_command qemu-system-arm qemu-system-aarch64
if [ $checks = yes ]; then
	need_file libcmocka-dev $multiarch/libcmocka.so /usr/lib64/libcmocka.so /usr/lib/libcmocka.so
	need_command shellcheck shellcheck
	need_command clang-format clang-format
	need_command cppcheck cppcheck
	need_command jq jq
	need_command libxml2-utils xmllint
	need_command groff-base groff
	need_file ovmf /usr/share/OVMF/OVMF_CODE_4M.fd /usr/share/edk2/ovmf/OVMF_CODE.fd \
		/usr/share/edk2/x64/OVMF_CODE.4m.fd
	need_file qemu-efi-aarch64 /usr/share/qemu-efi-aarch64/QEMU_EFI.fd \
		/usr/share/edk2/aarch64/QEMU_EFI.fd /usr/share/edk2/aarch64/QEMU_CODE.fd
fi

[ ${#missing[@]} -eq 0 ] && exit 0

if [ $probe = yes ]; then
	echo "setup.sh: missing: ${missing[*]}" >&2
	exit 3
fi

# On other distributions the names differ and nothing is installed.
if ! command -v apt-get >/dev/null; then
	cat >&2 <<EOF
setup.sh: missing here (by their Debian names): ${missing[*]}
setup.sh: this is no Debian or Ubuntu, so nothing was installed. Install:
  Fedora:  gcc make binutils gcc-aarch64-linux-gnu binutils-aarch64-linux-gnu qemu-system-x86
           qemu-system-aarch64 jansson-devel xz-devel xz-static libzstd-static glibc-static
           libfdt-devel libcmocka-devel ShellCheck clang-tools-extra cppcheck jq libxml2 groff-base
           edk2-ovmf edk2-aarch64
           (arm64's libfdt.a has no package for other hosts: without it, x86_64 alone is built)
  Arch:    base-devel aarch64-linux-gnu-gcc qemu-system-x86 qemu-system-aarch64 jansson xz zstd
           dtc cmocka shellcheck clang cppcheck jq libxml2 groff edk2-ovmf edk2-aarch64
EOF
	exit 3
fi

if [ "$(id -u)" -ne 0 ]; then
	options=
	[ $checks = yes ] && options=" --checks"
	{
		echo "setup.sh: missing: ${missing[*]}"
		echo "setup.sh: installing them needs root. Run once:"
		echo "  sudo $root/scripts/setup.sh$options"
	} >&2
	exit 3
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive

echo "setup.sh: installing ${missing[*]}"

case " ${missing[*]} " in
*":$foreign "*) dpkg --print-foreign-architectures | grep -qx $foreign ||
	dpkg --add-architecture $foreign ;;
esac

# A third-party source without an index for the foreign architecture makes this fail, though all
# that is wanted can be had: what counts is whether the packages install.
apt-get update >"$log" 2>&1 || updated=no

# libfdt-dev of two architectures cannot be installed together. Where the host's own is there, it
# stays: the other's library is unpacked into the build directory, headers being the same.
unpack_libfdt() {
	local dir=$root/build/sysroot
	mkdir -p "$dir" &&
		(cd "$dir" && apt-get -o APT::Sandbox::User=root download libfdt-dev:arm64 &&
			dpkg-deb -x libfdt-dev_*_arm64.deb . && rm -f libfdt-dev_*_arm64.deb)
}
packages=()
for package in "${missing[@]}"; do
	if [ "$package" = libfdt-dev:arm64 ] &&
		dpkg-query -W -f '${Status}' libfdt-dev:amd64 2>/dev/null | grep -q 'ok installed'; then
		unpack_libfdt >>"$log" 2>&1 || packages+=("$package")
	else
		packages+=("$package")
	fi
done

install() {
	apt-get install -y --no-install-recommends --no-remove "$@" >>"$log" 2>&1
}

status=0
if [ ${#packages[@]} -gt 0 ] && ! install "${packages[@]}"; then
	# One that cannot be had must not keep the others away.
	for package in "${packages[@]}"; do
		if ! install "$package"; then
			echo "setup.sh: apt could not install $package" >&2
			status=3
		fi
	done
fi
if [ $status -ne 0 ]; then
	tail -n 15 "$log" >&2
	[ "${updated:-yes}" = no ] &&
		echo "setup.sh: 'apt-get update' failed as well: is there a network?" >&2
	if grep -qi '^ID=ubuntu' /etc/os-release 2>/dev/null; then
		echo "setup.sh: on Ubuntu, packages of other architectures are on the ports mirror:" \
			"add it to apt's sources with [arch=$foreign], then run this again" >&2
	fi
fi
# What was configured before did not know of these packages.
rm -f "$root/build/config.stamp"
exit $status
