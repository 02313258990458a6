// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest that goes wrong on purpose, as its argument mode= says: lib/misbehave.c has the modes
 * that every architecture shares, this file those that are x86's own. For the suite's own tests of
 * its runner; says nothing about any hypervisor.
 */
#include "libcflat.h"
#include "misbehave.h"

static void run_exception(void)
{
	__asm__ volatile("ud2");
}

static void run_page_fault(void)
{
	volatile u32 *nowhere = (u32 *)0xdeadbeef000;

	*nowhere = 1;
}

/* Without an IDT the breakpoint cannot be delivered, nor the double fault that follows. */
static void run_triple_fault(void)
{
	struct {
		u16 limit;
		u64 base;
	} __attribute__((packed)) no_idt = { 0, 0 };

	__asm__ volatile("lidt %0; int3" ::"m"(no_idt));
}

/* A stack that is not there: the double fault has one of its own. */
static void run_double_fault(void)
{
	__asm__ volatile("movq $0xdeadbeef000, %%rsp; pushq $0" ::: "memory");
}

static const struct misbehaviour modes[] = {
	{ "exception", "an unexpected invalid opcode: ERROR with registers and backtrace",
	  run_exception, false },
	{ "page-fault", "an unexpected page fault: ERROR with the address", run_page_fault, false },
	{ "double-fault", "a double fault on a lost stack: ERROR with registers", run_double_fault,
	  false },
	{ "triple-fault", "a triple fault, so that the VMM resets or stops: ERROR",
	  run_triple_fault, false },
};

int main(void)
{
	return misbehave_run("misbehave", modes, ARRAY_SIZE(modes));
}
