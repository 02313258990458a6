/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The exception vectors of EL1 and of EL2 with E2H (the _EL1 names mean EL2's registers there),
 * and the return to exception_try(). Every vector saves a struct exception_frame on the level's own
 * stack, which interrupted code does not run on unless it is a handler itself; only general-purpose
 * registers, since no code that a handler runs uses FP or SIMD.
 */
#include "startup.h"

	.text

	.macro	vector index
	.balign	0x80
	sub	sp, sp, #FRAME_SIZE
	stp	x0, x1, [sp]
	mov	x0, #\index
	b	exception_common
	.endm

	.balign	0x800
	.global	exception_vectors
exception_vectors:
	.irp	index, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vector	\index
	.endr

	.balign	0x80
exception_common:
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	stp	x18, x19, [sp, #144]
	stp	x20, x21, [sp, #160]
	stp	x22, x23, [sp, #176]
	stp	x24, x25, [sp, #192]
	stp	x26, x27, [sp, #208]
	stp	x28, x29, [sp, #224]
	/* From a lower level or from SP_EL0 the stack pointer is another register's. */
	and	x1, x0, #0xc
	cmp	x1, #4
	b.eq	1f
	mrs	x2, sp_el0
	b	2f
1:	add	x2, sp, #FRAME_SIZE
2:	stp	x30, x2, [sp, #240]
	mrs	x2, elr_el1
	mrs	x3, spsr_el1
	stp	x2, x3, [sp, #FRAME_PC]
	mrs	x2, esr_el1
	mrs	x3, far_el1
	stp	x2, x3, [sp, #FRAME_ESR]
	str	x0, [sp, #FRAME_VECTOR]
	mov	x0, sp
	bl	exception_entry

	ldp	x2, x3, [sp, #FRAME_PC]
	msr	elr_el1, x2
	msr	spsr_el1, x3
	ldr	x0, [sp, #FRAME_VECTOR]
	and	x1, x0, #0xc
	cmp	x1, #4
	ldp	x30, x2, [sp, #240]
	b.eq	3f
	msr	sp_el0, x2
3:	ldp	x28, x29, [sp, #224]
	ldp	x26, x27, [sp, #208]
	ldp	x24, x25, [sp, #192]
	ldp	x22, x23, [sp, #176]
	ldp	x20, x21, [sp, #160]
	ldp	x18, x19, [sp, #144]
	ldp	x16, x17, [sp, #128]
	ldp	x14, x15, [sp, #112]
	ldp	x12, x13, [sp, #96]
	ldp	x10, x11, [sp, #80]
	ldp	x8, x9, [sp, #64]
	ldp	x6, x7, [sp, #48]
	ldp	x4, x5, [sp, #32]
	ldp	x2, x3, [sp, #16]
	ldp	x0, x1, [sp]
	add	sp, sp, #FRAME_SIZE
	eret

/*
 * bool exception_try_call(void (*fn)(void *arg), void *arg, u64 *saved_sp)
 * Calls fn(arg); false when it returned. An exception on the way is made to return to
 * exception_try_landing with x0 = *saved_sp, which ends this call with true.
 */
	.global	exception_try_call
	.type	exception_try_call, %function
exception_try_call:
	stp	x29, x30, [sp, #-96]!
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	mov	x9, sp
	str	x9, [x2]
	mov	x9, x0
	mov	x0, x1
	blr	x9
	mov	w0, #0
1:	ldp	x27, x28, [sp, #80]
	ldp	x25, x26, [sp, #64]
	ldp	x23, x24, [sp, #48]
	ldp	x21, x22, [sp, #32]
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #96
	ret

	.global	exception_try_landing
	.type	exception_try_landing, %function
exception_try_landing:
	mov	sp, x0
	mov	w0, #1
	b	1b
