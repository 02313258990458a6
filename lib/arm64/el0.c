// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Excursions to EL0. The way there is an exception return, the way back an SVC, caught as
 * exception_try() catches any exception. The image runs on SP_EL0 at its own level too, so the stack
 * goes on at EL0 as it is.
 */
#include "types.h"
#include <arch/cpu.h>
#include <arch/el0.h>
#include <arch/exception.h>
#include <arch/sysreg.h>

struct excursion {
	u64 (*fn)(void *arg);
	void *arg;
	u64 value;
	u64 pstate; /* DAIF; M is 0 for EL0 */
	bool returned;
};

/* At EL0. */
static NORETURN void excursion_body(struct excursion *e)
{
	e->value = e->fn(e->arg);
	WRITE_ONCE(e->returned, true);
	__asm__ volatile("svc #0" ::: "memory");
	__builtin_unreachable();
}

/* Interrupts are masked between the writes of ELR and SPSR, which they would change, and ERET. */
static void excursion_begin(void *arg)
{
	struct excursion *e = arg;
	register struct excursion *x0 __asm__("x0") = e;

	irq_disable();
	write_sysreg(excursion_body, elr_el1);
	write_sysreg(e->pstate, spsr_el1);
	__asm__ volatile("mov x29, xzr\n\t"
			 "mov x30, xzr\n\t"
			 "eret" ::"r"(x0)
			 : "memory");
	__builtin_unreachable();
}

bool el0_try(u64 (*fn)(void *arg), void *arg, u64 *value, struct exception *caught)
{
	struct excursion e = { .fn = fn, .arg = arg, .pstate = read_sysreg(daif) };

	exception_try(excursion_begin, &e, caught);
	*value = e.value;
	return !e.returned;
}
