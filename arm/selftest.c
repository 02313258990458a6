// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Does the ground hold that every other image stands on? Exceptions are caught and resumed, all
 * CPUs come up and answer, interrupts arrive exactly once each, barriers and per-CPU data do what
 * they say, and the console speaks both ways. A failure here makes every other verdict doubtful,
 * and is the suite's or the VMM's, not of time itself.
 *
 * Arguments: cpus=N, how many CPUs the machine is to have.
 */
#include "console.h"
#include "libcflat.h"
#include "protocol.h"
#include <arch/cpu.h>
#include <arch/devicetree.h>
#include <arch/el.h>
#include <arch/el0.h>
#include <arch/exception.h>
#include <arch/gic.h>
#include <arch/mmu.h>
#include <arch/percpu.h>
#include <arch/sysreg.h>
#include <arch/timer.h>

#define ECHO_LONGEST 700
#define TEST_SGI     5
#define ROUNDS	     100
#define WAIT_NS	     (10 * NSEC_PER_SEC)

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

static void write_text(void *arg)
{
	*(volatile u32 *)arg = 0;
}

/* Status code 0b0011xx: permission. */
static void check_read_only_text(void)
{
	struct exception caught;

	if (!report_expect(exception_try(write_text, (void *)main, &caught), "text was written"))
		return;
	report_expect(ESR_EC(caught.esr) == EC_DATA_ABORT && (caught.esr & 0x7c) == 0x4c,
		      "ESR %#lx: no permission fault of a write", caught.esr);
	report_expect(caught.far == (uintptr_t)main, "FAR is %#lx", caught.far);
}

static void read_null(void *arg)
{
	u64 address = 8;

	__asm__ volatile("ldr x9, [%0]" ::"r"(address) : "x9", "memory");
}

static void check_null_pointer(void)
{
	struct exception caught;

	if (report_expect(exception_try(read_null, NULL, &caught), "address 8 was read"))
		report_expect(ESR_EC(caught.esr) == EC_DATA_ABORT && caught.far == 8,
			      "ESR %#lx, FAR %#lx", caught.esr, caught.far);
}

static void recurse(void *arg)
{
	volatile u32 *stop = arg;
	volatile u8 local[1024];

	local[0] = 0;
	if (!*stop)
		recurse(arg);
	local[1] = local[0]; /* so that the call above is not the last thing done */
}

/* The page below the boot CPU's stack is not mapped; the handler has a stack of its own. */
static void check_stack_overrun(void)
{
	struct exception caught;
	const struct percpu *cpu = this_cpu();
	u32 stop = 0;

	if (report_expect(exception_try(recurse, &stop, &caught), "endless recursion returned"))
		report_expect(ESR_EC(caught.esr) == EC_DATA_ABORT && caught.far >= cpu->stack &&
				      caught.far < cpu->stack_end,
			      "ESR %#lx, FAR %#lx, and the stacks are at %#lx to %#lx", caught.esr,
			      caught.far, cpu->stack, cpu->stack_end);
}

static void catch_many(void *arg)
{
	u32 *caught = arg;
	struct exception e;
	u64 value, pc;

	for (int i = 0; i < ROUNDS; i++) {
		if (exception_try(raise_brk, &pc, &e) && e.pc == pc &&
		    !sysreg_read_safe(S3_2_C7_C7_7, &value))
			__atomic_fetch_add(caught, 1, __ATOMIC_RELAXED);
	}
}

static void check_on_every_cpu(void)
{
	u32 caught = 0;

	on_all_cpus(catch_many, &caught);
	report_expect(caught == ROUNDS * smp_count(), "%u of %d rounds on %d CPUs were right",
		      caught, ROUNDS * smp_count(), smp_count());
}

static void call_data(void *arg)
{
	void (*data)(void) = arg;

	data();
}

static void check_no_execute(void)
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

struct el0_sight {
	u64 argument;
	bool masked; /* whether a register of the kernel's could be read */
};

