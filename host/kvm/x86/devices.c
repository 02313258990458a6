// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ports: the devices with files of their own, and the one-register ways to end the machine.
 */
#include <string.h>
#include "kvm/vm.h"

#define PM1_SLP_EN	   0x2000 /* ACPI 6.4, 4.8.3.2.1 */
#define RESET_CONTROL_RST  0x04
#define KEYBOARD_RESET_CPU 0xfe

static u64 read_zero(struct vcpu *vcpu, void *ctx, u64 offset, unsigned int len)
{
	return 0;
}

static void debug_exit(struct vcpu *vcpu, void *ctx, u64 offset, u64 value, unsigned int len)
{
	if (value)
		vm_ended(vcpu->vm, VM_PANICKED, (u32)value,
			 "the guest wrote 0x%x to the debug-exit port", (u32)value);
	else
		vm_ended(vcpu->vm, VM_POWEROFF, 0, "%s", "");
}

static void pm1_control(struct vcpu *vcpu, void *ctx, u64 offset, u64 value, unsigned int len)
{
	if (value & PM1_SLP_EN)
		vm_ended(vcpu->vm, VM_POWEROFF, 0, "%s", "");
}

static void reset_control(struct vcpu *vcpu, void *ctx, u64 offset, u64 value, unsigned int len)
{
	if (value & RESET_CONTROL_RST)
		vm_ended(vcpu->vm, VM_RESET, 0, "%s", "");
}

static void keyboard_control(struct vcpu *vcpu, void *ctx, u64 offset, u64 value, unsigned int len)
{
	if (value == KEYBOARD_RESET_CPU)
		vm_ended(vcpu->vm, VM_RESET, 0, "%s", "");
}

static const struct device single_registers[] = {
	{ .name = "debug exit",
	  .base = PORT_DEBUG_EXIT,
	  .size = 4,
	  .read = read_zero,
	  .write = debug_exit },
	{ .name = "PM1 control",
	  .base = PORT_PM1_CONTROL,
	  .size = 2,
	  .read = read_zero,
	  .write = pm1_control },
	{ .name = "reset control",
	  .base = PORT_RESET_CONTROL,
	  .size = 1,
	  .read = read_zero,
	  .write = reset_control },
	{ .name = "keyboard controller",
	  .base = PORT_KEYBOARD_CONTROL,
	  .size = 1,
	  .read = read_zero,
	  .write = keyboard_control },
};

void devices_add(struct vm *vm)
{
	struct device d = uart16550_device(&vm->arch.com1, PORT_COM1);

	bus_add(&vm->ports, &d);
	d = fw_cfg_device(&vm->arch.fw_cfg, PORT_FW_CFG);
	bus_add(&vm->ports, &d);
	if (!vm->options->no_bulk_console) {
		d = bulk_console_device(&vm->bulk, PORT_BULK_CONSOLE, BULK_CONSOLE_SIZE);
		bus_add(&vm->ports, &d);
	}
	for (size_t i = 0; i < ARRAY_SIZE(single_registers); i++)
		bus_add(&vm->ports, &single_registers[i]);
}

struct saved_devices {
	struct uart16550 com1;
	struct fw_cfg fw_cfg;
	struct bulk_console bulk;
};

int devices_save(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
		 struct error *err)
{
	struct saved_devices saved;

	memset(&saved, 0, sizeof(saved)); /* padding included: snapshots of one state are alike */
	saved.com1 = vm->arch.com1;
	saved.fw_cfg = vm->arch.fw_cfg;
	saved.bulk = vm->bulk;
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
	vm->arch.com1 = saved.com1;
	vm->arch.fw_cfg = saved.fw_cfg;
	vm->bulk = saved.bulk;
	return 0;
}
