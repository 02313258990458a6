// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the machine out of the devicetree, by the bindings of Linux's Documentation/devicetree:
 * arm/cpus.yaml, arm/psci.yaml, interrupt-controller/arm,gic.yaml and arm,gic-v3.yaml,
 * timer/arm,arch_timer.yaml, arm/pmu.yaml, serial/pl011.yaml and 8250.yaml, and the Devicetree
 * Specification for memory and /chosen.
 */
#include "console.h"
#include "panic.h"
#include "stdio.h"
#include "string.h"
#include "types.h"
#include "fdt_util.h"
#include "startup.h"
#include "vmm_interface.h"
#include <arch/devicetree.h>
#include <arch/mmu.h>
#include <arch/sysreg.h>

/* An Image's devicetree is at most so long (booting.rst). */
#define FDT_MAX_SIZE 0x200000

static struct machine the_machine;

const struct machine *machine(void)
{
	return &the_machine;
}

/* ---- the nodes that are of interest ---------------------------------------------------------- */

#define MAX_DEPTH 16
#define MAX_UARTS 8

static const char *const pl011_names[] = { "arm,pl011", "arm,sbsa-uart" };
static const char *const ns16550_names[] = { "ns16550a", "ns16550", "snps,dw-apb-uart" };
static const char *const psci_names[] = { "arm,psci", "arm,psci-0.2", "arm,psci-1.0" };
static const char *const gicv2_names[] = { "arm,cortex-a15-gic", "arm,gic-400",
					   "arm,cortex-a7-gic" };
static const char *const gicv3_names[] = { "arm,gic-v3" };
static const char *const timer_names[] = { "arm,armv8-timer", "arm,armv7-timer" };
static const char *const pmu_names[] = { "arm,armv8-pmuv3" };
static const char *const bulk_console_names[] = { BULK_CONSOLE_COMPATIBLE };

/*
 * Where they are in the tree. libfdt finds a node by walking to it from the start; every VMM names
 * dozens of devices, and the walks would be most of start-up. So there is one.
 */
static struct {
	struct fdt_node chosen, cpus, reserved_memory;
	struct fdt_node memory[MAX_MEMORY_BANKS];
	struct fdt_node psci, gicv2, gicv3, timer, pmu, bulk_console;
	struct fdt_node uarts[MAX_UARTS];
	int nr_memory;
	int nr_uarts;
} found;

static void keep_first(struct fdt_node *slot, struct fdt_node where)
{
	if (slot->node < 0)
		*slot = where;
}

/* The children of the root that are known by their names. */
static void find_by_name(const void *fdt, struct fdt_node where)
{
	const char *name = fdt_get_name(fdt, where.node, NULL);

	if (!name)
		return;
	if (!strcmp(name, "chosen"))
		keep_first(&found.chosen, where);
	else if (!strcmp(name, "cpus"))
		keep_first(&found.cpus, where);
	else if (!strcmp(name, "reserved-memory"))
		keep_first(&found.reserved_memory, where);
	else if ((!strcmp(name, "memory") || !strncmp(name, "memory@", strlen("memory@"))) &&
		 found.nr_memory < MAX_MEMORY_BANKS)
		found.memory[found.nr_memory++] = where;
}

static bool is(const void *fdt, struct fdt_node where, const char *const *names, size_t count)
{
	return fdt_util_is_compatible(fdt, where.node, names, count);
}

static void find_by_compatible(const void *fdt, struct fdt_node where)
{
	if (!fdt_getprop(fdt, where.node, "compatible", NULL) ||
	    !fdt_util_is_enabled(fdt, where.node))
		return;
	if (is(fdt, where, pl011_names, ARRAY_SIZE(pl011_names)) ||
	    is(fdt, where, ns16550_names, ARRAY_SIZE(ns16550_names))) {
		if (found.nr_uarts < MAX_UARTS)
			found.uarts[found.nr_uarts++] = where;
	} else if (is(fdt, where, psci_names, ARRAY_SIZE(psci_names))) {
		keep_first(&found.psci, where);
	} else if (is(fdt, where, gicv3_names, ARRAY_SIZE(gicv3_names))) {
		keep_first(&found.gicv3, where);
	} else if (is(fdt, where, gicv2_names, ARRAY_SIZE(gicv2_names))) {
		keep_first(&found.gicv2, where);
	} else if (is(fdt, where, timer_names, ARRAY_SIZE(timer_names))) {
		keep_first(&found.timer, where);
	} else if (is(fdt, where, pmu_names, ARRAY_SIZE(pmu_names))) {
		keep_first(&found.pmu, where);
	} else if (is(fdt, where, bulk_console_names, ARRAY_SIZE(bulk_console_names))) {
		keep_first(&found.bulk_console, where);
	}
}

