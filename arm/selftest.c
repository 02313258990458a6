// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Does the ground hold that every other image stands on? Exceptions are caught and resumed, all
 * CPUs come up and answer, interrupts arrive exactly once each, barriers and per-CPU data do what
 * they say, and the console speaks both ways. A failure here makes every other verdict doubtful,
 * and is the suite's or the VMM's, not of time itself.
 *
 * Arguments: cpus=N, how many CPUs the machine is to have.
 */
#include "libcflat.h"
#include "protocol.h"
#include <arch/cpu.h>
#include <arch/devicetree.h>
#include <arch/el.h>
#include <arch/exception.h>
#include <arch/gic.h>
#include <arch/mmu.h>
#include <arch/percpu.h>
#include <arch/sysreg.h>
#include <arch/timer.h>

#define TEST_SGI     5
#define SGI_ROUNDS   100
#define WAIT_NS	     (2 * NSEC_PER_SEC)
#define BARRIER_LAPS 1000

/* In no block that any devicetree names, within 48 bits. */
#define UNMAPPED_ADDRESS 0x7eadbeef0000UL

/* ---- exceptions -------------------------------------------------------------------------- */

/* Each stores at *arg where its exception is to be raised. */
static void raise_undefined(void *arg)
{
	__asm__ volatile("adr x9, 1f\n\tstr x9, [%0]\n1:\t.inst 0" ::"r"(arg) : "x9", "memory");
}

static void raise_brk(void *arg)
{
	__asm__ volatile("adr x9, 1f\n\tstr x9, [%0]\n1:\tbrk #0x5a5" ::"r"(arg) : "x9", "memory");
}

/* An SVC returns behind itself. */
static void raise_svc(void *arg)
{
	__asm__ volatile("adr x9, 1f\n\tstr x9, [%0]\n\tsvc #0x3c3\n1:" ::"r"(arg)
			 : "x9", "memory");
}

static void raise_read_abort(void *arg)
{
	__asm__ volatile("adr x9, 1f\n\tstr x9, [%0]\n1:\tldr x9, [%1]" ::"r"(arg),
			 "r"(UNMAPPED_ADDRESS + 0x28)
			 : "x9", "memory");
}

static void raise_write_abort(void *arg)
{
	__asm__ volatile("adr x9, 1f\n\tstr x9, [%0]\n1:\tstr xzr, [%1]" ::"r"(arg),
			 "r"(UNMAPPED_ADDRESS + 0x30)
			 : "x9", "memory");
}

static bool expect_exception(void (*fn)(void *arg), unsigned int ec, struct exception *caught)
{
	u64 expected_pc = 0;

	if (!report_expect(exception_try(fn, &expected_pc, caught), "no exception was raised"))
		return false;
	return report_expect(ESR_EC(caught->esr) == ec,
			     "it was: %s (ESR %#lx), to be: %s", //
			     exception_class_name(ESR_EC(caught->esr)), caught->esr,
			     exception_class_name(ec)) &&
	       report_expect(caught->pc == expected_pc, "ELR is %#lx, not %#lx", caught->pc,
			     expected_pc);
}

static void check_undefined_instruction(void)
{
	struct exception caught;

	expect_exception(raise_undefined, EC_UNKNOWN, &caught);
}

static void check_brk(void)
{
	struct exception caught;

	if (expect_exception(raise_brk, EC_BRK64, &caught))
		report_expect((caught.esr & 0xffff) == 0x5a5, "ESR %#lx has not BRK's operand",
			      caught.esr);
}

static void check_svc(void)
{
	struct exception caught;

	if (expect_exception(raise_svc, EC_SVC64, &caught))
		report_expect((caught.esr & 0xffff) == 0x3c3, "ESR %#lx has not SVC's operand",
			      caught.esr);
}

/* ESR_EL1.ISS of a data abort: bit 6, WnR, is a write; the status code 0b0001xx a translation. */
static void check_data_abort(void)
{
	struct exception caught;

	if (expect_exception(raise_read_abort, EC_DATA_ABORT, &caught)) {
		report_expect(caught.far == UNMAPPED_ADDRESS + 0x28, "FAR is %#lx", caught.far);
		report_expect((caught.esr & 0x7c) == 0x04,
			      "ESR %#lx: no translation fault of a read", caught.esr);
	}
	if (expect_exception(raise_write_abort, EC_DATA_ABORT, &caught)) {
		report_expect(caught.far == UNMAPPED_ADDRESS + 0x30, "FAR is %#lx", caught.far);
		report_expect((caught.esr & 0x7c) == 0x44,
			      "ESR %#lx: no translation fault of a write", caught.esr);
	}
}

static void call_data(void *arg)
{
	void (*data)(void) = arg;

	data();
}

