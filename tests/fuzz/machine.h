/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine as far as loaders and devices look at it: 64 KiB of memory, no KVM.
 */
#ifndef FUZZ_MACHINE_H
#define FUZZ_MACHINE_H

#include "fuzz.h"
#include "kvm/vm.h"

#define MACHINE_MEMORY_BASE 0x100000
#define MACHINE_MEMORY_SIZE (64u << 10)

static struct machine_options machine_options = { .memory_mib = 1, .append = "" };

/* Memory of its own each time, so that a write beside it is noticed. */
static inline void machine_open(struct vm *vm)
{
	*vm = (struct vm){
		.options = &machine_options,
		.nr_regions = 1,
		.regions[0] = {
			.base = MACHINE_MEMORY_BASE,
			.size = MACHINE_MEMORY_SIZE,
			.host = calloc(1, MACHINE_MEMORY_SIZE),
			.is_ram = true,
		},
	};
}

static inline void machine_close(struct vm *vm)
{
	free(vm->regions[0].host);
}

#endif
