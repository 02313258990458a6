// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hyper-V's synthetic timers (TLFS 6.0b, 12.2 and 12.3), four a CPU, one-shot at a reference time or
 * periodic, that send a message or, in direct mode, an interrupt. What was armed n times comes n
 * times, never before its time; a timer that was disabled is silent; a message that finds its slot
 * taken waits for it.
 *
 * A hypervisor that loses an expiry while the slot is taken, or delivers it before its time by the
 * reference counter, fails the counts and never-early; one that leaves a one-shot enabled fails
 * enable-cleared; one that keeps an old time when a new one is written fails moved.
 *
 * Arguments: budget-ms=N.
 */
#include "libcflat.h"
#include <arch/cpu.h>
#include <arch/cpuid.h>
#include <arch/hyperv.h>
#include <arch/idt.h>
#include <arch/msr.h>

static void read_back(void);
static void enable_cleared(void);
static void auto_enable(void);
static void count_zero(void);
static void one_shot(void);
static void past(void);
static void moved(void);
static void disabled(void);
static void periodic(void);
static void all_timers(void);
static void all_cpus(void);
static void slot_taken(void);

struct stimer_way {
	bool direct;
};

static const struct stimer_way by_message = { false };
static const struct stimer_way directly = { true };

static const struct check ways[] = {
	{ "read-back", read_back, .story = "configuration and count read as they were written" },
	{ "enable-cleared", enable_cleared,
	  .story = "a one-shot that has come is no longer enabled" },
	{ "auto-enable", auto_enable, .story = "with auto-enable, writing the count starts it" },
	{ "count-zero", count_zero, .story = "a count of 0 stops it" },
	{ "one-shot", one_shot, .story = "armed n times, handled n times, never before its time" },
	{ "past", past, .story = "a time that is past comes at once" },
	{ "moved", moved, .story = "another time in flight is the one that counts" },
	{ "disabled", disabled, .story = "disabled before its time nothing comes" },
	{ "periodic", periodic, .story = "the k-th never before k periods" },
	{ "all-timers", all_timers, .story = "four timers of a CPU at once, each its own" },
	{ "all-cpus", all_cpus, .story = "on every CPU at once" },
};

static const struct check checks[] = {
	{ "message", .checks = ways, .nr_checks = ARRAY_SIZE(ways), .subject = &by_message },
	{ "direct", .checks = ways, .nr_checks = ARRAY_SIZE(ways), .subject = &directly },
	{ "slot-taken", slot_taken,
	  .story = "an expiry that finds the message slot taken is delivered when that is free" },
};

#define SINT	    2
#define VECTOR	    0x50 /* of timer 0; of the others behind it */
#define SINT_VECTOR 0x58
#define ROUNDS	    300
#define CPU_ROUNDS  50
#define MOVES	    10
#define NEAR_UNITS  200UL /* 20 us */
#define FAR_UNITS   (100 * HV_HZ)
/* KVM takes what it is told; the runner's own machine must keep up with it. */
#define PERIOD_UNITS 5000UL /* 500 us */
#define WAIT_NS	     NSEC_PER_SEC
#define SETTLE_NS    (200 * NSEC_PER_USEC)
#define SILENCE_NS   (2 * NSEC_PER_MSEC)

struct stimer {
	u64 handled;
	u64 handled_units; /* reference time in the handler */
	u64 due_units;	   /* of a one-shot, or of the first period */
	u64 period_units;  /* 0: one-shot */
	u64 early;
	u64 wrong; /* messages that say something else than they should */
};

/* One CPU's timers and its message page, in which slot SINT is all that is used. */
struct cpu_timers {
	struct stimer timer[HV_STIMERS];
	u64 unknown; /* interrupts without a message */
	u64 armed;
	bool direct;
	bool keep_message; /* slot-taken: leave it there */
};

static struct cpu_timers cpu_timers[MAX_CPUS];
static struct hv_message messages[MAX_CPUS][16] __attribute__((aligned(4096)));

