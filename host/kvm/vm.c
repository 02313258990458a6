// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Building and taking apart the machine, and its memory.
 */
#include "kvm/vm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "kvm/fault_hooks.h"
#include "util/memory.h"

/* Documentation/virt/kvm/api.rst, 4.1: has been 12 since 2.6.22 and stays so. */
#define API_VERSION 12

int kvm_open(struct error *err)
{
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	int version;

	if (fd < 0 && errno == ENOENT)
		return error_set(err,
				 "/dev/kvm is not there: the kernel has no KVM, its modules are "
				 "not loaded, or the CPU cannot virtualise");
	if (fd < 0)
		return error_set(err, "/dev/kvm cannot be opened: %s%s", strerror(errno),
				 errno == EACCES ? "; join the group that owns it" : "");
	version = ioctl(fd, KVM_GET_API_VERSION, 0);
	if (version != API_VERSION) {
		close(fd);
		return error_set(err, "/dev/kvm has API version %d and not %d", version,
				 API_VERSION);
	}
	return fd;
}

int vm_capability(const struct vm *vm, int capability)
{
	int value = ioctl(vm->fd >= 0 ? vm->fd : vm->kvm_fd, KVM_CHECK_EXTENSION, capability);

	return MAX(value, 0);
}

/* ---- memory ------------------------------------------------------------------------------------- */

static void *map_memory(void *at, u64 size)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0);

	return mmap(at, size, PROT_READ | PROT_WRITE, flags, -1, 0);
}

int vm_add_memory(struct vm *vm, u64 base, u64 size, bool is_ram, struct error *err)
{
	struct memory_region *r = &vm->regions[vm->nr_regions];
	struct kvm_userspace_memory_region slot = {
		.slot = vm->nr_regions,
		.guest_phys_addr = base,
		.memory_size = size,
	};

	if (vm->nr_regions == MEMORY_REGIONS_MAX)
		return error_set(err, "more than %d pieces of memory", MEMORY_REGIONS_MAX);
	r->host = map_memory(NULL, size);
	if (r->host == MAP_FAILED)
		return error_set(err, "no %llu MiB of memory for the guest: %s",
				 (unsigned long long)(size >> 20), strerror(errno));
	r->base = base;
	r->size = size;
	r->is_ram = is_ram;
	vm->nr_regions++;
	slot.userspace_addr = (uintptr_t)r->host;
	if (ioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &slot) < 0)
		return error_set(err, "KVM_SET_USER_MEMORY_REGION at 0x%llx, %llu bytes: %s",
				 (unsigned long long)base, (unsigned long long)size,
				 strerror(errno));
	return 0;
}

void *vm_memory(const struct vm *vm, u64 address, u64 len)
{
	for (size_t i = 0; i < vm->nr_regions; i++) {
		const struct memory_region *r = &vm->regions[i];

		if (address >= r->base && address - r->base <= r->size &&
		    len <= r->size - (address - r->base))
			return r->host + (address - r->base);
	}
	return NULL;
}

int vm_clear_memory(struct vm *vm, struct error *err)
{
	for (size_t i = 0; i < vm->nr_regions; i++) {
		if (map_memory(vm->regions[i].host, vm->regions[i].size) == MAP_FAILED)
			return error_set(err, "the guest's memory cannot be mapped anew: %s",
					 strerror(errno));
	}
	return 0;
}

/* ---- life --------------------------------------------------------------------------------------- */

int vm_create_vcpu(struct vm *vm, unsigned int index, struct error *err)
{
	struct vcpu *vcpu = &vm->vcpus[index];

	vcpu->vm = vm;
	vcpu->index = index;
	vcpu->parked = true;
	vcpu->fd = ioctl(vm->fd, KVM_CREATE_VCPU, (unsigned long)index);
	if (vcpu->fd < 0)
		return error_set(err, "KVM_CREATE_VCPU %u of %u: %s", index, vm->nr_vcpus,
				 strerror(errno));
	vcpu->run = mmap(NULL, vm->run_size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu->fd, 0);
	if (vcpu->run == MAP_FAILED) {
		vcpu->run = NULL;
		return error_set(err, "vCPU %u: struct kvm_run cannot be mapped: %s", index,
				 strerror(errno));
	}
	return arch_create_vcpu(vcpu, err);
}