static u64 look_around_at_el0(void *arg)
{
	struct el0_sight *sight = arg;
	u64 value;

	sight->masked = !sysreg_read_safe(vbar_el1, &value);
	return sight->argument + 1;
}

static u64 break_at_el0(void *arg)
{
	raise_brk(arg);
	return 0;
}

static void check_el0(void)
{
	struct el0_sight sight = { .argument = 0x123456789 };
	struct exception caught;
	u64 value = 0, pc = 0;

	for (u64 round = 0; round < ROUNDS; round++) {
		sight.argument++;
		if (!report_expect(!el0_try(look_around_at_el0, &sight, &value, &caught),
				   "it was: %s, ELR %#lx", exception_class_name(ESR_EC(caught.esr)),
				   caught.pc))
			return;
		report_expect(sight.masked, "VBAR_EL1 could be read at EL0");
		report_expect(value == sight.argument + 1, "the result was %#lx", value);
	}
	if (report_expect(el0_try(break_at_el0, &pc, &value, &caught), "BRK raised nothing"))
		report_expect(ESR_EC(caught.esr) == EC_BRK64 && caught.pc == pc,
			      "it was: %s, ELR %#lx", exception_class_name(ESR_EC(caught.esr)),
			      caught.pc);
	report_expect(current_el() == wanted_el(), "the way back led to EL%d", current_el());
}

static const struct check exception_checks[] = {
	{ "undefined-instruction", check_undefined_instruction,
	  .story = "an undefined instruction is reported at itself" },
	{ "brk", check_brk, .story = "BRK is reported at itself, with its operand" },
	{ "svc", check_svc, .story = "SVC is reported behind itself, with its operand" },
	{ "data-abort", check_data_abort, .story = "an abort gives the address and the access" },
	{ "null-pointer", check_null_pointer, .story = "page 0 is not mapped" },
	{ "read-only-text", check_read_only_text, .story = "the image's text cannot be written" },
	{ "no-execute", check_no_execute, .story = "the image's data cannot be executed" },
	{ "stack-overrun", check_stack_overrun, .story = "a stack overrun is caught below it" },
	{ "resume", check_resume, .story = "an access that traps is stepped over" },
	{ "el0", check_el0, .story = "a function is run at EL0 and comes back, or its exception" },
	{ "nested", check_nested,
	  .story = "an exception is caught within the catching of another" },
	{ "on-every-cpu", check_on_every_cpu, .story = "all CPUs catch exceptions at once" },
};

/* ---- exception level --------------------------------------------------------------------- */

