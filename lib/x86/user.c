// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Excursions to CPL 3. The way there is an IRET, the way back INT3, whose gate is open to CPL 3,
 * caught as exception_catch() catches any exception. What arrives meanwhile is taken on the caller's
 * stack, from where the excursion began: TSS.RSP0.
 */
#include "types.h"
#include <arch/cpu.h>
#include <arch/exception.h>
#include <arch/percpu.h>
#include <arch/segment.h>
#include <arch/user.h>

#define USER_STACK_SIZE 4096
#define RPL_USER	3

/* A segment register that IRET finds with too privileged a segment it empties (SDM vol. 2, IRET). */
#define LOAD_DATA_SEGMENTS(selector) \
	__asm__ volatile("movl %0, %%ds; movl %0, %%es" ::"r"((u32)(selector)))

struct excursion {
	u64 (*fn)(void *arg);
	void *arg;
	u64 value;
	bool returned;
	u8 stack[USER_STACK_SIZE] __attribute__((aligned(16)));
};

/* At CPL 3. */
static NORETURN void excursion_body(struct excursion *e)
{
	e->value = e->fn(e->arg);
	WRITE_ONCE(e->returned, true);
	__asm__ volatile("int3" ::: "memory");
	__builtin_unreachable();
}

/*
 * The frame for IRET lies below RSP0 and is used up when CPL 3 begins. As after a CALL, RSP is 8 less
 * than a multiple of 16 there; a return address of 0 ends backtraces.
 */
static void excursion_begin(void *arg)
{
	struct excursion *e = arg;
	u64 *top = (u64 *)(e->stack + USER_STACK_SIZE) - 1;

	*top = 0;
	__asm__ volatile("movq %%rsp, %[rsp0]\n\t"
			 "pushq %[ss]\n\t"
			 "pushq %[rsp]\n\t"
			 "pushq %[rflags]\n\t"
			 "pushq %[cs]\n\t"
			 "pushq %[rip]\n\t"
			 "xorl %%ebp, %%ebp\n\t"
			 "iretq"
			 : [rsp0] "=m"(this_cpu()->tss.rsp[0])
			 : [ss] "i"(SEL_USER_DATA | RPL_USER), [rsp] "r"(top),
			   [rflags] "r"(RFLAGS_FIXED | (read_rflags() & RFLAGS_IF)),
			   [cs] "i"(SEL_USER_CODE64 | RPL_USER), [rip] "r"(excursion_body), "D"(e)
			 : "memory");
	__builtin_unreachable();
}

int user_try(u64 (*fn)(void *arg), void *arg, u64 *value, struct exception *e)
{
	struct excursion excursion;
	int vector;

	excursion.fn = fn;
	excursion.arg = arg;
	excursion.value = 0;
	excursion.returned = false;
	vector = exception_catch(excursion_begin, &excursion, e);
	LOAD_DATA_SEGMENTS(SEL_DATA);
	*value = excursion.value;
	if (!excursion.returned)
		return vector;
	if (e)
		*e = (struct exception){ .vector = NO_EXCEPTION };
	return NO_EXCEPTION;
}
