/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last of the firmware's state: interrupts masked, MMU and caches off, x0 the devicetree, and into
 * the image (booting.rst). x1: the image's entry.
 */
	.text
	.global	enter_image
	.type	enter_image, %function
enter_image:
	msr	daifset, #0xf
	/* This runs on with the caches off, too. */
	adr	x2, enter_image
	adr	x3, enter_image_end
1:	dc	civac, x2
	add	x2, x2, #16
	cmp	x2, x3
	b.lo	1b
	dsb	sy
	mov	x3, #0x1005		/* SCTLR: M, C, I */
	mrs	x2, CurrentEL
	cmp	x2, #(2 << 2)
	b.eq	2f
	mrs	x2, sctlr_el1
	bic	x2, x2, x3
	msr	sctlr_el1, x2
	b	3f
2:	mrs	x2, sctlr_el2
	bic	x2, x2, x3
	msr	sctlr_el2, x2
3:	isb
	ic	iallu
	dsb	nsh
	isb
	mov	x4, x1
	mov	x1, xzr
	mov	x2, xzr
	mov	x3, xzr
	br	x4
enter_image_end:
