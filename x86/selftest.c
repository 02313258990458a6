// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What every other test stands on: exceptions are caught and resumed, all CPUs come up and answer,
 * interrupts arrive, the console works in both directions. Says nothing about time; when it fails,
 * no other verdict from the same machine means much.
 *
 * Argument cpus=N: how many CPUs the machine was given; fails when another number is up.
 */
#include "console.h"
#include "libcflat.h"
#include <arch/apic.h>
#include <arch/cpuid.h>
#include <arch/exception.h>
#include <arch/idt.h>
#include <arch/msr.h>
#include <arch/percpu.h>

static void invalid_opcode(void);
static void divide_error(void);
static void breakpoint(void);
static void general_protection(void);
static void bad_selector(void);
static void page_fault(void);
static void null_pointer(void);
static void read_only_text(void);
static void no_execute(void);
static void nested(void);
static void on_every_cpu(void);
static void cpus(void);
static void per_cpu(void);
static void barrier(void);
static void wake_up(void);
static void interrupt(void);
static void ipi(void);
static void print(void);
static void console_echo(void);
static void allocator(void);
static void stack_protector(void);
static void clock_advances(void);

static const struct check exceptions[] = {
	{ "invalid-opcode", invalid_opcode, .story = "UD2 raises #UD and execution goes on" },
	{ "divide-error", divide_error, .story = "a division by 0 raises #DE" },
	{ "breakpoint", breakpoint, .story = "INT3 is a trap: it is reported behind itself" },
	{ "general-protection", general_protection, .story = "a non-canonical address raises #GP" },
	{ "bad-selector", bad_selector, .story = "#GP gives the selector as its error code" },
	{ "page-fault", page_fault, .story = "#PF gives the address and the access" },
	{ "null-pointer", null_pointer, .story = "page 0 is not mapped" },
	{ "read-only-text", read_only_text, .story = "the image's text cannot be written" },
	{ "no-execute", no_execute, .story = "the image's data cannot be executed" },
	{ "nested", nested, .story = "an exception is caught within the catching of another" },
	{ "on-every-cpu", on_every_cpu, .story = "all CPUs catch exceptions at once" },
};

static const struct check checks[] = {
	{ "exceptions", .checks = exceptions, .nr_checks = ARRAY_SIZE(exceptions) },
	{ "cpus", cpus, .story = "every CPU that firmware names comes up and answers once" },
	{ "per-cpu", per_cpu, .story = "each CPU has data and a stack of its own" },
	{ "barrier", barrier, .story = "no CPU passes a barrier before the last has come" },
	{ "wake-up", wake_up, .story = "a sleeping CPU takes work every time" },
	{ "interrupt", interrupt, .story = "an interrupt to itself arrives exactly once" },
	{ "ipi", ipi, .story = "every interrupt to another CPU arrives, and exactly once" },
	{ "printf", print, .story = "numbers and texts come out as ISO C has them" },
	{ "console-echo", console_echo, .story = "what the runner sends back is what was sent" },
	{ "alloc", allocator, .story = "memory is zeroed, aligned, handed out once" },
	{ "stack-protector", stack_protector, .story = "the guard is set" },
	{ "clock", clock_advances, .story = "the image's own clock advances at a known rate" },
};

#define WAIT_NS	    (10 * NSEC_PER_SEC)
#define TEST_VECTOR 0x40
#define ROUNDS	    100

/* ---- exceptions -------------------------------------------------------------------------------- */

static bool expect_vector(int got, int wanted)
{
	return report_expect(got == wanted, "expected %s, got %s", exception_name(wanted),
			     exception_name(got));
}

static void invalid_opcode(void)
{
	expect_vector(ASM_SAFE("ud2"), VECTOR_UD);
	expect_vector(ASM_SAFE("nop"), NO_EXCEPTION);
}

static void divide_by_zero(void *arg)
{
	__asm__ volatile("xorl %%ecx, %%ecx; divl %%ecx" ::: "eax", "ecx", "edx");
}

static void divide_error(void)
{
	expect_vector(exception_catch(divide_by_zero, NULL, NULL), VECTOR_DE);
}

static void breakpoint(void)
{
	expect_vector(ASM_SAFE("int3"), VECTOR_BP);
}