static void check_instruction_abort(void)
{
	struct exception caught;
	u32 *data = alloc(16);

	data[0] = 0xd65f03c0; /* ret */
	if (!report_expect(exception_try(call_data, data, &caught), "memory for data was executed"))
		return;
	report_expect(ESR_EC(caught.esr) == EC_INSTRUCTION_ABORT, "it was: %s",
		      exception_class_name(ESR_EC(caught.esr)));
	report_expect(caught.pc == (uintptr_t)data, "ELR is %#lx, not %p", caught.pc, (void *)data);
}

/* One instruction is stepped over; the function goes on. */
static void check_resume(void)
{
	u64 value = 1;
	u32 word;

	report_expect(!sysreg_read_safe(S3_2_C7_C7_7, &value), "an unallocated register was read");
	report_expect(!sysreg_write_safe(1, S3_2_C7_C7_7), "an unallocated register was written");
	report_expect(sysreg_read_safe(midr_el1, &value) && value == midr_el1(),
		      "MIDR_EL1 was read as %#lx", value);
	report_expect(!mem_read32_safe(UNMAPPED_ADDRESS, &word), "unmapped memory was read");
	report_expect(mem_read32_safe((uintptr_t)&raise_brk, &word), "mapped memory was not read");
}

static void try_inside(void *arg)
{
	struct exception *inner = arg;
	u64 pc;

	if (exception_try(raise_brk, &pc, inner))
		raise_svc(&pc);
}

static void check_nested(void)
{
	struct exception outer = { 0 }, inner = { 0 };

	report_expect(exception_try(try_inside, &inner, &outer), "the outer try caught nothing");
	report_expect(ESR_EC(inner.esr) == EC_BRK64, "the inner try caught: %s",
		      exception_class_name(ESR_EC(inner.esr)));
	report_expect(ESR_EC(outer.esr) == EC_SVC64, "the outer try caught: %s",
		      exception_class_name(ESR_EC(outer.esr)));
}

static const struct check exception_checks[] = {
	{ .name = "undefined-instruction", .run = check_undefined_instruction },
	{ .name = "data-abort", .run = check_data_abort },
	{ .name = "instruction-abort", .run = check_instruction_abort },
	{ .name = "brk", .run = check_brk },
	{ .name = "svc", .run = check_svc },
	{ .name = "resume", .run = check_resume },
	{ .name = "nested", .run = check_nested },
};

/* ---- exception level --------------------------------------------------------------------- */

static void check_exception_level(void)
{
	const char *unmet = el_unmet();

	report_info("entered at EL%d, runs at EL%d, GICv%d", boot_el(), current_el(),
		    gic_version());
	if (unmet)
		report_skip("%s", unmet);
	else
		report_expect(current_el() == wanted_el(), "runs at EL%d", current_el());
}

/* ---- CPUs -------------------------------------------------------------------------------- */

struct answer {
	u64 mpidr;
	int id;
	int level;
	bool own_percpu;
	bool own_stack;
};

static void answer_cpu(void *arg)
{
	struct answer *answers = arg;
	struct percpu *cpu = this_cpu();
	struct answer *a = &answers[smp_id()];
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	a->id = smp_id();
	a->mpidr = mpidr_el1() & MPIDR_AFFINITY_MASK;
	a->level = current_el();
	a->own_percpu = cpu == percpu_of(cpu->id);
	a->own_stack = here >= cpu->stack && here < cpu->stack_end;
}

static void check_cpus(void)
{
	static struct answer answers[MAX_CPUS];
	int wanted = args_u64("cpus", smp_named());

	report_info("%d CPUs named, %d up", smp_named(), smp_count());
	report_expect(smp_count() == wanted, "%d CPUs are up, %d are wanted", smp_count(), wanted);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		answers[cpu].id = -1;
		on_cpu(cpu, answer_cpu, answers);
		report_expect(answers[cpu].id == cpu, "CPU %d answered as %d", cpu,
			      answers[cpu].id);
		report_expect(answers[cpu].mpidr == machine()->cpu_mpidr[cpu],
			      "CPU %d has MPIDR %#lx, the devicetree says %#lx", cpu,
			      answers[cpu].mpidr, machine()->cpu_mpidr[cpu]);
		report_expect(answers[cpu].level == current_el(), "CPU %d runs at EL%d", cpu,
			      answers[cpu].level);
	}
}

static void check_per_cpu(void)
{
	static struct answer answers[MAX_CPUS];

	on_all_cpus(answer_cpu, answers);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		report_expect(answers[cpu].own_percpu, "CPU %d has another CPU's data", cpu);
		report_expect(answers[cpu].own_stack, "CPU %d is not on its own stack", cpu);
	}
}

