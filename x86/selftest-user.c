// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Excursions to CPL 3 (arch/user.h), on which tests of what user mode may do stand: the function
 * runs there and not at CPL 0, comes back with its result, is ended by its exceptions, and interrupts
 * come through. Says nothing about time.
 */
#include "libcflat.h"
#include <arch/apic.h>
#include <arch/exception.h>
#include <arch/idt.h>
#include <arch/user.h>

static void returns(void);
static void faults(void);
static void privileged(void);
static void interrupts(void);
static void flags(void);
static void everywhere(void);

static const struct check checks[] = {
	{ "returns", returns, .story = "a function runs at CPL 3 and its result comes back" },
	{ "faults", faults, .story = "its exceptions end it and are told, its fix-ups go on" },
	{ "privileged", privileged, .story = "privileged instructions raise #GP there" },
	{ "interrupts", interrupts, .story = "an interrupt is handled and the function goes on" },
	{ "flags", flags, .story = "the caller's interrupt flag is as it was" },
	{ "everywhere", everywhere, .story = "on all CPUs at once" },
};

#define WAIT_NS	    (10 * NSEC_PER_SEC)
#define TEST_VECTOR 0x40
#define ROUNDS	    100
#define CPL(cs)	    ((cs)&3)

static u64 read_cs(void *arg)
{
	u64 cs;

	__asm__ volatile("movq %%cs, %0" : "=r"(cs));
	return cs;
}

static u64 twice(void *arg)
{
	return 2 * *(const u64 *)arg;
}

static u64 undefined(void *arg)
{
	__asm__ volatile("ud2");
	return 1;
}

static u64 breakpoint(void *arg)
{
	__asm__ volatile("int3");
	return 1;
}

static u64 undefined_with_fixup(void *arg)
{
	return ASM_SAFE("ud2");
}

/* The page fault's error code has the bit for user mode: SDM vol. 3, figure 4-12. */
static u64 write_page_0(void *arg)
{
	__asm__ volatile("movq %%rax, 8" ::: "memory");
	return 1;
}

static void returns(void)
{
	u64 argument = 0x123456789abcdef0 / 2, value;
	struct exception e;

	report_expect(CPL(read_cs(NULL)) == 0, "the image itself is at CPL %lu",
		      CPL(read_cs(NULL)));
	report_expect(user_try(read_cs, NULL, &value, &e) == NO_EXCEPTION &&
			      e.vector == NO_EXCEPTION,
		      "raised %s at 0x%lx", exception_name(e.vector), e.rip);
	report_expect(CPL(value) == 3, "the function ran with CS 0x%lx", value);
	report_expect(user_try(twice, &argument, &value, NULL) == NO_EXCEPTION &&
			      value == 2 * argument,
		      "twice 0x%lx gave 0x%lx", argument, value);
	report_expect(CPL(read_cs(NULL)) == 0, "afterwards the image is at CPL %lu",
		      CPL(read_cs(NULL)));
}

static void expect_vector(u64 (*fn)(void *arg), int wanted, u64 error_code)
{
	struct exception e;
	u64 value;
	int vector = user_try(fn, NULL, &value, &e);

	report_expect(vector == wanted && e.vector == wanted && e.error_code == error_code,
		      "expected %s with error code 0x%lx, got %s with 0x%lx at 0x%lx",
		      exception_name(wanted), error_code, exception_name(vector), e.error_code,
		      e.rip);
}

static void faults(void)
{
	u64 value;

	expect_vector(undefined, VECTOR_UD, 0);
	expect_vector(breakpoint, VECTOR_BP, 0);
	expect_vector(write_page_0, VECTOR_PF, 6);
	report_expect(user_try(undefined_with_fixup, NULL, &value, NULL) == NO_EXCEPTION &&
			      value == VECTOR_UD,
		      "a fix-up at CPL 3 gave 0x%lx", value);
}

static u64 try_hlt(void *arg)
{
	return ASM_SAFE("hlt");
}

static u64 try_cli(void *arg)
{
	return ASM_SAFE("cli");
}

static u64 try_rdmsr(void *arg)
{
	return ASM_SAFE("rdmsr");
}

static u64 try_read_cr0(void *arg)
{
	return ASM_SAFE("movq %%cr0, %%rax");
}

