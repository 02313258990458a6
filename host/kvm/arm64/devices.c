// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The devices that this VMM imitates, and their state.
 */
#include <string.h>
#include "kvm/vm.h"

#define PAGE 4096

void devices_add(struct vm *vm)
{
	struct device d = pl011_device(&vm->arch.pl011, PL011_ADDRESS, PL011_SIZE);

	bus_add(&vm->mmio, &d);
	if (vm->options->no_bulk_console)
		return;
	d = bulk_console_device(&vm->bulk, BULK_CONSOLE_PAGE, PAGE);
	bus_add(&vm->mmio, &d);
}

struct saved_devices {
	struct pl011 pl011;
	u32 reserved;
	struct bulk_console bulk;
};

int devices_save(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
		 struct error *err)
{
	struct saved_devices saved = { .pl011 = vm->arch.pl011, .bulk = vm->bulk };

	state_add(out, name, STATE_OF_VM, &saved, sizeof(saved));
	return 0;
}

/* No value in these can do harm: each is bounds-checked where it is used. */
int devices_restore(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
		    struct error *err)
{
	struct saved_devices saved;

	if (state_check_size(item, sizeof(saved), err))
		return -1;
	memcpy(&saved, item->data, sizeof(saved));
	vm->arch.pl011 = saved.pl011;
	vm->bulk = saved.bulk;
	return 0;
}