static int check_limits(struct vm *vm, struct error *err)
{
	int max = vm_capability(vm, KVM_CAP_MAX_VCPUS);
	int size = ioctl(vm->kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);

	if (size < (int)sizeof(struct kvm_run))
		return error_set(err, "KVM_GET_VCPU_MMAP_SIZE: %s",
				 size < 0 ? strerror(errno) : "smaller than struct kvm_run");
	vm->run_size = size;
	if (max && vm->max_vcpus > (unsigned int)max)
		return error_set(err, "this KVM has at most %d vCPUs, %u are wanted", max,
				 vm->max_vcpus);
	if (!vm_capability(vm, KVM_CAP_IMMEDIATE_EXIT))
		return error_set(err, "this KVM lacks KVM_CAP_IMMEDIATE_EXIT (Linux 4.13)");
	return 0;
}

static void init_locks(struct vm *vm)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&vm->lock, NULL);
	pthread_mutex_init(&vm->device_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&vm->changed, &attr);
	pthread_condattr_destroy(&attr);
}

int vm_create(struct vm *vm, const struct machine_options *options, struct error *err)
{
	memset(vm, 0, sizeof(*vm));
	vm->options = options;
	vm->fd = -1;
	vm->stop = true;
	vm->nr_vcpus = options->smp;
	vm->max_vcpus = MAX(options->smp, options->maxcpus);
	vm->vcpus = memory_zalloc(vm->max_vcpus * sizeof(*vm->vcpus));
	for (unsigned int i = 0; i < vm->max_vcpus; i++)
		vm->vcpus[i].fd = -1;
	init_locks(vm);
	vm->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (console_open(&vm->console, STDOUT_FILENO) < 0 || vm->end_fd < 0)
		return error_set(err, "eventfd or timerfd: %s", strerror(errno));
	vm->kvm_fd = kvm_open(err);
	if (vm->kvm_fd < 0)
		return -1;
	vm->fd = ioctl(vm->kvm_fd, KVM_CREATE_VM, arch_vm_type(vm));
	if (vm->fd < 0)
		return error_set(err, "KVM_CREATE_VM: %s", strerror(errno));
	if (check_limits(vm, err) || arch_create_vm(vm, err))
		return -1;
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		if (vm_create_vcpu(vm, i, err))
			return -1;
	}
	if (arch_finish_vm(vm, err) || fault_vm_created(vm, err))
		return -1;
	return state_save(vm, &vm->power_on, err);
}

void vm_destroy(struct vm *vm)
{
	fault_free(vm);
	arch_destroy_vm(vm);
	state_free(&vm->power_on);
	state_free(&vm->at_pause);
	for (unsigned int i = 0; i < vm->max_vcpus; i++) {
		if (vm->vcpus[i].run)
			munmap(vm->vcpus[i].run, vm->run_size);
		if (vm->vcpus[i].fd >= 0)
			close(vm->vcpus[i].fd);
	}
	free(vm->vcpus);
	if (vm->fd >= 0)
		close(vm->fd);
	for (size_t i = 0; i < vm->nr_regions; i++)
		munmap(vm->regions[i].host, vm->regions[i].size);
	if (vm->kvm_fd >= 0)
		close(vm->kvm_fd);
	if (vm->end_fd >= 0)
		close(vm->end_fd);
	console_close(&vm->console);
	pthread_cond_destroy(&vm->changed);
	pthread_mutex_destroy(&vm->device_lock);
	pthread_mutex_destroy(&vm->lock);
}

struct clock_rule vm_clock_rule(const struct vm *vm)
{
	static const struct clock_rule of_reset = { .account = ACCOUNT_FROZEN };

	return clock_rule_complete(vm->resetting ? &of_reset : &vm->options->clock_rule,
				   NATIVE_ARCH);
}

int vm_reset(struct vm *vm, struct error *err)
{
	int result;

	if (vm_clear_memory(vm, err))
		return -1;
	vm->resetting = true;
	result = state_restore(vm, &vm->power_on, err);
	vm->resetting = false;
	if (result)
		return error_prefix(err, "reset");
	fault_was_reset(vm);
	return arch_boot(vm, err);
}
