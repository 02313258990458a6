// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest that writes and reads its devices' registers as it likes: 16 bytes make one access, to a
 * device by number, so that a fuzzer need not find addresses.
 */
#include "machine.h"

#include <fcntl.h>
#include <sys/eventfd.h>

struct access {
	u64 value;
	u32 offset;
	u8 device;
	u8 len;
	u8 is_write;
	u8 unused;
};

static struct vcpu vcpu;

static void open_devices(struct vm *vm)
{
	static struct kvm_run run;

	machine_open(vm);
	vcpu = (struct vcpu){ .vm = vm, .fd = -1, .run = &run };
	vm->vcpus = &vcpu;
	vm->nr_vcpus = 1;
	vm->end_fd = eventfd(0, EFD_CLOEXEC);
	pthread_mutex_init(&vm->lock, NULL);
	pthread_mutex_init(&vm->device_lock, NULL);
	FUZZ_EXPECT(!console_open(&vm->console, open("/dev/null", O_WRONLY | O_CLOEXEC)));
	devices_add(vm);
}

static void close_devices(struct vm *vm)
{
	close(vm->console.out_fd);
	console_close(&vm->console);
	close(vm->end_fd);
	machine_close(vm);
}

static void do_access(struct vm *vm, const struct access *a)
{
	struct bus *bus = vm->ports.nr_devices ? &vm->ports : &vm->mmio;
	const struct device *chosen = &bus->devices[a->device % bus->nr_devices];
	u64 address = chosen->base + a->offset % chosen->size;
	unsigned int len = 1u << (a->len & 3);
	struct device *d = bus_find(bus, address, len);
	u64 value = a->value;

	if (!d) /* it sticks out of its device */
		return;
	FUZZ_EXPECT(address >= d->base && address + len <= d->base + d->size);
	if (a->is_write & 1)
		device_write(&vcpu, d, address, &value, len);
	else
		device_read(&vcpu, d, address, &value, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vm vm;

	open_devices(&vm);
	console_give_input(&vm, (const char *)data, size < 64 ? size : 64);
	for (; size >= sizeof(struct access); data += sizeof(struct access)) {
		struct access a;

		memcpy(&a, data, sizeof(a));
		do_access(&vm, &a);
		size -= sizeof(a);
	}
	FUZZ_EXPECT(vm.console.output_len <= CONSOLE_OUTPUT_MAX);
	close_devices(&vm);
	return 0;
}