static void read_u64(void *arg)
{
	READ_ONCE(*(u64 *)arg);
}

static void write_u64(void *arg)
{
	WRITE_ONCE(*(u64 *)arg, 0);
}

static void call(void *arg)
{
	((void (*)(void))arg)();
}

static void general_protection(void)
{
	expect_vector(exception_catch(read_u64, (void *)0x8000000000000000, NULL), VECTOR_GP);
}

static void load_bad_selector(void *arg)
{
	__asm__ volatile("movl %0, %%fs" ::"r"(0xfff8));
}

static void bad_selector(void)
{
	struct exception e;

	if (expect_vector(exception_catch(load_bad_selector, NULL, &e), VECTOR_GP))
		report_expect(e.error_code == 0xfff8,
			      "#GP for selector 0xfff8 has error code 0x%lx", e.error_code);
}

/* Error code: bit 0 protection, 1 write, 2 user, 4 fetch (SDM vol. 3, figure 4-12). */
static void expect_page_fault(void (*access)(void *), u64 address, u64 error_code)
{
	struct exception e;

	if (!expect_vector(exception_catch(access, (void *)address, &e), VECTOR_PF))
		return;
	report_expect(e.cr2 == address, "#PF at 0x%lx has cr2 0x%lx", address, e.cr2);
	report_expect(e.error_code == error_code, "#PF at 0x%lx has error code 0x%lx, not 0x%lx",
		      address, e.error_code, error_code);
}

static void page_fault(void)
{
	expect_page_fault(read_u64, 0x123456789abc, 0);
	expect_page_fault(write_u64, 0x123456789abc, 2);
}

static void null_pointer(void)
{
	expect_page_fault(read_u64, 8, 0);
}

static void read_only_text(void)
{
	expect_page_fault(write_u64, (u64)(uintptr_t)main, 3);
}

static void no_execute(void)
{
	static u8 ret = 0xc3;

	if (!(cpuid_checked(0x80000001).edx & CPUID_80000001_EDX_NX)) {
		report_skip("CPUID offers no execute-disable");
		return;
	}
	expect_page_fault(call, (u64)(uintptr_t)&ret, 0x11);
}

static void catch_inner_then_fault(void *arg)
{
	int *inner = arg;

	*inner = exception_catch(divide_by_zero, NULL, NULL);
	__asm__ volatile("ud2");
}

static void nested(void)
{
	int inner = NO_EXCEPTION;

	expect_vector(exception_catch(catch_inner_then_fault, &inner, NULL), VECTOR_UD);
	expect_vector(inner, VECTOR_DE);
}

static void catch_many(void *arg)
{
	u32 *caught = arg;

	for (int i = 0; i < ROUNDS; i++) {
		if (exception_catch(divide_by_zero, NULL, NULL) == VECTOR_DE &&
		    ASM_SAFE("ud2") == VECTOR_UD)
			__atomic_fetch_add(caught, 1, __ATOMIC_RELAXED);
	}
}

static void on_every_cpu(void)
{
	u32 caught = 0;

	on_all_cpus(catch_many, &caught);
	report_expect(caught == ROUNDS * smp_count(), "%u of %d rounds on %d CPUs were right",
		      caught, ROUNDS * smp_count(), smp_count());
}

/* ---- CPUs -------------------------------------------------------------------------------------- */

static u32 answers[MAX_CPUS];

static void answer(void *arg)
{
	__atomic_fetch_add(&answers[smp_id()], 1, __ATOMIC_RELAXED);
}

static void cpus(void)
{
	int wanted = args_u64("cpus", smp_named());

	report_expect(smp_count() == smp_named(), "firmware names %d CPUs, %d are up", smp_named(),
		      smp_count());
	report_expect(smp_count() == wanted, "argument cpus=%d, but %d are up", wanted,
		      smp_count());
	memset(answers, 0, sizeof(answers));
	on_all_cpus(answer, NULL);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		report_expect(answers[cpu] == 1, "CPU %d answered %u times", cpu, answers[cpu]);
		on_cpu(cpu, answer, NULL);
		report_expect(answers[cpu] == 2, "work for CPU %d ran elsewhere", cpu);
	}
	report_info("%d CPUs, local APIC in %s mode", smp_count(),
		    apic_is_x2apic() ? "x2APIC" : "xAPIC");
}

