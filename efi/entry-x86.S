/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From UEFI's 64-bit mode to the state in which a multiboot2 image is entered (Multiboot2
 * Specification 3.3): 32-bit protected mode, flat segments, paging off. Copied to a page below 4 GiB,
 * which is mapped one to one; edi: the image's entry, esi: the information for it.
 */
	.section .rodata
	.code64
	.globl	leave_long_mode, leave_long_mode_end
	.balign	16
leave_long_mode:
	cli
	leaq	1f(%rip), %rax
	movq	%rax, 2f + 2(%rip)
	lgdt	2f(%rip)
	leaq	3f(%rip), %rax
	pushq	$8
	pushq	%rax
	lretq

	.code32
3:	movl	$16, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %fs
	movl	%eax, %gs
	movl	%eax, %ss
	movl	%cr0, %eax
	andl	$0x7fffffff, %eax	/* PG */
	movl	%eax, %cr0
	movl	$0xc0000080, %ecx	/* IA32_EFER */
	rdmsr
	andl	$~0x100, %eax		/* LME */
	wrmsr
	xorl	%eax, %eax
	movl	%eax, %cr4
	movl	$0x36d76289, %eax	/* the loader's magic number */
	movl	%esi, %ebx
	jmp	*%edi

	.balign	8
1:	.quad	0
	.quad	0x00cf9b000000ffff	/* 8: code */
	.quad	0x00cf93000000ffff	/* 16: data */
2:	.word	23
	.quad	0
leave_long_mode_end:

	.section .note.GNU-stack, "", @progbits
