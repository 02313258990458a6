// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Descriptor tables: one GDT and one IDT for all CPUs, a TSS for each with stacks of their own for
 * NMI, double fault and machine check.
 */
#include "startup.h"
#include "string.h"
#include <arch/exception.h>
#include <arch/percpu.h>
#include <arch/segment.h>

/* SDM vol. 3, 6.14.1. */
struct idt_gate {
	u16 offset_low;
	u16 selector;
	u8 ist;
	u8 type;
	u16 offset_middle;
	u32 offset_high;
	u32 reserved;
};

struct table_pointer {
	u16 limit;
	u64 base;
} __attribute__((packed));

#define GATE_INTERRUPT	     0x8e
#define GATE_INTERRUPT_DPL3  0xee
#define TSS_AVAILABLE_64_BIT 0x89

enum {
	IST_NMI = 1,
	IST_DF,
	IST_MC
};

static struct idt_gate idt[256] __attribute__((aligned(16)));

static u8 ist_of(int vector)
{
	switch (vector) {
	case VECTOR_NMI:
		return IST_NMI;
	case VECTOR_DF:
		return IST_DF;
	case VECTOR_MC:
		return IST_MC;
	}
	return 0;
}

static void idt_fill(void)
{
	for (int vector = 0; vector < 256; vector++) {
		u64 stub = (u64)vector_stubs[vector];

		idt[vector] = (struct idt_gate){
			.offset_low = stub,
			.selector = SEL_CODE64,
			.ist = ist_of(vector),
			/* INT3 and INTO come from user mode too; the others only from the CPU. */
			.type = vector == VECTOR_BP || vector == VECTOR_OF ? GATE_INTERRUPT_DPL3
									   : GATE_INTERRUPT,
			.offset_middle = stub >> 16,
			.offset_high = stub >> 32,
		};
	}
}

/* SDM vol. 3, 8.2.3: a TSS descriptor is 16 bytes long in 64-bit mode. */
static void gdt_set_tss(struct cpu *cpu)
{
	u64 base = (u64)&cpu->tss;
	u64 *entry = &gdt[SEL_TSS / 8 + cpu->id * 2];

	entry[0] = (sizeof(cpu->tss) - 1) | (base & 0xffffff) << 16 |
		   (u64)TSS_AVAILABLE_64_BIT << 40 | (base >> 24 & 0xff) << 56;
	entry[1] = base >> 32;
}

void descriptors_init(struct cpu *cpu)
{
	for (int i = 0; i < 3; i++)
		cpu->tss.ist[i] = (u64)(cpu->ist_stacks[i] + CPU_NMI_STACK_SIZE);
	cpu->tss.rsp[0] = cpu->stack_top;
	cpu->tss.iomap_base = sizeof(cpu->tss);
	gdt_set_tss(cpu);
	if (cpu->id == 0)
		idt_fill();
}

void descriptors_load(struct cpu *cpu)
{
	struct table_pointer idt_pointer = { sizeof(idt) - 1, (u64)idt };

	__asm__ volatile("lidt %0" ::"m"(idt_pointer));
	__asm__ volatile("ltr %w0" ::"r"((u16)(SEL_TSS + cpu->id * 16)));
}