struct per_cpu_seen {
	struct cpu *self;
	uintptr_t stack;
	u32 apic_id;
};

static void look_at_cpu(void *arg)
{
	struct per_cpu_seen *seen = arg;
	struct per_cpu_seen *mine = &seen[smp_id()];

	mine->self = this_cpu();
	mine->stack = (uintptr_t)__builtin_frame_address(0);
	mine->apic_id = apic_id();
}

static void per_cpu(void)
{
	static struct per_cpu_seen seen[MAX_CPUS];

	on_all_cpus(look_at_cpu, seen);
	for (int i = 0; i < smp_count(); i++) {
		report_expect(seen[i].self == cpu_of(i), "CPU %d has another CPU's data", i);
		report_expect(seen[i].self && seen[i].apic_id == seen[i].self->apic_id,
			      "CPU %d has APIC id %u, not the one it was started by", i,
			      seen[i].apic_id);
		report_expect(arch_is_stack(seen[i].stack), "CPU %d is not on a stack of its own",
			      i);
		for (int k = 0; k < i; k++)
			report_expect(seen[i].apic_id != seen[k].apic_id &&
					      seen[i].stack != seen[k].stack,
				      "CPUs %d and %d are the same", k, i);
	}
}

struct barrier_state {
	struct smp_barrier barrier;
	struct spin_bound budget;
	u32 arrived;
	u32 early;
	u32 rounds;
	bool stop; /* CPU 0 says so between two barriers */
};

static void meet(void *arg)
{
	struct barrier_state *s = arg;

	for (u32 round = 1; !s->stop; round++) {
		__atomic_fetch_add(&s->arrived, 1, __ATOMIC_SEQ_CST);
		smp_barrier_wait(&s->barrier);
		if (__atomic_load_n(&s->arrived, __ATOMIC_SEQ_CST) < round * smp_count())
			__atomic_fetch_add(&s->early, 1, __ATOMIC_RELAXED);
		if (smp_id() == 0) {
			s->rounds = round;
			s->stop = round == ROUNDS || !spin_poll(&s->budget);
		}
		smp_barrier_wait(&s->barrier);
	}
}

/* With more CPUs than the host has, each meeting takes some of its time slices. */
static void barrier(void)
{
	struct barrier_state s = { .arrived = 0 };

	smp_barrier_init(&s.barrier, smp_count());
	spin_start(&s.budget, report_budget_ns() / 5);
	on_all_cpus(meet, &s);
	report_expect(s.early == 0, "a barrier was passed too early %u times in %u rounds", s.early,
		      s.rounds);
	report_info("%u rounds on %d CPUs", s.rounds, smp_count());
}

static void wake_up(void)
{
	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	memset(answers, 0, sizeof(answers));
	for (int round = 0; round < ROUNDS; round++) {
		for (int cpu = 1; cpu < smp_count(); cpu++)
			on_cpu(cpu, answer, NULL);
	}
	for (int cpu = 1; cpu < smp_count(); cpu++)
		report_expect(answers[cpu] == ROUNDS, "CPU %d did %u of %d pieces of work", cpu,
			      answers[cpu], ROUNDS);
}

/* ---- interrupts -------------------------------------------------------------------------------- */

static u32 arrived[MAX_CPUS];

static void count_interrupt(struct exception_frame *frame)
{
	__atomic_fetch_add(&arrived[smp_id()], 1, __ATOMIC_RELEASE);
}

static void interrupt(void)
{
	memset(arrived, 0, sizeof(arrived));
	irq_set_handler(TEST_VECTOR, count_interrupt);
	for (u32 round = 1; round <= ROUNDS; round++) {
		apic_send_self_ipi(TEST_VECTOR);
		report_expect(arrived[0] == round - 1,
			      "an interrupt arrived while they were disabled");
		irq_enable();
		spin_until(READ_ONCE(arrived[0]) == round, WAIT_NS);
		irq_disable();
		if (!report_expect(arrived[0] == round, "%u interrupts sent, %u arrived", round,
				   arrived[0]))
			break;
	}
	irq_set_handler(TEST_VECTOR, NULL);
}

