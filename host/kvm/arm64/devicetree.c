// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The devicetree, by the bindings of Linux's Documentation/devicetree.
 */
#include <libfdt.h>
#include <stdio.h>
#include <string.h>
#include "kvm/fault_hooks.h"
#include "util/file.h"

#define PHANDLE_GIC   1
#define PHANDLE_CLOCK 2

/* arm,gic.yaml: type, number, flags; in GICv2, flags of a PPI name its CPUs as well. */
#define GIC_PPI		  1
#define IRQ_LEVEL_HIGH	  4
#define IRQ_LEVEL_LOW	  8
#define GICV2_CPU_MASK(n) (((1u << MIN(n, 8u)) - 1) << 8)
#define PPI_NUMBER(intid) ((intid)-16)
#define UART_CLOCK_HZ	  24000000

/*
 * Only the first failure matters, and it is nearly always want of room: so calls follow one another
 * and the sum is looked at in the end.
 */
struct tree {
	void *fdt;
	int error;
};

static void keep(struct tree *t, int error)
{
	if (!t->error)
		t->error = error;
}

static void begin(struct tree *t, const char *name)
{
	keep(t, fdt_begin_node(t->fdt, name));
}

static void end(struct tree *t)
{
	keep(t, fdt_end_node(t->fdt));
}

static void put_string(struct tree *t, const char *name, const char *value)
{
	keep(t, fdt_property_string(t->fdt, name, value));
}

static void put_u32(struct tree *t, const char *name, u32 value)
{
	keep(t, fdt_property_u32(t->fdt, name, value));
}

static void put_cells(struct tree *t, const char *name, const u32 *cells, size_t n)
{
	void *to;

	keep(t, fdt_property_placeholder(t->fdt, name, n * sizeof(u32), &to));
	for (size_t i = 0; !t->error && i < n; i++)
		((fdt32_t *)to)[i] = cpu_to_fdt32(cells[i]);
}

/* Address and size, two cells each; with a second pair where size2 is not 0. */
static void put_reg(struct tree *t, u64 base, u64 size, u64 base2, u64 size2)
{
	u32 cells[] = {
		base >> 32, base, size >> 32, size, base2 >> 32, base2, size2 >> 32, size2
	};

	put_cells(t, "reg", cells, size2 ? 8 : 4);
}

static void empty(struct tree *t, const char *name)
{
	keep(t, fdt_property(t->fdt, name, NULL, 0));
}

static void begin_at(struct tree *t, const char *name, u64 address)
{
	char full[64];

	snprintf(full, sizeof(full), "%s@%llx", name, (unsigned long long)address);
	begin(t, full);
}

/* ------------------------------------------------------------------------------------------------- */

/* kvm-arm.mode=nvhe and =protected, without which a kernel uses VHE on a CPU that has it. */
static bool kernel_without_vhe(void)
{
	struct text cmdline = { 0 };
	struct error err;
	bool found;

	if (file_read("/proc/cmdline", 4096, &cmdline, &err))
		return false;
	found = strstr(text_string(&cmdline), "kvm-arm.mode=nvhe") ||
		strstr(text_string(&cmdline), "kvm-arm.mode=protected");
	text_free(&cmdline);
	return found;
}

/*
 * Whether KVM lets the CPU apply an offset to the physical counter: ID_AA64MMFR0_EL1.ECV, which
 * Linux lets programs read (Documentation/arch/arm64/cpu-feature-registers.rst), is 2, and KVM has
 * VHE (has_cntpoff() in include/kvm/arm_arch_timer.h).
 */
static bool host_has_cntpoff(void)
{
	u64 features;

	__asm__("mrs %0, id_aa64mmfr0_el1" : "=r"(features));
	return features >> 60 >= 2 && !kernel_without_vhe();
}

/* The options' text, and what the machine has that an image cannot see. */
static void put_bootargs(struct tree *t, const struct machine_options *o)
{
	struct text args = { 0 };

	text_append(&args, o->append);
	if (o->counter_offset)
		text_printf(&args, " counter-offset=%llu%s", (unsigned long long)o->counter_offset,
			    host_has_cntpoff() ? " host-cntpoff" : "");
	put_string(t, "bootargs", text_string(&args));
	text_free(&args);
}

static void write_chosen(struct tree *t, const struct vm *vm)
{
	char path[64];

	begin(t, "chosen");
	put_bootargs(t, vm->options);
	snprintf(path, sizeof(path), "/pl011@%llx", (unsigned long long)PL011_ADDRESS);
	put_string(t, "stdout-path", path);
	end(t);
}

static void write_memory(struct tree *t, const struct vm *vm)
{
	for (size_t i = 0; i < vm->nr_regions; i++) {
		if (!vm->regions[i].is_ram)
			continue;
		begin_at(t, "memory", vm->regions[i].base);
		put_string(t, "device_type", "memory");
		put_reg(t, vm->regions[i].base, vm->regions[i].size, 0, 0);
		end(t);
	}
}

static void write_cpus(struct tree *t, const struct vm *vm)
{
	begin(t, "cpus");
	put_u32(t, "#address-cells", 2);
	put_u32(t, "#size-cells", 0);
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		u64 mpidr = vm->vcpus[i].arch.mpidr;
		u32 reg[] = { mpidr >> 32, mpidr };

		begin_at(t, "cpu", mpidr);
		put_string(t, "device_type", "cpu");
		put_string(t, "compatible", "arm,armv8");
		put_string(t, "enable-method", "psci");
		put_cells(t, "reg", reg, ARRAY_SIZE(reg));
		end(t);
	}
	end(t);
}

