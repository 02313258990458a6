// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The counts that vCPUs, bus and console kept, as text.
 */
#include "kvm/stats.h"

static void print_vcpu(const struct vcpu *vcpu, struct text *out)
{
	text_printf(out, "vcpu %u:", vcpu->index);
	for (u32 reason = 0; reason < EXIT_REASONS_MAX; reason++) {
		if (vcpu->stats.exits[reason])
			text_printf(out, " %s=%llu", exit_reason_name(reason),
				    (unsigned long long)vcpu->stats.exits[reason]);
	}
	if (vcpu->stats.other_exits)
		text_printf(out, " other=%llu", (unsigned long long)vcpu->stats.other_exits);
	text_printf(out, " kicks=%llu again=%llu\n", (unsigned long long)vcpu->stats.kicks,
		    (unsigned long long)vcpu->stats.again);
}

static void print_bus(const struct bus *bus, struct text *out)
{
	if (bus->unclaimed)
		text_printf(out, "nobody's: accesses=%llu\n", (unsigned long long)bus->unclaimed);
	for (size_t i = 0; i < bus->nr_devices; i++) {
		if (bus->devices[i].accesses)
			text_printf(out, "%s: accesses=%llu\n", bus->devices[i].name,
				    (unsigned long long)bus->devices[i].accesses);
	}
}

/* Milliseconds with two digits between two instants, "-" where one of them did not come. */
static void print_ms(struct text *out, const char *name, u64 from_ns, u64 to_ns)
{
	u64 us = (to_ns - from_ns) / 1000;

	if (!from_ns || to_ns < from_ns)
		text_printf(out, " %s=-", name);
	else
		text_printf(out, " %s=%llu.%02llu", name, (unsigned long long)(us / 1000),
			    (unsigned long long)(us % 1000 / 10));
}

void stats_print(struct vm *vm, u64 started_ns, struct text *out)
{
	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		print_vcpu(&vm->vcpus[i], out);
	print_bus(&vm->ports, out);
	print_bus(&vm->mmio, out);
	text_printf(out, "console: lines=%llu bytes=%llu\n", (unsigned long long)vm->console.lines,
		    (unsigned long long)vm->console.bytes);
	text_append(out, "time:");
	print_ms(out, "setup-ms", started_ns, vm->first_run_ns);
	print_ms(out, "first-run-to-last-line-ms", vm->first_run_ns, vm->console.last_output_ns);
	print_ms(out, "start-to-last-line-ms", started_ns, vm->console.last_output_ns);
	print_ms(out, "first-run-to-end-ms", vm->first_run_ns, vm->end_ns);
	text_append_char(out, '\n');
}
