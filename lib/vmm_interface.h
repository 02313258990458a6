/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this project's own VMM (host/kvm/) offers its guests beside a plain machine: included by both
 * sides. An image that finds none of it does without.
 *
 * The bulk console prints any number of bytes with one exit. It has two registers, on x86 at ports,
 * on arm64 in memory: the guest writes once where its buffer is, then for each output how many bytes
 * of it to print. Input comes from the UART.
 */
#ifndef VMM_INTERFACE_H
#define VMM_INTERFACE_H

/* Offsets of the bulk console's registers. */
#define BULK_CONSOLE_ADDRESS 0 /* guest-physical; 8 bytes wide, 4 at x86's ports */
#define BULK_CONSOLE_LENGTH  8 /* 4 bytes wide; the write prints */
#define BULK_CONSOLE_SIZE    16
/* Most that one write may print. */
#define BULK_CONSOLE_LENGTH_MAX 65536

/* arm64: the devicetree node of the bulk console; its reg is the registers' page. */
#define BULK_CONSOLE_COMPATIBLE "kvm-time-tests,bulk-console"

/*
 * x86: a block of CPUID leaves for hypervisors with this name, behind those of KVM. Of the leaf after
 * the first, EAX is the bulk console's first port and EBX the port of the ACPI register that
 * powers off; 0 where there is none.
 */
#define VMM_CPUID_SIGNATURE "KvmTimeTests"
/* Sleep enable (ACPI 6.4, 4.8.3.2.1): what the 16-bit power-off port wants to see. */
#define VMM_POWER_OFF_VALUE 0x2000

#endif