/* A guest at EL2 has HVC for itself, so KVM takes its calls by SMC (api.rst, KVM_ARM_VCPU_HAS_EL2). */
static void write_psci(struct tree *t, const struct vm *vm)
{
	static const char compatible[] = "arm,psci-1.0\0arm,psci-0.2";

	begin(t, "psci");
	keep(t, fdt_property(t->fdt, "compatible", compatible, sizeof(compatible)));
	put_string(t, "method", vm->options->el2 ? "smc" : "hvc");
	end(t);
}

static u32 ppi_flags(const struct vm *vm, u32 level)
{
	return level | (vm->arch.gic_version == 2 ? GICV2_CPU_MASK(vm->nr_vcpus) : 0);
}

static void write_gic(struct tree *t, const struct vm *vm)
{
	u32 maintenance[] = { GIC_PPI, PPI_NUMBER(PPI_GIC_MAINTENANCE),
			      ppi_flags(vm, IRQ_LEVEL_HIGH) };

	begin_at(t, "intc", GICD_ADDRESS);
	empty(t, "interrupt-controller");
	put_u32(t, "#interrupt-cells", 3);
	put_u32(t, "phandle", PHANDLE_GIC);
	if (vm->arch.gic_version == 2) {
		put_string(t, "compatible", "arm,cortex-a15-gic");
		put_reg(t, GICD_ADDRESS, GICD_SIZE, GICC_ADDRESS, GICC_SIZE);
	} else {
		put_string(t, "compatible", "arm,gic-v3");
		put_reg(t, GICD_ADDRESS, GICD_SIZE, GICR_ADDRESS, GICR_SIZE * vm->nr_vcpus);
		if (vm->options->el2)
			put_cells(t, "interrupts", maintenance, ARRAY_SIZE(maintenance));
	}
	end(t);
}

/* arm,arch_timer.yaml: secure physical, physical, virtual, hypervisor physical, hypervisor virtual. */
static void write_timer(struct tree *t, const struct vm *vm)
{
	static const u32 intids[] = { PPI_TIMER_SEC_PHYS, PPI_TIMER_PHYS, PPI_TIMER_VIRT,
				      PPI_TIMER_HYP_PHYS, PPI_TIMER_HYP_VIRT };
	u32 cells[3 * ARRAY_SIZE(intids)];

	for (size_t i = 0; i < ARRAY_SIZE(intids); i++) {
		cells[3 * i] = GIC_PPI;
		cells[3 * i + 1] = PPI_NUMBER(intids[i]);
		cells[3 * i + 2] = ppi_flags(vm, IRQ_LEVEL_LOW);
	}
	begin(t, "timer");
	put_string(t, "compatible", "arm,armv8-timer");
	put_cells(t, "interrupts", cells, ARRAY_SIZE(cells));
	empty(t, "always-on");
	end(t);
}

static void write_pmu(struct tree *t, const struct vm *vm)
{
	u32 cells[] = { GIC_PPI, PPI_NUMBER(PPI_PMU), ppi_flags(vm, IRQ_LEVEL_HIGH) };

	if (!vm->arch.has_pmu)
		return;
	begin(t, "pmu");
	put_string(t, "compatible", "arm,armv8-pmuv3");
	put_cells(t, "interrupts", cells, ARRAY_SIZE(cells));
	end(t);
}

static void write_uart(struct tree *t)
{
	static const char compatible[] = "arm,pl011\0arm,primecell";
	static const char clock_names[] = "uartclk\0apb_pclk";
	u32 clocks[] = { PHANDLE_CLOCK, PHANDLE_CLOCK };

	begin(t, "clock");
	put_string(t, "compatible", "fixed-clock");
	put_u32(t, "#clock-cells", 0);
	put_u32(t, "clock-frequency", UART_CLOCK_HZ);
	put_u32(t, "phandle", PHANDLE_CLOCK);
	end(t);
	begin_at(t, "pl011", PL011_ADDRESS);
	keep(t, fdt_property(t->fdt, "compatible", compatible, sizeof(compatible)));
	put_reg(t, PL011_ADDRESS, PL011_SIZE, 0, 0);
	put_cells(t, "clocks", clocks, ARRAY_SIZE(clocks));
	keep(t, fdt_property(t->fdt, "clock-names", clock_names, sizeof(clock_names)));
	end(t);
}

static void write_bulk_console(struct tree *t, const struct vm *vm)
{
	if (vm->options->no_bulk_console)
		return;
	begin_at(t, "bulk-console", BULK_CONSOLE_PAGE);
	put_string(t, "compatible", BULK_CONSOLE_COMPATIBLE);
	put_reg(t, BULK_CONSOLE_PAGE, 4096, 0, 0);
	end(t);
}

int devicetree_write(struct vm *vm, void *to, size_t size, struct error *err)
{
	struct tree t = { .fdt = to };

	keep(&t, fdt_create(to, size));
	keep(&t, fdt_finish_reservemap(to));
	begin(&t, "");
	put_string(&t, "compatible", "kvm-time-tests,vmm");
	put_string(&t, "model", "kvm-time-tests vmm");
	put_u32(&t, "#address-cells", 2);
	put_u32(&t, "#size-cells", 2);
	put_u32(&t, "interrupt-parent", PHANDLE_GIC);
	write_chosen(&t, vm);
	write_memory(&t, vm);
	write_cpus(&t, vm);
	write_psci(&t, vm);
	write_gic(&t, vm);
	write_timer(&t, vm);
	write_pmu(&t, vm);
	write_uart(&t);
	write_bulk_console(&t, vm);
	end(&t);
	keep(&t, fdt_finish(to));
	if (t.error)
		return error_set(err, "the devicetree cannot be made: %s", fdt_strerror(t.error));
	return fault_devicetree(vm, to, size, err);
}