static void find_nodes(const void *fdt)
{
	static const struct fdt_node none = { -1, -1 };
	int parents[MAX_DEPTH] = { 0 };
	int depth = 0;

	found.chosen = found.cpus = found.reserved_memory = none;
	found.psci = found.gicv2 = found.gicv3 = found.timer = found.pmu = found.bulk_console =
		none;
	for (int node = fdt_next_node(fdt, 0, &depth); node >= 0 && depth > 0;
	     node = fdt_next_node(fdt, node, &depth)) {
		struct fdt_node where = { node, 0 };

		if (depth >= MAX_DEPTH)
			continue;
		parents[depth] = node;
		where.parent = parents[depth - 1];
		if (depth == 1)
			find_by_name(fdt, where);
		find_by_compatible(fdt, where);
	}
}

/* ---- console --------------------------------------------------------------------------------- */

static bool read_uart(struct machine *m, struct fdt_node where)
{
	static const char *const sbsa[] = { "arm,sbsa-uart" };
	const void *fdt = m->fdt;

	if (fdt_util_reg(fdt, where, 0, &m->uart_registers))
		return false;
	m->uart = is(fdt, where, pl011_names, ARRAY_SIZE(pl011_names)) ? UART_PL011 : UART_16550;
	m->uart_is_sbsa = is(fdt, where, sbsa, ARRAY_SIZE(sbsa));
	m->uart_registers.base += fdt_util_number(fdt, where.node, "reg-offset", 0);
	m->uart_reg_shift = fdt_util_number(fdt, where.node, "reg-shift", 0);
	m->uart_reg_io_width = fdt_util_number(fdt, where.node, "reg-io-width", 1);
	return true;
}

/* "serial0:115200n8", "/pl011@9000000": what follows the colon is the line's speed. */
static int stdout_node(const void *fdt)
{
	const char *path, *colon;

	if (found.chosen.node < 0)
		return -1;
	path = fdt_util_string(fdt, found.chosen.node, "stdout-path", 0);
	if (!path)
		path = fdt_util_string(fdt, found.chosen.node, "linux,stdout-path", 0);
	if (!path)
		return -1;
	colon = strchr(path, ':');
	return fdt_path_offset_namelen(fdt, path, colon ? colon - path : (int)strlen(path));
}

/* The UART that stdout-path names, else the first one that can be used. */
bool devicetree_find_console(const void *fdt)
{
	struct machine *m = &the_machine;
	int node;

	/* fdt_check_header() believes totalsize; only so much is mapped. */
	if (fdt_check_header(fdt) || fdt_totalsize(fdt) > FDT_MAX_SIZE)
		return false;
	m->fdt = fdt;
	find_nodes(fdt);
	if (found.bulk_console.node >= 0)
		fdt_util_reg(fdt, found.bulk_console, 0, &m->bulk_console);
	node = stdout_node(fdt);
	for (int i = 0; i < found.nr_uarts; i++) {
		if (found.uarts[i].node == node && read_uart(m, found.uarts[i]))
			return true;
	}
	for (int i = 0; i < found.nr_uarts; i++) {
		if (read_uart(m, found.uarts[i]))
			return true;
	}
	return true;
}