_Static_assert(sizeof(messages[0]) == 4096, "a message page is a page");

static bool is_direct(void)
{
	const struct stimer_way *way = report_subject();

	return way->direct;
}

/* ---- interrupts -------------------------------------------------------------------------------- */

static void note(struct stimer *t)
{
	u64 now = hv_time_ref_count_read();
	u64 due = t->due_units + t->handled * t->period_units;

	if (now < due)
		t->early++;
	t->handled_units = now;
	__atomic_store_n(&t->handled, t->handled + 1, __ATOMIC_RELEASE);
}

static void direct_interrupt(struct exception_frame *frame)
{
	note(&cpu_timers[smp_id()].timer[frame->vector - VECTOR]);
}

/* The slot is emptied before EOM asks for the next message (TLFS, 11.10.3). */
static void take_message(struct cpu_timers *c, struct hv_message *m)
{
	struct stimer *t = &c->timer[m->timer_index % HV_STIMERS];
	bool pending;

	if (m->type != HV_MESSAGE_TIMER_EXPIRED || m->timer_index >= HV_STIMERS ||
	    m->delivery_time < m->expiration_time ||
	    (!t->period_units && m->expiration_time != t->due_units))
		t->wrong++;
	WRITE_ONCE(m->type, HV_MESSAGE_NONE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	pending = READ_ONCE(m->flags) & HV_MESSAGE_PENDING;
	note(t);
	if (pending)
		wrmsr(MSR_HV_EOM, 0);
}

static void message_interrupt(struct exception_frame *frame)
{
	struct cpu_timers *c = &cpu_timers[smp_id()];
	struct hv_message *m = &messages[smp_id()][SINT];

	if (READ_ONCE(m->type) == HV_MESSAGE_NONE)
		c->unknown++;
	else if (!c->keep_message)
		take_message(c, m);
}

static u64 handled(const struct stimer *t)
{
	return __atomic_load_n(&t->handled, __ATOMIC_ACQUIRE);
}

/* ---- on and off -------------------------------------------------------------------------------- */

static u32 config_msr(int timer)
{
	return MSR_HV_STIMER0_CONFIG + 2 * timer;
}

static u32 count_msr(int timer)
{
	return MSR_HV_STIMER0_COUNT + 2 * timer;
}

static void open_here(void *direct)
{
	int cpu = smp_id();

	cpu_timers[cpu] = (struct cpu_timers){ .direct = direct != NULL };
	memset(messages[cpu], 0, sizeof(messages[cpu]));
	wrmsr(MSR_HV_SIMP, (u64)messages[cpu] | HV_PAGE_ENABLE);
	wrmsr(MSR_HV_SINT0 + SINT, SINT_VECTOR);
	wrmsr(MSR_HV_SCONTROL, 1);
}

static void close_here(void *arg)
{
	for (int i = 0; i < HV_STIMERS; i++)
		wrmsr(config_msr(i), 0);
	irq_enable();
	spin_until(false, SETTLE_NS);
	irq_disable();
	wrmsr(MSR_HV_SINT0 + SINT, HV_SINT_MASKED | SINT_VECTOR);
	wrmsr(MSR_HV_SIMP, 0);
	wrmsr(MSR_HV_SCONTROL, 0);
}

/* On all CPUs; false after a skip. */
static bool open_timers(bool direct)
{
	struct cpuid features = hv_features();
	u32 wanted = HV_STIMER | HV_SYNIC | HV_TIME_REF_COUNT;

	if ((features.eax & wanted) != wanted) {
		report_skip("Hyper-V's synthetic timers are not offered (CPUID 0x40000003 EAX)");
		return false;
	}
	if (direct && !(features.edx & HV_EDX_STIMER_DIRECT)) {
		report_skip("Hyper-V's direct timers are not offered (CPUID 0x40000003 EDX bit "
			    "19)");
		return false;
	}
	for (int i = 0; i < HV_STIMERS; i++)
		irq_set_handler(VECTOR + i, direct_interrupt);
	irq_set_handler(SINT_VECTOR, message_interrupt);
	on_all_cpus(open_here, direct ? "" : NULL);
	return true;
}

static void close_timers(void)
{
	static u32 reported;

	if (irq_delivered_twice_count() != reported)
		report_info("%u interrupts were delivered twice by the emulated host's CPU",
			    irq_delivered_twice_count() - reported);
	reported = irq_delivered_twice_count();
	on_all_cpus(close_here, NULL);
}

static u64 config(int timer, u64 flags)
{
	if (cpu_timers[smp_id()].direct)
		return flags | HV_STIMER_DIRECT | HV_STIMER_VECTOR(VECTOR + timer);
	return flags | HV_STIMER_SINT(SINT);
}

/* One-shot at the time, or with this period from now on; this CPU's. */
static void arm(int timer, u64 due_units, u64 period_units)
{
	struct stimer *t = &cpu_timers[smp_id()].timer[timer];
	u64 irqs = irq_save();

	wrmsr(config_msr(timer), config(timer, 0));
	t->period_units = period_units;
	t->due_units = due_units;
	if (period_units) {
		t->handled = 0;
		t->due_units = hv_time_ref_count_read() + period_units;
	}
	wrmsr(count_msr(timer), period_units ? period_units : due_units);
	wrmsr(config_msr(timer),
	      config(timer, HV_STIMER_ENABLE | (period_units ? HV_STIMER_PERIODIC : 0)));
	irq_restore(irqs);
}

static bool wait_handled(const struct stimer *t, u64 n)
{
	u64 irqs = irq_save();
	bool came;

	irq_enable();
	came = spin_until(handled(t) >= n, WAIT_NS);
	irq_restore(irqs);
	return came;
}

static void judge(const struct cpu_timers *c, int timer, u64 n)
{
	const struct stimer *t = &c->timer[timer];

	report_expect(t->handled == n, "timer %d was armed for %lu interrupts, handled %lu", timer,
		      n, t->handled);
	report_expect(!t->early, "%lu of %lu interrupts of timer %d were handled before their time",
		      t->early, t->handled, timer);
	report_expect(!t->wrong, "%lu messages of timer %d say another time or timer", t->wrong,
		      timer);
	report_expect(!c->unknown, "%lu interrupts came without a message", c->unknown);
}

/* n interrupts by now, and no more for so long. */
static void expect_handled(int timer, u64 n, u64 silence_ns)
{
	const struct cpu_timers *c = &cpu_timers[smp_id()];

	wait_handled(&c->timer[timer], n);
	irq_enable();
	spin_until(handled(&c->timer[timer]) > n, silence_ns);
	irq_disable();
	judge(c, timer, n);
}

/* ---- registers --------------------------------------------------------------------------------- */

static void read_back(void)
{
	if (!open_timers(is_direct()))
		return;
	for (int i = 0; i < HV_STIMERS; i++) {
		u64 wanted = config(i, HV_STIMER_ENABLE), count = FAR_UNITS + i;

		wrmsr(config_msr(i), 0);
		wrmsr(count_msr(i), count);
		wrmsr(config_msr(i), wanted);
		report_expect(rdmsr(config_msr(i)) == wanted,
			      "timer %d's configuration was written 0x%lx and reads as 0x%lx", i,
			      wanted, rdmsr(config_msr(i)));
		report_expect(rdmsr(count_msr(i)) == count,
			      "timer %d's count was written %lu and reads as %lu", i, count,
			      rdmsr(count_msr(i)));
	}
	close_timers();
}

static void enable_cleared(void)
{
	if (!open_timers(is_direct()))
		return;
	arm(0, hv_time_ref_count_read() + NEAR_UNITS, 0);
	expect_handled(0, 1, SETTLE_NS);
	report_expect(!(rdmsr(config_msr(0)) & HV_STIMER_ENABLE),
		      "after its interrupt a one-shot's configuration is 0x%lx",
		      rdmsr(config_msr(0)));
	close_timers();
}

static void auto_enable(void)
{
	struct stimer *t = &cpu_timers[0].timer[0];

	if (!open_timers(is_direct()))
		return;
	for (u64 n = 1; n <= MOVES; n++) {
		wrmsr(config_msr(0), config(0, HV_STIMER_AUTO_ENABLE));
		t->due_units = hv_time_ref_count_read() + NEAR_UNITS;
		wrmsr(count_msr(0), t->due_units);
		if (!wait_handled(t, n))
			break;
	}
	expect_handled(0, MOVES, SETTLE_NS);
	close_timers();
}

static void count_zero(void)
{
	if (!open_timers(is_direct()))
		return;
	arm(0, hv_time_ref_count_read() + FAR_UNITS, 0);
	wrmsr(count_msr(0), 0);
	report_expect(!(rdmsr(config_msr(0)) & HV_STIMER_ENABLE),
		      "with a count of 0 the configuration is 0x%lx", rdmsr(config_msr(0)));
	expect_handled(0, 0, SILENCE_NS);
	close_timers();
}

/* ---- counts ------------------------------------------------------------------------------------ */

static void one_shot(void)
{
	const struct stimer *t = &cpu_timers[0].timer[0];
	struct spin_bound budget;
	u64 n = 0;

	if (!open_timers(is_direct()))
		return;
	spin_start(&budget, report_budget_ns() / 2);
	do {
		arm(0, hv_time_ref_count_read() + n * 7 % NEAR_UNITS, 0);
	} while (wait_handled(t, ++n) && n < ROUNDS && spin_poll(&budget));
	report_info("armed %lu times", n);
	expect_handled(0, n, SETTLE_NS);
	close_timers();
}

static void past(void)
{
	const struct stimer *t = &cpu_timers[0].timer[0];
	u64 n = 0;

	if (!open_timers(is_direct()))
		return;
	/* A count of 0 would stop it. */
	arm(0, 1, 0);
	for (int bit = 0; bit < 20 && wait_handled(t, ++n); bit++) {
		u64 now = hv_time_ref_count_read();

		arm(0, now - MIN(now - 1, BIT(bit)), 0);
	}
	expect_handled(0, 21, SETTLE_NS);
	close_timers();
}

static void moved(void)
{
	if (!open_timers(is_direct()))
		return;
	for (u64 n = 1; n <= MOVES; n++) {
		arm(0, hv_time_ref_count_read() + FAR_UNITS, 0);
		arm(0, hv_time_ref_count_read() + NEAR_UNITS, 0);
		expect_handled(0, n, SETTLE_NS);
	}
	close_timers();
}

/* One that was due before it was disabled is not disabled in time: then again. */
static void disabled(void)
{
	struct cpu_timers *c = &cpu_timers[0];
	int silent = 0;

	if (!open_timers(is_direct()))
		return;
	for (int i = 0; i < 4 * MOVES && silent < MOVES; i++) {
		u64 due = hv_time_ref_count_read() + 2 * PERIOD_UNITS;

		arm(0, due, 0);
		wrmsr(config_msr(0), config(0, 0));
		if (hv_time_ref_count_read() >= due) {
			wait_handled(&c->timer[0], c->timer[0].handled + 1);
			c->timer[0].handled = 0;
			continue;
		}
		expect_handled(0, 0, SILENCE_NS);
		silent++;
	}
	if (!silent)
		report_error("in %d attempts this CPU was not run for a millisecond between two "
			     "writes",
			     4 * MOVES);
	close_timers();
}

static void periodic(void)
{
	const struct stimer *t = &cpu_timers[0].timer[0];
	struct spin_bound budget;
	u64 n = 0;

	if (!open_timers(is_direct()))
		return;
	spin_start(&budget, report_budget_ns() / 4);
	arm(0, 0, PERIOD_UNITS);
	while (n < ROUNDS && spin_poll(&budget) &&
	       report_expect(wait_handled(t, n + 1),
			     "after %lu interrupts no further one came within %lu ms", n,
			     WAIT_NS / NSEC_PER_MSEC))
		n++;
	wrmsr(config_msr(0), config(0, 0));
	/* One may have been on its way. */
	irq_enable();
	spin_until(false, SETTLE_NS);
	irq_disable();
	n = t->handled;
	expect_handled(0, n, SILENCE_NS);
	report_info("%lu interrupts in %lu periods", n,
		    (t->handled_units - t->due_units) / PERIOD_UNITS + 1);
	close_timers();
}

static void all_timers(void)
{
	const struct cpu_timers *c = &cpu_timers[0];

	if (!open_timers(is_direct()))
		return;
	for (u64 n = 1; n <= MOVES; n++) {
		u64 now = hv_time_ref_count_read();
		bool came = true;

		/* Two at the same time, one before, one behind. */
		arm(0, now + 2 * NEAR_UNITS, 0);
		arm(1, now + 2 * NEAR_UNITS, 0);
		arm(2, now + NEAR_UNITS, 0);
		arm(3, now + 3 * NEAR_UNITS, 0);
		for (int i = 0; i < HV_STIMERS; i++)
			came = wait_handled(&c->timer[i], n) && came;
		if (!came)
			break;
	}
	for (int i = 0; i < HV_STIMERS; i++)
		expect_handled(i, MOVES, SETTLE_NS);
	close_timers();
}

static void one_shots_here(void *arg)
{
	struct cpu_timers *c = &cpu_timers[smp_id()];
	struct spin_bound budget;

	spin_start(&budget, report_budget_ns() / 4);
	do {
		arm(0, hv_time_ref_count_read() + NEAR_UNITS, 0);
	} while (wait_handled(&c->timer[0], ++c->armed) && c->armed < CPU_ROUNDS &&
		 spin_poll(&budget));
}

static void all_cpus(void)
{
	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	if (!open_timers(is_direct()))
		return;
	on_all_cpus(one_shots_here, NULL);
	for (int cpu = 0; cpu < smp_count(); cpu++)
		judge(&cpu_timers[cpu], 0, cpu_timers[cpu].armed);
	report_info("%lu on CPU 0, %lu on CPU 1", cpu_timers[0].armed, cpu_timers[1].armed);
	close_timers();
}

/* Timer 0's message is left in the slot while timer 1's is due. */
static void slot_taken(void)
{
	struct cpu_timers *c = &cpu_timers[0];
	struct hv_message *m = &messages[0][SINT];

	if (!open_timers(false))
		return;
	c->keep_message = true;
	arm(0, hv_time_ref_count_read() + NEAR_UNITS, 0);
	irq_enable();
	spin_until(READ_ONCE(m->type) != HV_MESSAGE_NONE, WAIT_NS);
	irq_disable();
	report_expect(m->type == HV_MESSAGE_TIMER_EXPIRED && m->timer_index == 0,
		      "the slot holds a message of type 0x%x, timer %u", m->type, m->timer_index);
	arm(1, hv_time_ref_count_read() + NEAR_UNITS, 0);
	irq_enable();
	spin_until(READ_ONCE(m->flags) & HV_MESSAGE_PENDING, WAIT_NS);
	irq_disable();
	report_expect(m->flags & HV_MESSAGE_PENDING,
		      "the slot does not say that another message waits for it");
	report_expect(m->timer_index == 0, "the message in the slot was overwritten");
	c->keep_message = false;
	take_message(c, m);
	expect_handled(0, 1, SETTLE_NS);
	expect_handled(1, 1, SETTLE_NS);
	close_timers();
}

int main(void)
{
	return report_run("hv-stimer", checks, ARRAY_SIZE(checks));
}
