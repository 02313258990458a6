/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * First instructions: the Image header, the way from EL2 to where the image runs, relocation, and
 * the step into C with the MMU on. Secondary CPUs take the same way from PSCI CPU_ON.
 *
 * At EL2 a CPU with VHE is always given HCR_EL2.E2H: every _EL1 register name then means the EL2
 * register (Arm ARM D8.8 "Virtualization Host Extensions"), so that one text serves both levels.
 * Whether the image stays there is decided in C, once the devicetree's bootargs can be read; until
 * then TGE is set. A CPU without VHE goes to EL1 at once.
 */
#include "startup.h"

	.arch	armv8.1-a

/* System registers that assemblers know only with later extensions, or not at all. */
#define ICC_SRE_EL2	S3_4_C12_C9_5
#define ICH_HCR_EL2	S3_4_C12_C11_0
#define CNTHV_CTL_EL2	S3_4_C14_C3_1
#define HCRX_EL2	S3_4_C1_C2_2
#define HFGRTR_EL2	S3_4_C1_C1_4
#define HFGWTR_EL2	S3_4_C1_C1_5
#define HFGITR_EL2	S3_4_C1_C1_6
#define HDFGRTR_EL2	S3_4_C3_C1_4
#define HDFGWTR_EL2	S3_4_C3_C1_5

#define HCR_RW		(1 << 31)
#define HCR_TGE		(1 << 27)
#define HCR_E2H		(1 << 34)
#define CPACR_FPEN	(3 << 20)

/* CNTHCTL_EL2, whose layout depends on E2H: nothing of the counters and timers traps to EL2. */
#define CNTHCTL_NVHE	0x003	/* EL1PCTEN, EL1PCEN */
#define CNTHCTL_VHE	0xf03	/* EL0PCTEN, EL0VCTEN, EL0VTEN, EL0PTEN, EL1PCTEN, EL1PTEN */
/* CPTR_EL2 without E2H: its RES1 bits; TFP (bit 10) is clear, so FP and SIMD do not trap. */
#define CPTR_NVHE	0x33ff

	.macro	load_address reg, symbol
	adrp	\reg, \symbol
	add	\reg, \reg, :lo12:\symbol
	.endm

	.macro	load_imm32 reg, value
	movz	\reg, #((\value) & 0xffff)
	movk	\reg, #(((\value) >> 16) & 0xffff), lsl #16
	.endm

	/*
	 * Code runs on SP_EL0, exceptions on the level's own stack pointer: a lost or overrun
	 * stack can still be reported.
	 */
	.macro	set_stacks exception, thread
	msr	spsel, #1
	mov	sp, \exception
	msr	spsel, #0
	mov	sp, \thread
	.endm

	.section .head, "ax"
	.global	_start
_start:
	b	primary_entry
	.long	0
	.quad	0			/* text_offset */
	.quad	_image_size		/* memory taken, .bss and page tables included */
	.quad	0xa			/* little-endian, 4K pages, anywhere in memory */
	.quad	0, 0, 0
	.ascii	"ARM\x64"
	.long	0

	.text

/* x0: the devicetree. MMU and D-cache are off, interrupts masked (booting.rst). */
primary_entry:
	mov	x19, x0
	msr	daifset, #0xf
	bl	el_setup
	mov	x20, x0

	load_address x0, boot_exception_stack_end
	load_address x1, boot_stack_end
	set_stacks x0, x1
	load_address x0, __bss_start
	load_address x1, __bss_end
1:	cmp	x0, x1
	b.hs	2f
	stp	xzr, xzr, [x0], #16
	b	1b
2:
	/* A static PIE has R_AARCH64_RELATIVE (1027), and R_AARCH64_NONE where ld gave one up. */
	load_address x0, _start
	load_address x1, __rela_start
	load_address x2, __rela_end
3:	cmp	x1, x2
	b.hs	5f
	ldp	x3, x4, [x1], #16
	ldr	x5, [x1], #8
	cbz	x4, 3b
	cmp	x4, #1027
	b.eq	4f
	b	park
4:	add	x5, x5, x0
	str	x5, [x0, x3]
	b	3b
