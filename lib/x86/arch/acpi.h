/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the ACPI tables told about this machine (ACPI 6.4, chapter 5). Read once at start-up; a table
 * that is too short, too long or fails its checksum is left out and named in acpi.problem.
 */
#ifndef ARCH_ACPI_H
#define ARCH_ACPI_H

#include "smp.h"
#include "types.h"

#define ACPI_IO_APICS_MAX 8

struct acpi {
	bool has_madt;
	bool has_8259; /* MADT flag PCAT_COMPAT */
	u64 local_apic_base;
	int nr_cpus;	      /* enabled ones */
	int nr_cpus_left_out; /* enabled, but more than MAX_CPUS */
	int nr_cpus_offline;  /* not enabled, online capable: may be plugged in later */
	u32 apic_ids[MAX_CPUS];
	int nr_disabled; /* not enabled, which is all that QEMU says of those that may come later */
	u32 disabled_apic_ids[MAX_CPUS];
	int nr_io_apics;
	u64 io_apics[ACPI_IO_APICS_MAX];
	u16 pm_timer_port; /* 0 where there is none */
	bool pm_timer_32bit;
	u64 hpet_base; /* 0 where there is none */
	/* From the lowest table above the image's 1 MiB to the end of memory nothing is handed out. */
	u64 lowest_table;
	const char *problem; /* the first one found, or NULL */
};

extern struct acpi acpi;

#endif