struct lap_counter {
	struct smp_barrier barrier;
	u64 end_ticks;
	u32 arrivals;
	u32 laps;
	u32 wrong;
	bool last_lap;
};

/*
 * Behind the first barrier of a lap everybody must see everybody's arrival; behind the second one
 * everybody knows whether there is another lap.
 */
static void run_laps(void *arg)
{
	struct lap_counter *c = arg;
	u32 cpus = c->barrier.total;
	u32 lap = 0;

	do {
		lap++;
		__atomic_add_fetch(&c->arrivals, 1, __ATOMIC_RELAXED);
		smp_barrier_wait(&c->barrier);
		if (__atomic_load_n(&c->arrivals, __ATOMIC_RELAXED) != lap * cpus)
			__atomic_add_fetch(&c->wrong, 1, __ATOMIC_RELAXED);
		if (smp_id() == 0) {
			c->laps = lap;
			c->last_lap = lap == BARRIER_LAPS || clock_ticks() >= c->end_ticks;
		}
		smp_barrier_wait(&c->barrier);
	} while (!READ_ONCE(c->last_lap));
}

static void check_barrier(void)
{
	static struct lap_counter counter;

	smp_barrier_init(&counter.barrier, smp_count());
	counter.end_ticks = clock_ticks() + ns_to_ticks(report_budget_ns() / 4, clock_hz());
	on_all_cpus(run_laps, &counter);
	report_info("%u laps of %d CPUs", counter.laps, smp_count());
	report_expect(counter.wrong == 0, "the barrier let somebody pass early %u times",
		      counter.wrong);
	report_expect(counter.arrivals == counter.laps * smp_count(), "%u arrivals in %u laps",
		      counter.arrivals, counter.laps);
}

/* ---- interrupts -------------------------------------------------------------------------- */

static u32 sgi_count[MAX_CPUS];

static void count_sgi(u32 intid, struct exception_frame *frame)
{
	__atomic_add_fetch(&sgi_count[smp_id()], 1, __ATOMIC_RELEASE);
}

static u32 sgis_on(int cpu)
{
	return __atomic_load_n(&sgi_count[cpu], __ATOMIC_ACQUIRE);
}

static void enable_test_sgi(void *arg)
{
	gic_enable(TEST_SGI);
}

static void disable_test_sgi(void *arg)
{
	gic_disable(TEST_SGI);
}

/* One at a time, each one waited for; at the end neither too few nor too many. */
static void expect_sgis(int cpu)
{
	u32 before = sgis_on(cpu);

	for (u32 i = 1; i <= SGI_ROUNDS; i++) {
		gic_send_sgi(cpu, TEST_SGI);
		if (!spin_until(sgis_on(cpu) - before >= i, WAIT_NS)) {
			report_fail("SGI %u of %d to CPU %d did not arrive", i, SGI_ROUNDS, cpu);
			return;
		}
	}
	report_expect(sgis_on(cpu) - before == SGI_ROUNDS, "CPU %d took %u SGIs, %d were sent", cpu,
		      sgis_on(cpu) - before, SGI_ROUNDS);
}

static void check_interrupt(void)
{
	irq_set_handler(TEST_SGI, count_sgi);
	enable_test_sgi(NULL);
	expect_sgis(smp_id());
	disable_test_sgi(NULL);
	irq_set_handler(TEST_SGI, NULL);
}

static void check_ipi(void)
{
	if (smp_count() < 2) {
		report_skip("one CPU has no other to interrupt");
		return;
	}
	irq_set_handler(TEST_SGI, count_sgi);
	on_all_cpus(enable_test_sgi, NULL);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		if (cpu != smp_id())
			expect_sgis(cpu);
	}
	on_all_cpus(disable_test_sgi, NULL);
	irq_set_handler(TEST_SGI, NULL);
}

/* ---- timer ------------------------------------------------------------------------------- */

static struct {
	u32 count;
	u64 handled_ticks;
} timer;

static void handle_timer(u32 intid, struct exception_frame *frame)
{
	timer.handled_ticks = cntvct_el0();
	set_cntv_ctl_el0(0);
	__atomic_add_fetch(&timer.count, 1, __ATOMIC_RELEASE);
}