const char *devicetree_bootargs(void)
{
	const char *bootargs = NULL;

	if (found.chosen.node >= 0)
		bootargs = fdt_util_string(the_machine.fdt, found.chosen.node, "bootargs", 0);
	return bootargs ? bootargs : "";
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void read_memory(struct machine *m)
{
	for (int i = 0; i < found.nr_memory; i++) {
		struct address_range range;

		for (int k = 0; !fdt_util_reg(m->fdt, found.memory[i], k, &range); k++) {
			if (!range.size)
				continue;
			if (m->nr_memory == MAX_MEMORY_BANKS)
				panic("devicetree: more than %d banks of memory; raise "
				      "MAX_MEMORY_BANKS in lib/arm64/arch/devicetree.h",
				      MAX_MEMORY_BANKS);
			m->memory[m->nr_memory++] = range;
		}
	}
	if (!m->nr_memory)
		panic("devicetree: no node /memory with a reg");
}

static void read_initrd(struct machine *m)
{
	int chosen = found.chosen.node;
	u64 end;

	if (chosen < 0)
		return;
	m->initrd.base = fdt_util_number(m->fdt, chosen, "linux,initrd-start", 0);
	end = fdt_util_number(m->fdt, chosen, "linux,initrd-end", 0);
	m->initrd.size = end > m->initrd.base ? end - m->initrd.base : 0;
}

void devicetree_for_each_reserved(void (*fn)(struct address_range reserved, void *arg), void *arg)
{
	const void *fdt = the_machine.fdt;
	struct address_range range;
	int node;

	for (int i = 0; i < fdt_num_mem_rsv(fdt); i++) {
		if (!fdt_get_mem_rsv(fdt, i, &range.base, &range.size))
			fn(range, arg);
	}
	if (found.reserved_memory.node < 0)
		return;
	fdt_for_each_subnode(node, fdt, found.reserved_memory.node)
	{
		struct fdt_node where = { node, found.reserved_memory.node };

		for (int i = 0; !fdt_util_reg(fdt, where, i, &range); i++)
			fn(range, arg);
	}
}

/* ---- CPUs and PSCI ----------------------------------------------------------------------- */

/* The boot CPU becomes CPU 0; the others follow in the devicetree's order. */
static void read_cpus(struct machine *m)
{
	u64 own = mpidr_el1() & MPIDR_AFFINITY_MASK;
	int cpus = found.cpus.node;
	bool own_named = false;
	int node;

	m->cpu_mpidr[m->nr_cpus++] = own;
	if (cpus < 0)
		panic("devicetree: no /cpus");
	fdt_for_each_subnode(node, m->fdt, cpus)
	{
		const char *type = fdt_util_string(m->fdt, node, "device_type", 0);
		const char *method = fdt_util_string(m->fdt, node, "enable-method", 0);
		u64 mpidr = fdt_util_number(m->fdt, node, "reg", UINT64_MAX);

		if (!type || strcmp(type, "cpu") || mpidr == UINT64_MAX)
			continue;
		m->nr_named++;
		if (mpidr == own)
			own_named = true;
		else if (method && !strcmp(method, "psci") && m->nr_cpus < MAX_CPUS)
			m->cpu_mpidr[m->nr_cpus++] = mpidr;
	}
	if (!own_named)
		panic("devicetree: no CPU in /cpus has the boot CPU's MPIDR_EL1, %#lx", own);
}

static void read_psci(struct machine *m)
{
	static const char *const modern[] = { "arm,psci-0.2", "arm,psci-1.0" };
	int node = found.psci.node;
	const char *method;

	if (node < 0)
		return;
	method = fdt_util_string(m->fdt, node, "method", 0);
	if (method && !strcmp(method, "hvc"))
		m->psci_method = PSCI_HVC;
	else if (method && !strcmp(method, "smc"))
		m->psci_method = PSCI_SMC;
	else
		panic("devicetree: psci has method \"%s\", which is neither hvc nor smc",
		      method ? method : "");
	if (fdt_util_is_compatible(m->fdt, node, modern, ARRAY_SIZE(modern))) {
		m->psci_version_min = 2;
		m->psci_cpu_on = PSCI_CPU_ON;
	} else {
		m->psci_version_min = 1;
		m->psci_cpu_on = fdt_util_number(m->fdt, node, "cpu_on", 0);
	}
}

/* ---- interrupts -------------------------------------------------------------------------- */

static int read_gicv3(struct machine *m)
{
	u64 regions = fdt_util_number(m->fdt, found.gicv3.node, "#redistributor-regions", 1);

	if (regions > MAX_REDISTRIBUTORS)
		panic("devicetree: %lu redistributor regions; raise MAX_REDISTRIBUTORS in "
		      "lib/arm64/arch/devicetree.h",
		      regions);
	for (u64 i = 0; i < regions; i++) {
		if (fdt_util_reg(m->fdt, found.gicv3, 1 + i, &m->gic_redistributors[i]))
			return -1;
	}
	m->nr_gic_redistributors = regions;
	m->gic_redistributor_stride =
		fdt_util_number(m->fdt, found.gicv3.node, "redistributor-stride", 0);
	return fdt_util_reg(m->fdt, found.gicv3, 0, &m->gic_distributor);
}

static int read_gicv2(struct machine *m)
{
	return fdt_util_reg(m->fdt, found.gicv2, 0, &m->gic_distributor) ||
	       fdt_util_reg(m->fdt, found.gicv2, 1, &m->gic_cpu_interface);
}

static void read_gic(struct machine *m)
{
	int err;

	if (found.gicv3.node >= 0) {
		m->gic_version = 3;
		err = read_gicv3(m);
	} else if (found.gicv2.node >= 0) {
		m->gic_version = 2;
		err = read_gicv2(m);
	} else {
		panic("devicetree: no GICv2 or GICv3 (arm,gic-v3, arm,cortex-a15-gic, "
		      "arm,gic-400)");
	}
	if (err)
		panic("devicetree: the GICv%d's reg lacks an address or is out of its bus's ranges",
		      m->gic_version);
}

/* Cells in an interrupt of the GIC's. */
static u32 interrupt_cells(const struct machine *m)
{
	int gic = m->gic_version == 3 ? found.gicv3.node : found.gicv2.node;
	u64 cells = fdt_util_number(m->fdt, gic, "#interrupt-cells", 3);

	if (cells < 3)
		panic("devicetree: the GIC's interrupts have %lu cells instead of 3 or more",
		      cells);
	return cells;
}

/* The index-th of a node's interrupts. false, and *irq as it was, where that is none or no PPI. */
static bool read_ppi(const struct machine *m, int node, int index, struct interrupt *irq)
{
	u32 cells = interrupt_cells(m);
	u32 type, number, flags;

	if (fdt_util_cell(m->fdt, node, "interrupts", index * cells, &type) ||
	    fdt_util_cell(m->fdt, node, "interrupts", index * cells + 1, &number) ||
	    fdt_util_cell(m->fdt, node, "interrupts", index * cells + 2, &flags) || type != 1 ||
	    number > 15)
		return false;
	irq->intid = 16 + number;
	irq->edge = flags & 3; /* 1 rising, 2 falling; 4 and 8 are levels */
	return true;
}

static void read_timer_interrupt(struct machine *m, int index, struct interrupt *irq)
{
	u32 cell;

	if (!read_ppi(m, found.timer.node, index, irq) &&
	    !fdt_util_cell(m->fdt, found.timer.node, "interrupts", index * interrupt_cells(m),
			   &cell))
		panic("devicetree: interrupt %d of the timer is no PPI", index);
}

static void read_timer(struct machine *m)
{
	static const char *const interrupt_names[NR_TIMER_IRQS] = { "sec-phys", "phys", "virt",
								    "hyp-phys", "hyp-virt" };
	int node = found.timer.node;
	bool named;

	if (node < 0)
		panic("devicetree: no arm,armv8-timer");
	m->timer_clock_hz = fdt_util_number(m->fdt, node, "clock-frequency", 0);
	named = fdt_getprop(m->fdt, node, "interrupt-names", NULL);
	for (int i = 0; i < NR_TIMER_IRQS; i++) {
		int index = i;

		if (named)
			index = fdt_stringlist_search(m->fdt, node, "interrupt-names",
						      interrupt_names[i]);
		if (index >= 0)
			read_timer_interrupt(m, index, &m->timer[i]);
	}
}

/* Physical machines may have an SPI a CPU instead; nothing here uses those. */
static void read_pmu(struct machine *m)
{
	if (found.pmu.node >= 0)
		read_ppi(m, found.pmu.node, 0, &m->pmu);
}

void devicetree_read(void)
{
	struct machine *m = &the_machine;
	int err = fdt_check_full(m->fdt, FDT_MAX_SIZE);

	if (err)
		panic("devicetree: damaged: %s", fdt_strerror(err));
	read_memory(m);
	read_initrd(m);
	read_cpus(m);
	read_psci(m);
	read_gic(m);
	read_timer(m);
	read_pmu(m);
}
