// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest that goes wrong on purpose, as its argument mode= says: lib/misbehave.c has the modes
 * that every architecture shares, this file those that are arm64's own. For the suite's own tests
 * of its runner; says nothing about any hypervisor.
 */
#include "libcflat.h"
#include "misbehave.h"
#include <arch/gic.h>

/* In no block that start-up maps. */
#define NOWHERE 0x7eadbeef0000UL

static void run_exception(void)
{
	__asm__ volatile(".inst 0");
}

static void run_data_abort(void)
{
	*(volatile u32 *)NOWHERE = 1;
}

static void run_instruction_abort(void)
{
	((void (*)(void))NOWHERE)();
}

static void run_interrupt(void)
{
	irq_enable();
	gic_enable(7);
	gic_send_sgi(smp_id(), 7);
	spin_until(false, NSEC_PER_SEC);
	report_error("an SGI without a handler went by unnoticed");
}

static void run_lost_stack(void)
{
	__asm__ volatile("mov sp, %0\n\tstr xzr, [sp, #-16]!" ::"r"(NOWHERE) : "memory");
}

static const struct misbehaviour modes[] = {
	{ "exception", "an undefined instruction: ERROR with registers and backtrace",
	  run_exception, false },
	{ "data-abort", "a write to where nothing is mapped: ERROR with the address",
	  run_data_abort, false },
	{ "instruction-abort", "a call to where nothing is mapped: ERROR with the caller",
	  run_instruction_abort, false },
	{ "interrupt", "an interrupt that nobody handles: ERROR with its INTID", run_interrupt,
	  false },
	{ "lost-stack", "a stack pointer to nowhere: ERROR with registers", run_lost_stack, false },
};

int main(void)
{
	return misbehave_run("misbehave", modes, ARRAY_SIZE(modes));
}
