// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Faults of the devicetree, made in the finished one.
 */
#include <libfdt.h>
#include "kvm/fault_hooks.h"

#define PPM 1000000

/* arm,gic.yaml: three cells an interrupt: type, number, flags; arm,arch_timer.yaml: the virtual one */
#define CELL_NUMBER   1
#define CELLS	      3
#define TIMER_VIRTUAL 2

/* A cell of a property, or NULL where a machine has no such node. */
static fdt32_t *cell(void *fdt, const char *path, size_t index)
{
	int node = fdt_path_offset(fdt, path);
	int len;
	fdt32_t *cells = node < 0 ? NULL : fdt_getprop_w(fdt, node, "interrupts", &len);

	return cells && (index + 1) * sizeof(*cells) <= (size_t)len ? &cells[index] : NULL;
}

static void set_cell(void *fdt, const char *path, size_t index, u32 value)
{
	fdt32_t *to = cell(fdt, path, index);

	if (to)
		*to = cpu_to_fdt32(value);
}

static int add_frequency(void *fdt, size_t size, s64 ppm)
{
	u64 hz = host_counter_hz();
	int node;

	if (fdt_open_into(fdt, fdt, size) < 0)
		return -1;
	node = fdt_path_offset(fdt, "/timer");
	return fdt_setprop_u32(fdt, node, "clock-frequency", hz + (s64)hz * ppm / PPM);
}

int fault_devicetree(const struct vm *vm, void *fdt, size_t size, struct error *err)
{
	if (!vm->options->faults)
		return 0;
	if (fault_is_on(vm, FAULT_DT_TIMER_PPI))
		set_cell(fdt, "/timer", TIMER_VIRTUAL * CELLS + CELL_NUMBER,
			 PPI_TIMER_HYP_VIRT - 16);
	if (fault_is_on(vm, FAULT_DT_PMU_PPI))
		set_cell(fdt, "/pmu", CELL_NUMBER, PPI_PMU - 16 - 1);
	if (fault_is_on(vm, FAULT_DT_CLOCK_FREQUENCY) &&
	    add_frequency(fdt, size, fault_arg(vm, FAULT_DT_CLOCK_FREQUENCY)))
		return error_set(err, "--fault: no room for clock-frequency in the devicetree");
	return 0;
}