5:
	mov	x29, xzr
	mov	x0, x19
	bl	mmu_build
	mov	x21, x0

	/*
	 * What was written so far went past the caches; drop clean lines of the same addresses
	 * that may still be in them, before cached accesses begin.
	 */
	load_address x0, _start
	load_address x1, _end
	mrs	x2, ctr_el0
	ubfx	x2, x2, #16, #4		/* DminLine, in words */
	mov	x3, #4
	lsl	x2, x3, x2
	dmb	sy
6:	dc	ivac, x0
	add	x0, x0, x2
	cmp	x0, x1
	b.lo	6b
	dsb	sy

	mov	x0, x21
	bl	mmu_enable
	mov	x29, xzr
	mov	x30, xzr
	mov	x0, x19
	mov	x1, x20
	bl	start_c
	b	park

/* x0: struct secondary_start, as handed to PSCI CPU_ON. */
	.global	secondary_entry
	.type	secondary_entry, %function
secondary_entry:
	mov	x19, x0
	msr	daifset, #0xf
	bl	el_setup
	mov	x0, x19
	bl	mmu_enable
	ldr	x0, [x19, #SECONDARY_EXCEPTION_STACK]
	ldr	x1, [x19, #SECONDARY_STACK]
	set_stacks x0, x1
	mov	x29, xzr
	ldr	x1, [x19, #SECONDARY_EL]
	mrs	x0, CurrentEL
	cmp	x0, #(2 << 2)
	ccmp	x1, #1, #0, eq
	b.ne	1f
	mov	x0, xzr
	mov	x1, xzr
	bl	el2_drop
1:	mov	x30, xzr
	ldr	x0, [x19, #SECONDARY_PERCPU]
	bl	secondary_start_c

/* Where there is no console to complain to. */
	.global	park
park:
	wfi
	b	park

/*
 * From the level of entry to EL2 with E2H and TGE, or to EL1. Out: x0, the level of entry.
 * Uses x1 to x4 and no memory.
 */
el_setup:
	load_imm32 x4, SCTLR_RES1
	mrs	x0, CurrentEL
	ubfx	x0, x0, #2, #2
	cmp	x0, #2
	b.hi	park			/* EL3 is no level to start at */
	b.eq	1f
	msr	sctlr_el1, x4
	isb
	mov	x1, #CPACR_FPEN
	msr	cpacr_el1, x1
	isb
	ret

1:	msr	cntvoff_el2, xzr
	msr	cnthp_ctl_el2, xzr
	msr	hstr_el2, xzr
	msr	vttbr_el2, xzr
	mrs	x1, midr_el1
	msr	vpidr_el2, x1
	mrs	x1, mpidr_el1
	msr	vmpidr_el2, x1

	/* All PMU counters are EL1's: MDCR_EL2.HPMN = PMCR_EL0.N, nothing else set. */
	mov	x2, xzr
	mrs	x1, id_aa64dfr0_el1
	ubfx	x1, x1, #8, #4		/* PMUVer: 0 none, 15 not the architected one */
	cbz	x1, 2f
	cmp	x1, #15
	b.eq	2f
	mrs	x2, pmcr_el0
	ubfx	x2, x2, #11, #5
2:	msr	mdcr_el2, x2

	/* GICv3's CPU interface by system registers, for EL2 and for EL1. */
	mrs	x2, id_aa64pfr0_el1
	ubfx	x2, x2, #24, #4
	cbz	x2, 3f
	mrs	x1, ICC_SRE_EL2
	orr	x1, x1, #(1 << 0)	/* SRE */
	orr	x1, x1, #(1 << 3)	/* Enable */
	msr	ICC_SRE_EL2, x1
	isb
	mrs	x1, ICC_SRE_EL2
	tbz	x1, #0, 3f		/* firmware keeps it memory-mapped */
	msr	ICH_HCR_EL2, xzr
3:
	/* Fine-grained traps (FEAT_FGT) and HCRX_EL2 (FEAT_HCX) come out of reset unknown. */
	mrs	x1, id_aa64mmfr0_el1
	ubfx	x1, x1, #56, #4
	cbz	x1, 4f
	msr	HFGRTR_EL2, xzr
	msr	HFGWTR_EL2, xzr
	msr	HFGITR_EL2, xzr
	msr	HDFGRTR_EL2, xzr
	msr	HDFGWTR_EL2, xzr
4:	mrs	x3, id_aa64mmfr1_el1
	ubfx	x1, x3, #40, #4
	cbz	x1, 5f
	msr	HCRX_EL2, xzr
5:
	ubfx	x1, x3, #8, #4		/* VH */
	cbz	x1, 6f
	ldr	x1, =(HCR_RW | HCR_TGE | HCR_E2H)
	msr	hcr_el2, x1
	isb
	mov	x1, #CPACR_FPEN		/* is CPTR_EL2 now, with CPACR_EL1's layout */
	msr	cpacr_el1, x1
	mov	x1, #CNTHCTL_VHE
	msr	cnthctl_el2, x1
	msr	CNTHV_CTL_EL2, xzr
	msr	sctlr_el1, x4
	isb
	ret

6:	mov	x1, #HCR_RW
	msr	hcr_el2, x1
	mov	x1, #CPTR_NVHE
	msr	cptr_el2, x1
	mov	x1, #CNTHCTL_NVHE
	msr	cnthctl_el2, x1
	isb
	msr	sctlr_el1, x4
	mov	x1, #CPACR_FPEN
	msr	cpacr_el1, x1
	mov	x1, #PSTATE_EL1T_MASKED
	msr	spsr_el2, x1
	msr	elr_el2, x30
	eret

/* x0: struct mmu_registers. Translation and caches on, at EL1 or at EL2 with E2H and TGE. */
mmu_enable:
	ldp	x1, x2, [x0]
	ldp	x3, x4, [x0, #16]
	msr	mair_el1, x1
	msr	tcr_el1, x2
	msr	ttbr0_el1, x3
	isb
	tlbi	vmalle1			/* with E2H and TGE: the EL2&0 regime's */
	ic	iallu
	dsb	nsh
	isb
	msr	sctlr_el1, x4
	isb
	ret

/*
 * From EL2 with E2H to EL1, E2H staying set (a CPU may have it fixed to 1), TGE going. EL1 gets
 * EL2's translation, so nothing changes for the caller but its level.
 * x0: more bits for HCR_EL2; x1: the end of EL2's exception stack from now on, or 0: it keeps its own.
 */
	.global	el2_drop
	.type	el2_drop, %function
el2_drop:
	mrs	x2, mair_el1
	msr	mair_el12, x2
	mrs	x2, tcr_el1
	msr	tcr_el12, x2
	mrs	x2, ttbr0_el1
	msr	ttbr0_el12, x2
	mrs	x2, vbar_el1
	msr	vbar_el12, x2
	mov	x2, #CPACR_FPEN
	msr	cpacr_el12, x2
	msr	cntkctl_el12, xzr
	msr	cntp_ctl_el02, xzr
	msr	cntv_ctl_el02, xzr
	mrs	x2, sctlr_el1
	msr	sctlr_el12, x2
	mrs	x2, tpidr_el2
	msr	tpidr_el1, x2
	msr	spsel, #1
	mov	x2, sp
	msr	sp_el1, x2
	cbz	x1, 1f
	mov	sp, x1
1:	msr	spsel, #0
	msr	elr_el2, x30
	mov	x2, #PSTATE_EL1T_MASKED
	msr	spsr_el2, x2
	tlbi	alle1
	dsb	nsh
	ldr	x2, =(HCR_RW | HCR_E2H)
	orr	x2, x2, x0
	msr	hcr_el2, x2
	isb
	eret

	.ltorg

/*
 * The boot CPU's stacks, each above a page that mmu.c leaves unmapped: an overrun raises an
 * exception in place of damage.
 */
	.section .noinit, "aw", %nobits
	.balign	4096
	.global	boot_exception_guard, boot_exception_stack_end
	.global	boot_stack_guard, boot_stack_end
boot_exception_guard:
	.space	4096 + EXCEPTION_STACK_SIZE
boot_exception_stack_end:
boot_stack_guard:
	.space	4096 + STACK_SIZE
boot_stack_end:
