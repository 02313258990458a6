#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Images as real machines start them, under QEMU with real firmware: UEFI applications for both
# architectures, and x86's multiboot2 by GRUB from a BIOS. The verdicts are those of any other run.

# shellcheck source-path=SCRIPTDIR source=suite.sh
. "$(dirname "$0")/suite.sh"

# first FILE...: the first that exists
first() {
	local file
	for file in "$@"; do
		[ -e "$file" ] && echo "$file" && return
	done
	return 1
}

ovmf=$(first /usr/share/OVMF/OVMF_CODE_4M.fd /usr/share/edk2/ovmf/OVMF_CODE.fd /usr/share/edk2/x64/OVMF_CODE.4m.fd)
aavmf=$(first /usr/share/qemu-efi-aarch64/QEMU_EFI.fd /usr/share/edk2/aarch64/QEMU_EFI.fd /usr/share/edk2/aarch64/QEMU_CODE.fd)

applications() { # ARCH NAME...
	local arch=$1
	shift
	make -s -C "$root" "efi-$arch" EFI_TESTS="$*" >make.log 2>&1 || complain "make efi-$arch: $(tail -n 5 make.log)"
}

# boot QEMU WORD...: until the image's end line; what the guest prints is in "console"
boot() {
	timeout 120 "$@" -accel tcg -nodefaults -display none -no-reboot -serial stdio \
		</dev/null 2>stderr | tr -d '\r' | sed '/^@ktt end /q' >console
}

judge() { # ARCH IMAGE
	expect_text console "^@ktt hello version=1 arch=$1 image=$2\$"
	expect_text console '^@ktt end checks=[0-9]+ failed=0$'
	expect_no_text console '^ *not ok'
}

# A disk that is a directory, with the application where firmware looks for one to start.
disk() { # APPLICATION NAME
	rm -rf disk
	mkdir -p disk/EFI/BOOT
	cp "$1" "disk/EFI/BOOT/$2"
}

uefi_x86_64() {
	applications x86_64 selftest
	disk "$root/build/efi/x86_64/selftest.efi" BOOTX64.EFI
	boot qemu-system-x86_64 -M q35 -cpu max -smp 4 -m 256 \
		-drive if=pflash,format=raw,readonly=on,file="$ovmf" -drive format=raw,file=fat:rw:disk
	judge x86_64 selftest
	expect_text console '^# 4 CPUs'
}

uefi_arm64() {
	applications arm64 selftest selftest-el2
	disk "$root/build/efi/arm64/selftest.efi" BOOTAA64.EFI
	boot_arm64 ''
	judge arm64 selftest
	expect_text console 'entered at EL1, runs at EL1'
	disk "$root/build/efi/arm64/selftest-el2.efi" BOOTAA64.EFI
	boot_arm64 ,virtualization=on
	judge arm64 selftest
	expect_text console 'entered at EL2, runs at EL2'
}

boot_arm64() { # MACHINE PROPERTIES
	boot qemu-system-aarch64 -M "virt,acpi=off,gic-version=3$1" -cpu max -smp 4 -m 256 \
		-bios "$aavmf" -drive if=none,id=disk,format=raw,file=fat:rw:disk \
		-device virtio-blk-pci,drive=disk
}

# The same firmware without a devicetree: it is said what is missing.
uefi_arm64_without_devicetree() {
	applications arm64 selftest
	disk "$root/build/efi/arm64/selftest.efi" BOOTAA64.EFI
	timeout 60 qemu-system-aarch64 -M virt,gic-version=3 -cpu max -m 256 -accel tcg -nodefaults \
		-display none -serial stdio -bios "$aavmf" \
		-drive if=none,id=disk,format=raw,file=fat:rw:disk -device virtio-blk-pci,drive=disk \
		</dev/null 2>stderr | tr -d '\r' | sed '/no devicetree/q' >console
	expect_text console 'the firmware has no devicetree'
}

grub_x86_64() {
	mkdir -p iso/boot/grub
	cp "$root/build/x86_64/x86/selftest.elf" iso/boot/
	cat >iso/boot/grub/grub.cfg <<-'END'
		set timeout=0
		menuentry selftest {
			multiboot2 /boot/selftest.elf alone
		}
	END
	grub-mkrescue -o disk.iso iso >grub.log 2>&1 || complain "grub-mkrescue: $(tail -n 3 grub.log)"
	boot qemu-system-x86_64 -M pc -cpu max -smp 2 -m 128 -cdrom disk.iso
	judge x86_64 selftest
}

if [ -n "$ovmf" ]; then
	it "x86_64 boots from UEFI" uefi_x86_64
else
	skip "x86_64 boots from UEFI" "no OVMF: install ovmf (edk2-ovmf)"
fi
if [ -n "$aavmf" ]; then
	it "arm64 boots from UEFI, at EL1 and at EL2" uefi_arm64
	it "without a devicetree it says so" uefi_arm64_without_devicetree
else
	skip "arm64 boots from UEFI" "no AAVMF: install qemu-efi-aarch64 (edk2-aarch64)"
fi
if command -v grub-mkrescue >/dev/null && command -v xorriso >/dev/null && [ -d /usr/lib/grub/i386-pc ]; then
	it "x86_64 boots from GRUB by multiboot2" grub_x86_64
else
	skip "x86_64 boots from GRUB" "no GRUB for BIOS: install grub-pc-bin, grub-common, xorriso, mtools"
fi
finish
