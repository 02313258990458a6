// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bulk console's two registers. A buffer that is not within one piece of the guest's memory ends
 * the machine: the guest is wrong, and a line that was silently lost would cost its reader a day.
 */
#include "kvm/bulk_console.h"

#include "kvm/vm.h"

static u64 bulk_read(struct vcpu *vcpu, void *ctx, u64 offset, unsigned int len)
{
	struct bulk_console *b = ctx;

	return offset == BULK_CONSOLE_ADDRESS ? b->address : 0;
}

static void print(struct vcpu *vcpu, struct bulk_console *b, u64 len)
{
	const char *data;

	if (!len)
		return;
	data = len <= BULK_CONSOLE_LENGTH_MAX ? vm_memory(vcpu->vm, b->address, len) : NULL;
	if (data)
		console_put(vcpu->vm, data, len);
	else
		vcpu_error(
			vcpu,
			"bulk console: %llu bytes at 0x%llx are more than %u or not all in memory",
			(unsigned long long)len, (unsigned long long)b->address,
			BULK_CONSOLE_LENGTH_MAX);
}

static void bulk_write(struct vcpu *vcpu, void *ctx, u64 offset, u64 value, unsigned int len)
{
	struct bulk_console *b = ctx;

	if (offset == BULK_CONSOLE_ADDRESS)
		b->address = value;
	else if (offset == BULK_CONSOLE_LENGTH)
		print(vcpu, b, value);
}

struct device bulk_console_device(struct bulk_console *b, u64 base, u64 size)
{
	return (struct device){
		.name = "bulk console",
		.base = base,
		.size = size,
		.read = bulk_read,
		.write = bulk_write,
		.ctx = b,
	};
}