static void check_timer_interrupt(void)
{
	u32 intid = timer_virtual_intid();
	u64 deadline_ticks;

	if (!intid) {
		report_skip("the devicetree names no interrupt of EL%d's virtual timer",
			    current_el());
		return;
	}
	timer.count = 0;
	irq_set_handler(intid, handle_timer);
	gic_enable(intid);
	deadline_ticks = cntvct_el0() + ns_to_ticks(NSEC_PER_MSEC, clock_hz());
	set_cntv_cval_el0(deadline_ticks);
	set_cntv_ctl_el0(TIMER_CTL_ENABLE);
	if (report_expect(spin_until(__atomic_load_n(&timer.count, __ATOMIC_ACQUIRE), WAIT_NS),
			  "no interrupt %u from the virtual timer", intid)) {
		report_expect(timer.handled_ticks >= deadline_ticks,
			      "handled %lu ticks before CNTV_CVAL_EL0",
			      deadline_ticks - timer.handled_ticks);
		report_expect(timer.count == 1, "the handler ran %u times", timer.count);
	}
	set_cntv_ctl_el0(0);
	gic_disable(intid);
	irq_set_handler(intid, NULL);
}

/* ---- library ----------------------------------------------------------------------------- */

static void expect_text(const char *expected, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void expect_text(const char *expected, const char *fmt, ...)
{
	char buf[64];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	report_expect(!strcmp(buf, expected) && len == (int)strlen(expected),
		      "\"%s\" of length %d, not \"%s\"", buf, len, expected);
}

static void check_printf(void)
{
	expect_text("-1 4294967295 ffffffffffffffff", "%d %u %lx", -1, 4294967295U, ~0UL);
	expect_text("[  42] [42  ] [0042] [+42]", "[%4d] [%-4d] [%04d] [%+d]", 42, 42, 42, 42);
	expect_text("0x1f 1F 017 [  abc] [ab]", "%#x %X %#o [%*s] [%.2s]", 31, 31, 15, 5, "abc",
		    "abc");
	expect_text("18446744073709551615 -9223372036854775808 c%", "%llu %lld %c%%", ~0ULL,
		    (long long)INT64_MIN, 'c');
}

static void check_alloc(void)
{
	size_t before = alloc_left();
	u8 *a = alloc_aligned(100, 64);
	u8 *b = alloc_pages(2);

	report_expect((uintptr_t)a % 64 == 0, "%p is not aligned to 64", (void *)a);
	report_expect((uintptr_t)b % PAGE_SIZE == 0, "%p is no page", (void *)b);
	report_expect(b >= a + 100 || b + 2 * PAGE_SIZE <= a, "two allocations overlap");
	report_expect(alloc_left() + 100 + 2 * PAGE_SIZE <= before, "%zu bytes left of %zu",
		      alloc_left(), before);
	for (size_t i = 0; i < 2 * PAGE_SIZE; i++) {
		if (b[i]) {
			report_fail("allocated memory is not zero at offset %zu", i);
			break;
		}
	}
}

static void check_console_echo(void)
{
	static const char text[] = "the quick brown fox 0123456789 ,;:!?";
	char reply[128];
	int err = host_call(PROTO_ACTION_ECHO, "text=the quick brown fox 0123456789 ,;:!?", reply,
			    sizeof(reply), WAIT_NS);

	if (err == -2) {
		report_skip("the runner has no echo");
		return;
	}
	if (!report_expect(err == 0, "no answer came in over the console"))
		return;
	report_expect(!strncmp(reply, "text=", 5) && !strcmp(reply + 5, text),
		      "\"%s\" came back for \"text=%s\"", reply, text);
}

static const struct check checks[] = {
	{
		.name = "exceptions",
		.story = "an exception is reported as the manual says, and survived",
		.checks = exception_checks,
		.nr_checks = ARRAY_SIZE(exception_checks),
	},
	{
		.name = "exception-level",
		.run = check_exception_level,
		.story = "the image runs at the exception level that el= asks for",
		.guards = "A22",
	},
	{
		.name = "cpus",
		.run = check_cpus,
		.story = "every CPU that is named comes up and answers as itself",
	},
	{
		.name = "per-cpu",
		.run = check_per_cpu,
		.story = "every CPU has its own data and stack",
	},
	{
		.name = "barrier",
		.run = check_barrier,
		.story = "no CPU passes a barrier before all have come",
	},
	{
		.name = "interrupt",
		.run = check_interrupt,
		.story = "an SGI to the own CPU is handled exactly once",
	},
	{
		.name = "ipi",
		.run = check_ipi,
		.story = "an SGI to every other CPU is handled exactly once, by that CPU",
	},
	{
		.name = "timer-interrupt",
		.run = check_timer_interrupt,
		.story = "the virtual timer's PPI comes once, and not early",
	},
	{
		.name = "printf",
		.run = check_printf,
		.story = "formatted output is what ISO C says",
	},
	{
		.name = "alloc",
		.run = check_alloc,
		.story = "allocations are aligned, zeroed and apart",
	},
	{
		.name = "console-echo",
		.run = check_console_echo,
		.story = "the console carries text in both directions",
	},
};

int main(void)
{
	return report_run("selftest", checks, ARRAY_SIZE(checks));
}
