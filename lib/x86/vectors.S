/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entry for all 256 vectors: one small stub each, one common path that saves the registers as
 * struct exception_frame (arch/exception.h) and calls exception_dispatch(). Also the frame to
 * which exception_catch() returns.
 */
#include "startup.h"

	.text
	.code64
	.balign	VECTOR_STUB_SIZE
	.globl	vector_stubs
vector_stubs:
	.set	vector, 0
	.rept	256
	.balign	VECTOR_STUB_SIZE
	/* These push an error code themselves: SDM vol. 3, table 6-1. */
	.if	(vector == 8) || (vector >= 10 && vector <= 14) || (vector == 17) || \
		(vector == 21) || (vector == 29) || (vector == 30)
	.else
	pushq	$0
	.endif
	pushq	$vector
	jmp	common_entry
	.set	vector, vector + 1
	.endr

common_entry:
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rbx
	pushq	%rbp
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	cld
	movq	%rsp, %rdi
	call	exception_dispatch
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rbp
	popq	%rbx
	popq	%rdx
	popq	%rcx
	popq	%rax
	addq	$16, %rsp
	iretq

/*
 * void exception_catch_call(void (*fn)(void *arg), void *arg, u64 *rsp): calls fn(arg) with *rsp
 * set to the stack at which an exception goes on from exception_catch_resume.
 */
	.globl	exception_catch_call, exception_catch_resume
exception_catch_call:
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	subq	$8, %rsp
	movq	%rsp, (%rdx)
	movq	%rdi, %rax
	movq	%rsi, %rdi
	call	*%rax
exception_catch_resume:
	cld
	addq	$8, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret

	.section .note.GNU-stack, "", @progbits