static void ipi(void)
{
	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	memset(arrived, 0, sizeof(arrived));
	irq_set_handler(TEST_VECTOR, count_interrupt);
	for (u32 round = 1; round <= ROUNDS; round++) {
		for (int cpu = 1; cpu < smp_count(); cpu++) {
			apic_send_ipi(cpu, TEST_VECTOR);
			spin_until(READ_ONCE(arrived[cpu]) >= round, WAIT_NS);
			if (!report_expect(READ_ONCE(arrived[cpu]) == round,
					   "CPU %d was sent %u interrupts and took %u", cpu, round,
					   arrived[cpu]))
				goto out;
		}
	}
	report_expect(arrived[0] == 0, "CPU 0 took %u interrupts that were for others", arrived[0]);
out:
	irq_set_handler(TEST_VECTOR, NULL);
}

/* ---- console ----------------------------------------------------------------------------------- */

static void print(void)
{
	char text[128];
	int length = snprintf(text, sizeof(text), "%d|%05u|%#llx|%-4s|%+ld|%c|%.2s|%*d", -1, 42U,
			      0xfedcba9876543210ULL, "ab", 7L, 'x', "yz!", 3, 9);
	const char *wanted = "-1|00042|0xfedcba9876543210|ab  |+7|x|yz|  9";

	report_expect(!strcmp(text, wanted), "printed %s, not %s", text, wanted);
	report_expect(length == strlen(wanted), "returned %d for %zu characters", length,
		      strlen(wanted));
}

#define ECHO_LONGEST 700

static bool echo(size_t length)
{
	char fields[ECHO_LONGEST + 16], reply[ECHO_LONGEST + 16];
	size_t prefix = strlen("text=");
	int result;

	strcpy(fields, "text=");
	for (size_t i = 0; i < length; i++)
		fields[prefix + i] = '!' + (i * 7 + length) % ('~' - '!' + 1);
	fields[prefix + length] = '\0';
	result = host_call("echo", fields, reply, sizeof(reply), WAIT_NS);
	if (result == -2) {
		report_skip("the runner offers no echo");
		return false;
	}
	if (result < 0) {
		report_error(
			"no reply to %zu characters in %lu ms: is there a runner on the console?",
			length, WAIT_NS / NSEC_PER_MSEC);
		return false;
	}
	return report_expect(!strcmp(fields, reply), "%zu characters were sent, others came back",
			     length);
}

static void console_echo(void)
{
	if (echo(1) && echo(64) && echo(ECHO_LONGEST))
		report_info("1, 64 and %d characters there and back on %s", ECHO_LONGEST,
			    console_name());
}

/* ---- the rest ---------------------------------------------------------------------------------- */

static bool all_zero(const u8 *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

static void allocator(void)
{
	size_t before = alloc_left();
	u8 *small = alloc(1), *aligned = alloc_aligned(100, 256), *page = alloc_pages(1);

	report_expect((uintptr_t)small % 16 == 0, "alloc() gave %p, not aligned to 16", small);
	report_expect((uintptr_t)aligned % 256 == 0, "%p is not aligned to 256", aligned);
	report_expect((uintptr_t)page % PAGE_SIZE == 0, "%p is not aligned to a page", page);
	report_expect(all_zero(small, 1) && all_zero(aligned, 100) && all_zero(page, PAGE_SIZE),
		      "memory is handed out that is not zero");
	report_expect(small + 1 <= aligned && aligned + 100 <= page, "pieces of memory overlap");
	report_expect(before - alloc_left() >= PAGE_SIZE + 101, "%zu bytes were left, now %zu",
		      before, alloc_left());
	report_info("%zu KiB left", alloc_left() / 1024);
}

extern uintptr_t __stack_chk_guard;

/* That it works is shown by the image misbehave, mode=smash. */
static void stack_protector(void)
{
	report_expect(__stack_chk_guard != 0, "the guard value is 0");
}

static void clock_advances(void)
{
	u64 start = clock_ticks();

	report_expect(spin_until(clock_ticks() != start, WAIT_NS), "the TSC stands still");
	report_expect(clock_hz() >= 1000000, "the TSC's frequency is said to be %lu Hz",
		      clock_hz());
	report_info("TSC: %lu Hz by %s", clock_hz(), clock_hz_source());
}

int main(void)
{
	return report_run("selftest", checks, ARRAY_SIZE(checks));
}
