/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine as the devicetree describes it: read once, at start-up.
 */
#ifndef ARCH_DEVICETREE_H
#define ARCH_DEVICETREE_H

#include "smp.h"
#include "types.h"
#include <arch/psci.h>

#define MAX_MEMORY_BANKS   16
#define MAX_REDISTRIBUTORS 8

struct address_range {
	u64 base;
	u64 size;
};

/* The interrupts of an arm,armv8-timer node, in the binding's order. */
enum timer_irq {
	TIMER_IRQ_SEC_PHYS,
	TIMER_IRQ_PHYS,
	TIMER_IRQ_VIRT,
	TIMER_IRQ_HYP_PHYS,
	TIMER_IRQ_HYP_VIRT,
	NR_TIMER_IRQS,
};

struct interrupt {
	u32 intid; /* 0: there is none */
	bool edge;
};

enum uart_kind {
	UART_NONE,
	UART_PL011,
	UART_16550,
};

struct machine {
	const void *fdt;

	struct address_range memory[MAX_MEMORY_BANKS];
	int nr_memory;
	struct address_range initrd; /* size 0: there is none */

	int nr_cpus;  /* in cpu_mpidr */
	int nr_named; /* also those that this suite cannot start, or has no room for */
	u64 cpu_mpidr[MAX_CPUS];

	enum psci_method psci_method;
	u32 psci_cpu_on;
	u32 psci_version_min; /* 1: PSCI 0.1, whose only call is cpu_on; 2: 0.2 or later */

	int gic_version; /* 0: none found */
	struct address_range gic_distributor;
	struct address_range gic_cpu_interface; /* GICv2 */
	struct address_range gic_redistributors[MAX_REDISTRIBUTORS];
	int nr_gic_redistributors;
	u64 gic_redistributor_stride; /* 0: by GICR_TYPER */

	struct interrupt timer[NR_TIMER_IRQS];
	struct interrupt pmu; /* of the arm,armv8-pmuv3 node, where that is a PPI */
	u64 timer_clock_hz;   /* clock-frequency of the timer node, 0 where it has none */

	enum uart_kind uart;
	bool uart_is_sbsa; /* a PL011 without line control */
	struct address_range uart_registers;
	u32 uart_reg_shift;
	u32 uart_reg_io_width;
	struct address_range bulk_console; /* size 0: there is none (vmm_interface.h) */
};

const struct machine *machine(void);

/*
 * The console's part of it, before anything that could fail with a message. false where fdt is no
 * devicetree.
 */
bool devicetree_find_console(const void *fdt);

/* bootargs: "" where there are none. */
const char *devicetree_bootargs(void);

/* All the rest; ends the image where it finds no sense in it. */
void devicetree_read(void);

/* Calls fn for what the reservation block and /reserved-memory take of RAM. */
void devicetree_for_each_reserved(void (*fn)(struct address_range reserved, void *arg), void *arg);

#endif