static u64 try_in(void *arg)
{
	return ASM_SAFE("inb $0x80");
}

static void privileged(void)
{
	static const struct {
		const char *name;
		u64 (*fn)(void *arg);
	} instructions[] = { { "HLT", try_hlt },
			     { "CLI", try_cli },
			     { "RDMSR", try_rdmsr },
			     { "MOV from CR0", try_read_cr0 },
			     { "IN", try_in } };

	for (size_t i = 0; i < ARRAY_SIZE(instructions); i++) {
		struct exception e;
		u64 value;

		if (user_try(instructions[i].fn, NULL, &value, &e) == NO_EXCEPTION)
			report_expect(value == VECTOR_GP, "%s at CPL 3 raised %s",
				      instructions[i].name, exception_name(value));
		else
			report_error("%s at CPL 3 ended with %s at 0x%lx", instructions[i].name,
				     exception_name(e.vector), e.rip);
	}
}

static u32 waiting, arrived, arrived_in_user_mode;

static void count_interrupt(struct exception_frame *frame)
{
	arrived_in_user_mode += CPL(frame->cs) == 3;
	__atomic_fetch_add(&arrived, 1, __ATOMIC_RELEASE);
}

/* The interrupt is sent only now, so that it comes here. */
static u64 wait_for_interrupt(void *arg)
{
	u32 before = arrived;

	__atomic_fetch_add(&waiting, 1, __ATOMIC_RELEASE);
	return spin_until(READ_ONCE(arrived) != before, WAIT_NS);
}

static void send_when_waiting(void *arg)
{
	for (u32 round = 1; round <= ROUNDS; round++) {
		if (!spin_until(__atomic_load_n(&waiting, __ATOMIC_ACQUIRE) >= round, WAIT_NS))
			break;
		apic_send_ipi(0, TEST_VECTOR);
	}
}

static void interrupts(void)
{
	u64 came;

	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	waiting = arrived = arrived_in_user_mode = 0;
	irq_set_handler(TEST_VECTOR, count_interrupt);
	on_cpu_async(1, send_when_waiting, NULL);
	irq_enable();
	for (u32 round = 1; round <= ROUNDS; round++) {
		if (!report_expect(user_try(wait_for_interrupt, NULL, &came, NULL) ==
						   NO_EXCEPTION &&
					   came && READ_ONCE(arrived) == round,
				   "%u interrupts were sent to CPL 3, %u came", round, arrived))
			break;
	}
	irq_disable();
	if (!cpu_wait_idle(1, 2 * WAIT_NS))
		report_error("CPU 1 does not end its sending");
	irq_set_handler(TEST_VECTOR, NULL);
	report_expect(arrived_in_user_mode == arrived, "%u of %u interrupts came at CPL 3",
		      arrived_in_user_mode, arrived);
}

static u64 read_flags(void *arg)
{
	return read_rflags();
}

static void flags(void)
{
	u64 disabled = 0, enabled = 0;

	user_try(read_flags, NULL, &disabled, NULL);
	report_expect(!irq_enabled(), "interrupts were disabled and came back enabled");
	irq_enable();
	user_try(read_flags, NULL, &enabled, NULL);
	report_expect(irq_enabled(), "interrupts were enabled and came back disabled");
	irq_disable();
	report_expect(!(disabled & RFLAGS_IF) && enabled & RFLAGS_IF,
		      "at CPL 3 RFLAGS was 0x%lx with interrupts disabled, 0x%lx enabled", disabled,
		      enabled);
}

static void try_many(void *arg)
{
	u32 *right = arg;
	u64 value, argument = smp_id();

	for (int i = 0; i < ROUNDS; i++) {
		if (user_try(twice, &argument, &value, NULL) == NO_EXCEPTION &&
		    value == 2 * argument && user_try(undefined, NULL, &value, NULL) == VECTOR_UD)
			__atomic_fetch_add(right, 1, __ATOMIC_RELAXED);
	}
}

static void everywhere(void)
{
	u32 right = 0;

	on_all_cpus(try_many, &right);
	report_expect(right == ROUNDS * smp_count(), "%u of %d rounds on %d CPUs were right", right,
		      ROUNDS * smp_count(), smp_count());
}

int main(void)
{
	return report_run("selftest-user", checks, ARRAY_SIZE(checks));
}
