// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the machine out of the devicetree, by the bindings of Linux's Documentation/devicetree:
 * arm/cpus.yaml, arm/psci.yaml, interrupt-controller/arm,gic.yaml and arm,gic-v3.yaml,
 * timer/arm,arch_timer.yaml, serial/pl011.yaml and 8250.yaml, and the Devicetree Specification for
 * memory and /chosen.
 */
#include "console.h"
#include "panic.h"
#include "stdio.h"
#include "string.h"
#include "types.h"
#include "fdt_util.h"
#include "startup.h"
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

/* ---- console ----------------------------------------------------------------------------- */

static const char *const pl011_names[] = { "arm,pl011", "arm,sbsa-uart" };
static const char *const ns16550_names[] = { "ns16550a", "ns16550", "snps,dw-apb-uart" };

static bool read_uart(struct machine *m, int node)
{
	static const char *const sbsa[] = { "arm,sbsa-uart" };
	const void *fdt = m->fdt;

	if (fdt_util_is_compatible(fdt, node, pl011_names, ARRAY_SIZE(pl011_names)))
		m->uart = UART_PL011;
	else if (fdt_util_is_compatible(fdt, node, ns16550_names, ARRAY_SIZE(ns16550_names)))
		m->uart = UART_16550;
	else
		return false;
	if (fdt_util_reg(fdt, node, "reg", 0, &m->uart_registers)) {
		m->uart = UART_NONE;
		return false;
	}
	m->uart_is_sbsa = fdt_util_is_compatible(fdt, node, sbsa, ARRAY_SIZE(sbsa));
	m->uart_registers.base += fdt_util_number(fdt, node, "reg-offset", 0);
	m->uart_reg_shift = fdt_util_number(fdt, node, "reg-shift", 0);
	m->uart_reg_io_width = fdt_util_number(fdt, node, "reg-io-width", 1);
	return true;
}

/* "serial0:115200n8", "/pl011@9000000": what follows the colon is the line's speed. */
static int stdout_node(const void *fdt)
{
	int chosen = fdt_path_offset(fdt, "/chosen");
	const char *path, *colon;

	if (chosen < 0)
		return -1;
	path = fdt_util_string(fdt, chosen, "stdout-path", 0);
	if (!path)
		path = fdt_util_string(fdt, chosen, "linux,stdout-path", 0);
	if (!path)
		return -1;
	colon = strchr(path, ':');
	return fdt_path_offset_namelen(fdt, path, colon ? colon - path : (int)strlen(path));
}

bool devicetree_find_console(const void *fdt)
{
	struct machine *m = &the_machine;
	int node;

	/* fdt_check_header() believes totalsize; only so much is mapped. */
	if (fdt_check_header(fdt) || fdt_totalsize(fdt) > FDT_MAX_SIZE)
		return false;
	m->fdt = fdt;
	node = stdout_node(fdt);
	if (node >= 0 && read_uart(m, node))
		return true;
	node = fdt_util_next_compatible(fdt, -1, pl011_names, ARRAY_SIZE(pl011_names));
	if (node < 0 || !read_uart(m, node)) {
		node = fdt_util_next_compatible(fdt, -1, ns16550_names, ARRAY_SIZE(ns16550_names));
		if (node >= 0)
			read_uart(m, node);
	}
	return true;
}

const char *devicetree_bootargs(void)
{
	const void *fdt = the_machine.fdt;
	int chosen = fdt_path_offset(fdt, "/chosen");
	const char *bootargs = NULL;

	if (chosen >= 0)
		bootargs = fdt_util_string(fdt, chosen, "bootargs", 0);
	return bootargs ? bootargs : "";
}

/* ---- memory ------------------------------------------------------------------------------ */

