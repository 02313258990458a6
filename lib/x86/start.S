/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way from a loader's 32-bit protected mode into 64-bit C: the PVH note and the multiboot2
 * header, one entry point for each, the first page tables, the GDT. The other CPUs join from
 * trampoline.S at enter_long_mode.
 */
#include "arch/segment.h"
#include "startup.h"

/* PVH: an ELF note with the 32-bit physical entry point (Xen, public/elfnote.h, number 18). */
	.section .note.pvh, "a", @note
	.balign 4
	.long	2f - 1f
	.long	3f - 2f
	.long	18
1:	.asciz	"Xen"
2:	.quad	pvh_entry
3:
	.balign 4

/* Multiboot2 specification 3.1.1: magic, architecture i386, length, checksum, tags. */
#define MULTIBOOT2_HEADER_MAGIC 0xe85250d6
	.section .head, "ax"
	.balign 8
multiboot2_header:
	.long	MULTIBOOT2_HEADER_MAGIC
	.long	0
	.long	multiboot2_header_end - multiboot2_header
	.long	-(MULTIBOOT2_HEADER_MAGIC + multiboot2_header_end - multiboot2_header)
	/* Information request: memory map. Command line and ACPI come where there are any. */
	.balign 8
	.word	1, 0
	.long	12
	.long	6
	.balign 8
	.word	0, 0
	.long	8
multiboot2_header_end:

	.code32
	.globl	pvh_entry
pvh_entry:
	movl	$BOOT_PVH, %ebp
	jmp	1f

	.globl	multiboot2_entry
multiboot2_entry:
	movl	$BOOT_NONE, %ebp
	cmpl	$MULTIBOOT2_LOADER_MAGIC, %eax
	jne	1f
	movl	$BOOT_MULTIBOOT2, %ebp
1:	cli
	cld
	movl	%ebx, %esi		/* the loader's information */

	/* Not every loader clears it, and a reset may start the image again as it was left. */
	movl	$bss_start, %edi
	movl	$bss_end, %ecx
	subl	%edi, %ecx
	shrl	$2, %ecx
	xorl	%eax, %eax
	rep stosl

	/*
	 * Identity map of 4 GiB by 2 MiB pages. The last GiB, where LAPIC, I/O APIC, HPET and
	 * firmware lie, is uncached: PCD and PWT (SDM vol. 3, 12.5.2).
	 */
	movl	$boot_pml4, %edi
	movl	$boot_pdpt + PTE_TABLE, (%edi)
	movl	$boot_pdpt, %edi
	movl	$boot_pd + PTE_TABLE, %eax
	movl	$4, %ecx
2:	movl	%eax, (%edi)
	addl	$4096, %eax
	addl	$8, %edi
	loop	2b
	movl	$boot_pd, %edi
	movl	$PTE_LARGE, %eax
	xorl	%ecx, %ecx
3:	cmpl	$3 * 512, %ecx
	jne	4f
	orl	$PTE_UNCACHED, %eax
4:	movl	%eax, (%edi)
	addl	$0x200000, %eax
	addl	$8, %edi
	incl	%ecx
	cmpl	$4 * 512, %ecx
	jne	3b

	movl	$boot_stack_top, %esp
	movl	$boot_entry64, %edi
	/* fall through */

/*
 * In: 32-bit flat segments, any GDT; %edi: where to go on in 64-bit mode; %esi and %ebp are kept.
 */
	.globl	enter_long_mode
enter_long_mode:
	lgdt	gdt_pointer
	movl	$CR4_START, %eax
	movl	%eax, %cr4
	movl	$boot_pml4, %eax
	movl	%eax, %cr3
	movl	$MSR_EFER_NUMBER, %ecx
	movl	boot_efer, %eax
	xorl	%edx, %edx
	wrmsr
	/* Caches on as well: INIT leaves CD and NW set (SDM vol. 3, table 10-1). */
	movl	$CR0_START, %eax
	movl	%eax, %cr0
	ljmp	$SEL_CODE64, $5f

	.code64
5:	movl	$SEL_DATA, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	xorl	%eax, %eax
	movl	%eax, %fs
	movl	%eax, %gs
	movl	%edi, %edi
	jmp	*%rdi

boot_entry64:
	movl	$boot_stack_top, %esp
	movl	%ebp, %edi
	movl	%esi, %esi
	xorl	%ebp, %ebp
	call	x86_start
	ud2

/* Another CPU: takes the stack that cpus.c laid out for it; a late or doubled one finds none. */
	.globl	secondary_entry64
secondary_entry64:
	xorl	%eax, %eax
	xchgq	%rax, secondary_cpu
	testq	%rax, %rax
	jz	6f
	movq	CPU_STACK_TOP(%rax), %rsp
	movq	%rax, %rdi
	xorl	%ebp, %ebp
	call	x86_start_secondary
6:	cli
	hlt
	jmp	6b

	.data
	.balign 16
	.globl	gdt
gdt:
	.quad	0
	.quad	0x00cf9b000000ffff	/* SEL_CODE32 */
	.quad	0x00af9b000000ffff	/* SEL_CODE64 */
	.quad	0x00cf93000000ffff	/* SEL_DATA */
	.quad	0x00cffb000000ffff	/* SEL_USER_CODE32 */
	.quad	0x00cff3000000ffff	/* SEL_USER_DATA */
	.quad	0x00affb000000ffff	/* SEL_USER_CODE64 */
	.quad	0
	.fill	MAX_CPUS_IN_GDT * 2, 8, 0	/* SEL_TSS, by cpus.c */
gdt_end:
	.globl	gdt_pointer
gdt_pointer:
	.word	gdt_end - gdt - 1
	.quad	gdt

	/* mmu.c adds EFER.NXE where the CPU has it, before the other CPUs start. */
	.balign 8
	.globl	boot_efer
boot_efer:
	.quad	MSR_EFER_START

	.bss
	.balign 4096
	.globl	boot_pml4, boot_pdpt, boot_pd
boot_pml4:
	.skip	4096
boot_pdpt:
	.skip	4096
boot_pd:
	.skip	4 * 4096
	/* The page below the stack is taken away by mmu.c. */
	.globl	boot_stack_guard, boot_stack, boot_stack_top
boot_stack_guard:
	.skip	4096
boot_stack:
	.skip	BOOT_STACK_SIZE
boot_stack_top:
	.globl	secondary_cpu
secondary_cpu:
	.skip	8

	.section .note.GNU-stack, "", @progbits
