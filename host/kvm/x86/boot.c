// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state in which an image is entered: 32-bit protected mode without paging, flat segments, and
 * what the boot protocol says about the machine.
 *
 * PVH: Xen, public/arch-x86/hvm/start_info.h. Multiboot: specification 0.6.96, 3.2 and 3.3.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include "kvm/vm.h"
#include "kvm/x86/loader.h"

#define PVH_MAGIC	     0x336ec578
#define MULTIBOOT_BOOT_MAGIC 0x2badb002
#define MEMORY_USABLE	     1 /* in both, as in BIOS E820 */
#define MEMORY_RESERVED	     2
#define RANGES_MAX	     4

struct range {
	u64 start, size;
	u32 type;
};

struct pvh_info {
	u32 magic, version, flags, nr_modules;
	u64 modules, cmdline, rsdp, memmap;
	u32 memmap_entries, reserved;
};

struct pvh_range {
	u64 address, size;
	u32 type, reserved;
};

struct multiboot_info {
	u32 flags;
	u32 memory_lower_kib, memory_upper_kib;
	u32 boot_device;
	u32 cmdline;
	u32 modules_count, modules;
	u32 symbols[4];
	u32 mmap_length, mmap;
	u32 rest[17]; /* to the end of version 0.6.96's structure; not valid by flags */
};

#define MULTIBOOT_MEMORY  BIT(0)
#define MULTIBOOT_CMDLINE BIT(2)
#define MULTIBOOT_MMAP	  BIT(6)

struct multiboot_range {
	u32 size; /* of what follows */
	u64 address, length;
	u32 type;
} __attribute__((packed));

/* What comes first in the boot area; memory map entries follow. */
#define RANGES_ADDRESS (BOOT_INFO_ADDRESS + 0x200)

static size_t memory_map(const struct vm *vm, struct range *list)
{
	size_t n = 0;

	list[n++] = (struct range){ 0, BOOT_AREA_START, MEMORY_USABLE };
	list[n++] =
		(struct range){ BOOT_AREA_START, BOOT_AREA_END - BOOT_AREA_START, MEMORY_RESERVED };
	list[n++] =
		(struct range){ BOOT_AREA_END, vm->regions[0].size - BOOT_AREA_END, MEMORY_USABLE };
	if (vm->nr_regions > 1)
		list[n++] =
			(struct range){ vm->regions[1].base, vm->regions[1].size, MEMORY_USABLE };
	return n;
}

static void write_pvh(struct vm *vm, u64 rsdp)
{
	struct pvh_info *info = vm_memory(vm, BOOT_INFO_ADDRESS, sizeof(*info));
	struct pvh_range *out = vm_memory(vm, RANGES_ADDRESS, RANGES_MAX * sizeof(*out));
	struct range list[RANGES_MAX];
	size_t n = memory_map(vm, list);

	*info = (struct pvh_info){
		.magic = PVH_MAGIC,
		.version = 1,
		.cmdline = CMDLINE_ADDRESS,
		.rsdp = rsdp,
		.memmap = RANGES_ADDRESS,
		.memmap_entries = n,
	};
	for (size_t i = 0; i < n; i++)
		out[i] = (struct pvh_range){ list[i].start, list[i].size, list[i].type, 0 };
}

static void write_multiboot(struct vm *vm)
{
	struct multiboot_info *info = vm_memory(vm, BOOT_INFO_ADDRESS, sizeof(*info));
	struct multiboot_range *out = vm_memory(vm, RANGES_ADDRESS, RANGES_MAX * sizeof(*out));
	struct range list[RANGES_MAX];
	size_t n = memory_map(vm, list);

	*info = (struct multiboot_info){
		.flags = MULTIBOOT_MEMORY | MULTIBOOT_CMDLINE | MULTIBOOT_MMAP,
		.memory_lower_kib = BOOT_AREA_START / 1024,
		.memory_upper_kib = (vm->regions[0].size - BOOT_AREA_END) / 1024,
		.cmdline = CMDLINE_ADDRESS,
		.mmap_length = n * sizeof(*out),
		.mmap = RANGES_ADDRESS,
	};
	for (size_t i = 0; i < n; i++)
		out[i] = (struct multiboot_range){ sizeof(*out) - 4, list[i].start, list[i].size,
						   list[i].type };
}

/* Multiboot's command line begins with the image's name; PVH's is the arguments alone. */
static int write_cmdline(struct vm *vm, bool is_pvh, struct error *err)
{
	const struct machine_options *o = vm->options;
	char *to = vm_memory(vm, CMDLINE_ADDRESS, CMDLINE_SIZE);
	int len = snprintf(to, CMDLINE_SIZE, "%s%s%s", is_pvh ? "" : o->image, is_pvh ? "" : " ",
			   o->append);

	if (len >= CMDLINE_SIZE)
		return error_set(err, "the command line is longer than %d bytes", CMDLINE_SIZE - 1);
	return 0;
}

static int set_registers(struct vm *vm, const struct x86_image *image, struct error *err)
{
	struct vcpu *vcpu = &vm->vcpus[0];
	struct kvm_segment code = { .limit = UINT32_MAX,
				    .selector = 0x08,
				    .type = 0xb,
				    .present = 1,
				    .db = 1,
				    .s = 1,
				    .g = 1 };
	struct kvm_segment data = code;
	struct kvm_regs regs = {
		.rip = image->entry,
		.rax = image->is_pvh ? 0 : MULTIBOOT_BOOT_MAGIC,
		.rbx = BOOT_INFO_ADDRESS,
		.rflags = 0x2,
	};
	struct kvm_sregs sregs;

	data.selector = 0x10;
	data.type = 0x3;
	if (ioctl(vcpu->fd, KVM_GET_SREGS, &sregs) < 0)
		return error_set(err, "KVM_GET_SREGS: %s", strerror(errno));
	sregs.cs = code;
	sregs.ds = sregs.es = sregs.fs = sregs.gs = sregs.ss = data;
	/* A busy 32-bit TSS at 0, which nothing uses. */
	sregs.tr = (struct kvm_segment){ .limit = 0x67, .type = 0xb, .present = 1 };
	sregs.gdt.limit = sregs.idt.limit = 0;
	sregs.cr0 = 0x11; /* PE, and ET, which is always set */
	sregs.cr3 = sregs.cr4 = sregs.efer = 0;
	if (ioctl(vcpu->fd, KVM_SET_SREGS, &sregs) < 0)
		return error_set(err, "KVM_SET_SREGS: %s", strerror(errno));
	if (ioctl(vcpu->fd, KVM_SET_REGS, &regs) < 0)
		return error_set(err, "KVM_SET_REGS: %s", strerror(errno));
	return 0;
}

int arch_boot(struct vm *vm, struct error *err)
{
	struct x86_image image;
	struct image_file f;
	int result;

	if (image_file_read(&f, vm->options->image, IMAGE_FILE_MAX, err))
		return -1;
	result = x86_load(vm, &f, &image, err);
	image_file_free(&f);
	if (result || write_cmdline(vm, image.is_pvh, err))
		return -1;
	if (image.is_pvh)
		write_pvh(vm, acpi_write(vm));
	else
		write_multiboot(vm);
	if (!image.is_pvh)
		acpi_write(vm);
	return set_registers(vm, &image, err);
}