static void read_memory(struct machine *m)
{
	int node = -1;

	while ((node = fdt_node_offset_by_prop_value(m->fdt, node, "device_type", "memory",
						     sizeof("memory"))) >= 0) {
		struct address_range range;

		for (int i = 0; !fdt_util_reg(m->fdt, node, "reg", i, &range); i++) {
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
		panic("devicetree: no node with device_type \"memory\" and a reg");
}

static void read_initrd(struct machine *m)
{
	int chosen = fdt_path_offset(m->fdt, "/chosen");
	u64 end;

	if (chosen < 0)
		return;
	m->initrd.base = fdt_util_number(m->fdt, chosen, "linux,initrd-start", 0);
	end = fdt_util_number(m->fdt, chosen, "linux,initrd-end", 0);
	m->initrd.size = end > m->initrd.base ? end - m->initrd.base : 0;
}

/* Calls fn for everything that lies in RAM and is not free. */
static void for_each_reserved(void (*fn)(struct address_range reserved, void *arg), void *arg)
{
	const void *fdt = the_machine.fdt;
	struct address_range range;
	int parent, node;

	fn((struct address_range){ (u64)_start, _end - _start }, arg);
	fn((struct address_range){ (u64)fdt, fdt_totalsize(fdt) }, arg);
	fn(the_machine.initrd, arg);
	for (int i = 0; i < fdt_num_mem_rsv(fdt); i++) {
		if (!fdt_get_mem_rsv(fdt, i, &range.base, &range.size))
			fn(range, arg);
	}
	parent = fdt_path_offset(fdt, "/reserved-memory");
	if (parent < 0)
		return;
	fdt_for_each_subnode(node, fdt, parent)
	{
		for (int i = 0; !fdt_util_reg(fdt, node, "reg", i, &range); i++)
			fn(range, arg);
	}
}

struct cut {
	u64 at;	 /* the first address in question */
	u64 end; /* where the free piece that begins there ends */
};

/* Moves cut->at behind a reservation that covers it, and cut->end before one that follows. */
static void cut_reserved(struct address_range reserved, void *arg)
{
	struct cut *cut = arg;
	u64 end = reserved.base + reserved.size;

	if (!reserved.size)
		return;
	if (reserved.base <= cut->at && cut->at < end)
		cut->at = end;
	else if (reserved.base > cut->at && reserved.base < cut->end)
		cut->end = reserved.base;
}

struct address_range devicetree_free_memory(void)
{
	const struct machine *m = &the_machine;
	struct address_range best = { 0 };

	for (int i = 0; i < m->nr_memory; i++) {
		u64 at = ALIGN_UP(m->memory[i].base, MMU_BLOCK_SIZE);
		u64 bank_end = ALIGN_DOWN(m->memory[i].base + m->memory[i].size, MMU_BLOCK_SIZE);

		while (at < bank_end) {
			struct cut cut = { at, bank_end };

			for_each_reserved(cut_reserved, &cut);
			if (cut.at != at) { /* was reserved; look again from behind it */
				at = cut.at;
				continue;
			}
			if (cut.end - at > best.size)
				best = (struct address_range){ at, cut.end - at };
			at = cut.end;
		}
	}
	return best;
}

/* ---- CPUs and PSCI ----------------------------------------------------------------------- */

/* The boot CPU becomes CPU 0; the others follow in the devicetree's order. */
static void read_cpus(struct machine *m)
{
	u64 own = mpidr_el1() & MPIDR_AFFINITY_MASK;
	int cpus = fdt_path_offset(m->fdt, "/cpus");
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
	static const char *const any[] = { "arm,psci", "arm,psci-0.2", "arm,psci-1.0" };
	int node = fdt_util_next_compatible(m->fdt, -1, any, ARRAY_SIZE(any));
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

static const char *const gicv2_names[] = {
	"arm,cortex-a15-gic", "arm,gic-400",	"arm,cortex-a7-gic",
	"arm,cortex-a9-gic",  "qcom,msm-qgic2",
};
static const char *const gicv3_names[] = { "arm,gic-v3" };

static int read_gicv3(struct machine *m, int node)
{
	u64 regions = fdt_util_number(m->fdt, node, "#redistributor-regions", 1);

	if (regions > MAX_REDISTRIBUTORS)
		panic("devicetree: %lu redistributor regions; raise MAX_REDISTRIBUTORS in "
		      "lib/arm64/arch/devicetree.h",
		      regions);
	for (u64 i = 0; i < regions; i++) {
		if (fdt_util_reg(m->fdt, node, "reg", 1 + i, &m->gic_redistributors[i]))
			return -1;
	}
	m->nr_gic_redistributors = regions;
	m->gic_redistributor_stride = fdt_util_number(m->fdt, node, "redistributor-stride", 0);
	return fdt_util_reg(m->fdt, node, "reg", 0, &m->gic_distributor);
}

static void read_gic(struct machine *m)
{
	int node = fdt_util_next_compatible(m->fdt, -1, gicv3_names, ARRAY_SIZE(gicv3_names));
	int err;

	if (node >= 0) {
		m->gic_version = 3;
		err = read_gicv3(m, node);
	} else {
		node = fdt_util_next_compatible(m->fdt, -1, gicv2_names, ARRAY_SIZE(gicv2_names));
		if (node < 0)
			return;
		m->gic_version = 2;
		err = fdt_util_reg(m->fdt, node, "reg", 0, &m->gic_distributor) ||
		      fdt_util_reg(m->fdt, node, "reg", 1, &m->gic_cpu_interface);
	}
	if (err)
		panic("devicetree: the GICv%d's reg lacks an address or is out of its bus's ranges",
		      m->gic_version);
}

/* The number of cells that one interrupt of this node takes. */
static u32 interrupt_cells(const void *fdt, int node)
{
	u32 phandle, cells = 3;

	for (int at = node; at >= 0; at = fdt_parent_offset(fdt, at)) {
		if (fdt_util_cell(fdt, at, "interrupt-parent", 0, &phandle))
			continue;
		at = fdt_node_offset_by_phandle(fdt, phandle);
		if (at >= 0)
			fdt_util_cell(fdt, at, "#interrupt-cells", 0, &cells);
		break;
	}
	return cells;
}

static void read_timer_interrupt(struct machine *m, int node, u32 cells, int index,
				 struct interrupt *irq)
{
	u32 type, number, flags;

	if (fdt_util_cell(m->fdt, node, "interrupts", index * cells, &type) ||
	    fdt_util_cell(m->fdt, node, "interrupts", index * cells + 1, &number) ||
	    fdt_util_cell(m->fdt, node, "interrupts", index * cells + 2, &flags))
		return;
	if (type != 1 || number > 15)
		panic("devicetree: interrupt %d of the timer is no PPI (type %u, number %u)", index,
		      type, number);
	irq->intid = 16 + number;
	irq->edge = flags & 3; /* 1 rising, 2 falling; 4 and 8 are levels */
}

static void read_timer(struct machine *m)
{
	static const char *const timer_names[] = { "arm,armv8-timer", "arm,armv7-timer" };
	static const char *const interrupt_names[NR_TIMER_IRQS] = { "sec-phys", "phys", "virt",
								    "hyp-phys", "hyp-virt" };
	int node = fdt_util_next_compatible(m->fdt, -1, timer_names, ARRAY_SIZE(timer_names));
	bool named;
	u32 cells;

	if (node < 0)
		panic("devicetree: no arm,armv8-timer");
	m->timer_clock_hz = fdt_util_number(m->fdt, node, "clock-frequency", 0);
	cells = interrupt_cells(m->fdt, node);
	if (cells < 3)
		panic("devicetree: the timer's interrupts have %u cells, a GIC's have 3", cells);
	named = fdt_getprop(m->fdt, node, "interrupt-names", NULL);
	for (int i = 0; i < NR_TIMER_IRQS; i++) {
		int index = i;

		if (named)
			index = fdt_stringlist_search(m->fdt, node, "interrupt-names",
						      interrupt_names[i]);
		if (index >= 0)
			read_timer_interrupt(m, node, cells, index, &m->timer[i]);
	}
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
}