static void check_exception_level(void)
{
	report_info("entered at EL%d, runs at EL%d, GICv%d", boot_el(), current_el(),
		    gic_version());
	report_expect(current_el() == wanted_el(), "argument el=%d, but it runs at EL%d",
		      wanted_el(), current_el());
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

	report_expect(smp_count() == smp_named(), "the devicetree names %d CPUs, %d are up",
		      smp_named(), smp_count());
	report_expect(smp_count() == wanted, "argument cpus=%d, but %d are up", wanted,
		      smp_count());
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
			c->last_lap = lap == ROUNDS || clock_ticks() >= c->end_ticks;
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

static u32 arrived[MAX_CPUS];

static void count_interrupt(u32 intid, struct exception_frame *frame)
{
	__atomic_fetch_add(&arrived[smp_id()], 1, __ATOMIC_RELEASE);
}

static void enable_test_sgi(void *arg)
{
	gic_enable(TEST_SGI);
}

static void disable_test_sgi(void *arg)
{
	gic_disable(TEST_SGI);
}

static void expect_own_sgis(void)
{
	u32 spurious = gic_spurious_count();

	for (u32 round = 1; round <= ROUNDS; round++) {
		gic_send_sgi(smp_id(), TEST_SGI);
		if (!report_expect(READ_ONCE(arrived[smp_id()]) == round - 1,
				   "an interrupt arrived while they were masked"))
			return;
		irq_enable();
		spin_until(READ_ONCE(arrived[smp_id()]) >= round, WAIT_NS);
		irq_disable();
		if (!report_expect(arrived[smp_id()] == round, "%u SGIs sent, %u arrived", round,
				   arrived[smp_id()]))
			return;
	}
	report_expect(gic_spurious_count() == spurious, "%lu spurious interrupts",
		      gic_spurious_count() - spurious);
}

static void check_interrupt(void)
{
	memset(arrived, 0, sizeof(arrived));
	irq_set_handler(TEST_SGI, count_interrupt);
	enable_test_sgi(NULL);
	expect_own_sgis();
	disable_test_sgi(NULL);
	irq_set_handler(TEST_SGI, NULL);
}

static bool expect_sgi(int cpu, u32 round)
{
	gic_send_sgi(cpu, TEST_SGI);
	spin_until(READ_ONCE(arrived[cpu]) >= round, WAIT_NS);
	return report_expect(READ_ONCE(arrived[cpu]) == round,
			     "CPU %d was sent %u SGIs and took %u", cpu, round, arrived[cpu]);
}

static void check_ipi(void)
{
	bool right = true;

	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	memset(arrived, 0, sizeof(arrived));
	irq_set_handler(TEST_SGI, count_interrupt);
	on_all_cpus(enable_test_sgi, NULL);
	for (u32 round = 1; round <= ROUNDS && right; round++) {
		for (int cpu = 1; cpu < smp_count() && right; cpu++)
			right = expect_sgi(cpu, round);
	}
	report_expect(arrived[0] == 0, "CPU 0 took %u SGIs that were for others", arrived[0]);
	on_all_cpus(disable_test_sgi, NULL);
	irq_set_handler(TEST_SGI, NULL);
}

static void count_answer(void *arg)
{
	__atomic_fetch_add((u32 *)arg, 1, __ATOMIC_RELAXED);
}

static void check_wake_up(void)
{
	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	for (int cpu = 1; cpu < smp_count(); cpu++) {
		u32 done = 0;

		for (int round = 0; round < ROUNDS; round++)
			on_cpu(cpu, count_answer, &done);
		report_expect(done == ROUNDS, "CPU %d did %u of %d pieces of work", cpu, done,
			      ROUNDS);
	}
}

/* ---- timer ------------------------------------------------------------------------------- */

static struct {
	const struct timer_ops *ops;
	u32 count;
	u64 handled_ticks;
} timer;

static void handle_timer(u32 intid, struct exception_frame *frame)
{
	timer.handled_ticks = timer.ops->count();
	timer.ops->set_ctl(0);
	__atomic_fetch_add(&timer.count, 1, __ATOMIC_RELEASE);
}

static void expect_timer(u64 deadline_ticks)
{
	if (!report_expect(spin_until(READ_ONCE(timer.count), WAIT_NS), "no interrupt from the %s",
			   timer.ops->name))
		return;
	report_expect(timer.handled_ticks >= deadline_ticks, "the %s came %lu ticks early",
		      timer.ops->name, deadline_ticks - timer.handled_ticks);
	spin_until(false, NSEC_PER_MSEC);
	report_expect(READ_ONCE(timer.count) == 1, "the handler of the %s ran %u times",
		      timer.ops->name, timer.count);
}

static void run_timer(const struct timer_ops *ops)
{
	u32 intid = ops->intid();
	u64 deadline_ticks;

	if (!intid) {
		report_skip("the devicetree names no interrupt for EL%d's %s", current_el(),
			    ops->name);
		return;
	}
	timer.ops = ops;
	timer.count = 0;
	irq_set_handler(intid, handle_timer);
	gic_enable(intid);
	deadline_ticks = ops->count() + ns_to_ticks(NSEC_PER_MSEC, clock_hz());
	ops->set_cval(deadline_ticks);
	ops->set_ctl(TIMER_CTL_ENABLE);
	irq_enable();
	expect_timer(deadline_ticks);
	irq_disable();
	ops->set_ctl(0);
	gic_disable(intid);
	irq_set_handler(intid, NULL);
}

static void check_virtual_timer(void)
{
	run_timer(&virtual_timer);
}

static void check_physical_timer(void)
{
	run_timer(&physical_timer);
}

static const struct check timer_checks[] = {
	{ "virtual", check_virtual_timer, .story = "the virtual timer's PPI comes once" },
	{ "physical", check_physical_timer, .story = "the physical timer's PPI comes once" },
};

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

static bool echo(size_t length)
{
	static char fields[ECHO_LONGEST + 16], reply[ECHO_LONGEST + 16];
	size_t prefix = strlen("text=");
	int err;

	strcpy(fields, "text=");
	for (size_t i = 0; i < length; i++)
		fields[prefix + i] = '!' + (i * 11 + length) % ('~' - '!' + 1);
	fields[prefix + length] = '\0';
	err = host_call(PROTO_ACTION_ECHO, fields, reply, sizeof(reply), WAIT_NS);
	if (err == -2) {
		report_skip("the runner offers no echo");
		return false;
	}
	if (err) {
		report_error("no reply to %zu characters in %lu ms: is there a runner on the "
			     "console?",
			     length, WAIT_NS / NSEC_PER_MSEC);
		return false;
	}
	return report_expect(!strcmp(fields, reply), "%zu characters were sent, others came back",
			     length);
}

static void check_console_echo(void)
{
	if (echo(1) && echo(64) && echo(ECHO_LONGEST))
		report_info("1, 64 and %d characters there and back on %s", ECHO_LONGEST,
			    console_name());
}

extern uintptr_t __stack_chk_guard;

/* That it works is shown by the image misbehave, mode=smash. */
static void check_stack_protector(void)
{
	report_expect(__stack_chk_guard != 0, "the guard value is 0");
}

static void check_clock(void)
{
	u64 start = clock_ticks();

	report_expect(spin_until(clock_ticks() != start, WAIT_NS), "CNTVCT_EL0 stands still");
	report_expect(clock_hz() >= 1000000, "CNTVCT_EL0's frequency is said to be %lu Hz",
		      clock_hz());
	report_info("CNTVCT_EL0: %lu Hz by %s", clock_hz(), clock_hz_source());
}

static const struct check checks[] = {
	{ "exceptions", .checks = exception_checks, .nr_checks = ARRAY_SIZE(exception_checks) },
	{ "exception-level", check_exception_level, .guards = "A22",
	  .story = "the image runs at the exception level that el= asks for" },
	{ "cpus", check_cpus, .story = "every CPU that is named comes up and answers as itself" },
	{ "per-cpu", check_per_cpu, .story = "each CPU has data and a stack of its own" },
	{ "barrier", check_barrier, .story = "no CPU passes a barrier before the last has come" },
	{ "wake-up", check_wake_up, .story = "a sleeping CPU takes work every time" },
	{ "interrupt", check_interrupt, .story = "an SGI to itself arrives exactly once" },
	{ "ipi", check_ipi, .story = "every SGI to another CPU arrives, and exactly once" },
	{ "timer-interrupt", .guards = "A22", .checks = timer_checks,
	  .nr_checks = ARRAY_SIZE(timer_checks) },
	{ "printf", check_printf, .story = "numbers and texts come out as ISO C has them" },
	{ "console-echo", check_console_echo,
	  .story = "what the runner sends back is what was sent" },
	{ "alloc", check_alloc, .story = "memory is zeroed, aligned, handed out once" },
	{ "stack-protector", check_stack_protector, .story = "the guard is set" },
	{ "clock", check_clock, .story = "the image's own clock advances at a known rate" },
};

int main(void)
{
	return report_run("selftest", checks, ARRAY_SIZE(checks));
}
