/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where another CPU begins after INIT-SIPI: real mode, at a page below 1 MiB into which cpus.c
 * copies this. It depends on no address of its own; the GDT and the way on lie in the image.
 */
#include "arch/segment.h"
#include "startup.h"

	.section .rodata
	.code16
	.globl	trampoline, trampoline_end
trampoline:
	cli
	cld
	movw	%cs, %ax
	movw	%ax, %ds
	lgdtl	trampoline_gdt_pointer - trampoline
	movl	%cr0, %eax
	orl	$CR0_PE, %eax
	movl	%eax, %cr0
	ljmpl	$SEL_CODE32, $secondary_entry32
	.balign 4
trampoline_gdt_pointer:
	.word	SEL_TSS - 1
	.long	gdt
trampoline_end:

	.text
	.code32
secondary_entry32:
	movl	$SEL_DATA, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	$secondary_entry64, %edi
	jmp	enter_long_mode

	.section .note.GNU-stack, "", @progbits
