/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of lib/x86 share among themselves at start-up, for C and assembly. Images do not
 * include it; their interfaces are in arch/.
 */
#ifndef X86_STARTUP_H
#define X86_STARTUP_H

/* How the image was entered; the first argument of x86_start(). */
#define BOOT_NONE	0
#define BOOT_PVH	1
#define BOOT_MULTIBOOT2 2

#define MULTIBOOT2_LOADER_MAGIC 0x36d76289

#define BOOT_STACK_SIZE	 16384
#define MAX_CPUS_IN_GDT	 64 /* == MAX_CPUS; cpus.c asserts it */
#define CPU_STACK_TOP	 24 /* offset in struct cpu; cpus.c asserts it */
#define VECTOR_STUB_SIZE 16

/* SDM vol. 3, 2.5: PE MP ET NE WP PG; PAE; and 2.2.1: EFER.LME. */
#define CR0_PE		0x1
#define CR0_START	0x80010033
#define CR4_START	0x20
#define MSR_EFER_NUMBER 0xc0000080
#define MSR_EFER_START	0x100

/*
 * SDM vol. 3, 4.5: present, writable and open to CPL 3 (user.c); and a 2 MiB page; PWT and PCD. Neither
 * SMEP nor SMAP is enabled.
 */
#define PTE_TABLE    0x7
#define PTE_LARGE    0x87
#define PTE_UNCACHED 0x18

#ifndef __ASSEMBLY__

#include "types.h"

struct cpu;
struct exception_frame;

/* start.S and image.lds */
extern char image_start[], text_end[], rodata_end[], image_end[];
extern u64 gdt[];
extern u64 boot_efer;
extern u64 boot_pml4[512], boot_pdpt[512], boot_pd[4][512];
extern char boot_stack_guard[], boot_stack[], boot_stack_top[];
extern struct cpu *secondary_cpu;
extern const char trampoline[], trampoline_end[];
void secondary_entry64(void);
NORETURN void x86_start(u32 boot_protocol, u32 info);
NORETURN void x86_start_secondary(struct cpu *cpu);

/* vectors.S */
extern const char vector_stubs[256][VECTOR_STUB_SIZE];
extern const char exception_catch_resume[];
void exception_catch_call(void (*fn)(void *arg), void *arg, u64 *rsp);
void exception_dispatch(struct exception_frame *frame);

/* bootinfo.c: what the loader told, in one form. */
#define BOOT_RANGES_MAX 64

struct boot_range {
	u64 start, end;
};

struct boot_info {
	const char *protocol; /* "PVH", "multiboot2" or "none" */
	char cmdline[1025];   /* one byte more than args.c takes, so that it can refuse */
	u64 rsdp;	      /* 0 where the loader did not say */
	u32 nr_ranges;	      /* usable memory only, as the loader ordered it */
	struct boot_range ranges[BOOT_RANGES_MAX];
	const char *problem; /* what is wrong with the loader's information, or NULL */
};

extern struct boot_info boot_info;
void boot_info_read(u32 boot_protocol, u32 info);

/* acpi.c: reads the tables once, before memory is handed out. */
void acpi_init(void);

/* mmu.c */
void mmu_protect_image(void);

/* descriptors.c: GDT, TSS and IDT of the CPU this runs on. */
void descriptors_init(struct cpu *cpu);
void descriptors_load(struct cpu *cpu);

/* cpus.c */
void cpus_init_boot_cpu(void);
void cpus_stop_others(void);
u64 low_page(void);

/* com1.c */
void com1_init(void);

/* vmm.c: does nothing where the VMM is not ours. */
void vmm_init(void);
void vmm_power_off(void);

#endif
#endif
