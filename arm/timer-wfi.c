/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timers as an idle guest needs them: WFI ends when a timer is due, however near that is, and
 * whether or not interrupts are masked in PSTATE; it does not end over and over for nothing; no
 * interrupt is lost to a guest that does nothing else; and the event stream ends WFE at its rate.
 *
 * A hypervisor that schedules nothing for a timer that is due within its own granularity, or just
 * was, leaves the guest asleep: delta-sweep (A23). One that sets no timer of its own when the
 * handler has moved CVAL ahead fails rearm-in-handler (A4). One that sets one though the interrupt is
 * pending already, or for a masked timer, wakes the guest for nothing: wakeups, imasked (A3).
 *
 * Every sleep has another timer to end it. The same checks for each timer, as in timer.c.
 * Arguments: budget-ms=N, el=2.
 */
#include "libcflat.h"
#include "timertest.h"
#include <arch/cpu.h>
#include <arch/el.h>
#include <arch/gic.h>
#include <arch/timer.h>

#define SWEEP_TICKS   1000
#define SHOTS	      300
#define WAKEUP_SHOTS  100
#define IMASKED_SHOTS 20
#define EVENTS	      64

#define WATCHDOG_SGI 6

static const struct timer_ops *subject(void)
{
	return report_subject();
}

/* ---- sleep ------------------------------------------------------------------------------------- */

/*
 * A timer that is slept for, and another one that ends the sleep when the first does not; where that
 * one is the subject itself, CPU 1 does.
 */
struct sleeper {
	struct timer_line line;
	struct timer_line watchdog;
	u32 sgis;
	u32 done; /* for CPU 1 */
	u64 wakeups;
	u64 uncaused; /* wake-ups after which no interrupt was there to be taken */
};

static const struct timer_ops *another(const struct timer_ops *timer)
{
	const struct timer_ops *const *timers;
	int count;

	timers = timer_all(&count);
	for (int i = 0; i < count; i++) {
		if (timers[i] != timer && timers[i]->intid())
			return timers[i];
	}
	return NULL;
}

static bool open_sleeper(struct sleeper *s, const struct timer_ops *timer,
			 void (*remove_cause)(struct timer_line *line))
{
	const struct timer_ops *other = another(timer);

	*s = (struct sleeper){ 0 };
	if (!other) {
		report_skip("no other timer has an interrupt: a sleep would have no bound");
		return false;
	}
	return timer_open(&s->line, timer, remove_cause) &&
	       timer_open(&s->watchdog, other, timer_stop);
}

static void close_sleeper(struct sleeper *s)
{
	timer_close(&s->line);
	timer_close(&s->watchdog);
}

static struct sleeper *sleeper_of_sgi;

static void watchdog_sgi(u32 intid, struct exception_frame *frame)
{
	WRITE_ONCE(sleeper_of_sgi->sgis, sleeper_of_sgi->sgis + 1);
}

static void watch_from_cpu_1(void *arg)
{
	struct sleeper *s = arg;

	if (!spin_until(__atomic_load_n(&s->done, __ATOMIC_ACQUIRE), 2 * TIMER_WAIT_NS))
		gic_send_sgi(0, WATCHDOG_SGI);
}

static bool open_sleeper_with_cpu(struct sleeper *s, const struct timer_ops *timer)
{
	*s = (struct sleeper){ 0 };
	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up: one to end the other's sleep");
		return false;
	}
	if (!timer_open(&s->line, timer, timer_stop))
		return false;
	sleeper_of_sgi = s;
	irq_set_handler(WATCHDOG_SGI, watchdog_sgi);
	gic_enable(WATCHDOG_SGI);
	on_cpu_async(1, watch_from_cpu_1, s);
	return true;
}

static void close_sleeper_with_cpu(struct sleeper *s)
{
	__atomic_store_n(&s->done, 1, __ATOMIC_RELEASE);
	if (!cpu_wait_idle(1, 2 * TIMER_WAIT_NS))
		report_error("CPU 1 does not end its watch");
	gic_disable(WATCHDOG_SGI);
	timer_close(&s->line);
}

static bool gave_up(const struct sleeper *s)
{
	return READ_ONCE(s->watchdog.handled) || READ_ONCE(s->sgis);
}

/*
 * WFI ends on a pending interrupt that PSTATE masks (Arm ARM, "Wait for Interrupt"). So the
 * interrupt cannot be taken between the look at the count and WFI, and is taken after it.
 */
static void sleep_once(struct sleeper *s)
{
	u64 before = s->line.handled + s->watchdog.handled + s->sgis;

	dsb_sy();
	wfi();
	s->wakeups++;
	irq_enable();
	isb();
	irq_disable();
	if (READ_ONCE(s->line.handled) + READ_ONCE(s->watchdog.handled) + READ_ONCE(s->sgis) ==
	    before)
		s->uncaused++;
}

/* Sleeps until n interrupts were handled; false when the watchdog ended it. */
static bool sleep_until_handled(struct sleeper *s, u64 n)
{
	struct timer_line *watchdog = &s->watchdog;

	if (watchdog->timer)
		timer_arm(watchdog, watchdog->timer->count() + timer_ticks(TIMER_WAIT_NS));
	while (READ_ONCE(s->line.handled) < n && !gave_up(s))
		sleep_once(s);
	if (watchdog->timer)
		timer_stop(watchdog);
	return READ_ONCE(s->line.handled) >= n;
}

static void expect_slept(struct sleeper *s, u64 n)
{
	report_expect(!gave_up(s),
		      "the %s did not end WFI in %lu ms, sleep %lu: deadline 0x%lx, now 0x%lx",
		      s->line.timer->name, TIMER_WAIT_NS / NSEC_PER_MSEC, s->line.handled + 1,
		      s->line.cval, s->line.timer->count());
	timer_expect_handled(&s->line, n);
}

/* ---- each timer -------------------------------------------------------------------------------- */

static void delta_sweep(void)
{
	struct sleeper s;
	struct spin_bound budget;
	u64 n = 0;

	if (!open_sleeper(&s, subject(), timer_stop))
		return;
	spin_start(&budget, report_budget_ns());
	do {
		timer_arm(&s.line, s.line.timer->count() + n);
	} while (sleep_until_handled(&s, ++n) && n <= SWEEP_TICKS && spin_poll(&budget));
	report_info("0 to %lu ticks ahead", n - 1);
	expect_slept(&s, n);
	close_sleeper(&s);
}

static void past_deadline(void)
{
	struct sleeper s;
	u64 n = 0;

	if (!open_sleeper(&s, subject(), timer_stop))
		return;
	do {
		timer_arm(&s.line, s.line.timer->count() - n);
	} while (sleep_until_handled(&s, ++n) && n < 10);
	timer_arm(&s.line, 0);
	sleep_until_handled(&s, ++n);
	expect_slept(&s, n);
	close_sleeper(&s);
}

static struct timer_lateness samples;

static void one_shot(void)
{
	struct sleeper s;
	struct spin_bound budget;
	u64 n = 0;
	bool woke;

	if (!open_sleeper(&s, subject(), timer_stop))
		return;
	samples.count = 0;
	spin_start(&budget, report_budget_ns() / 2);
	do {
		u32 ahead = timer_random(&s.line.random, timer_ticks(200 * NSEC_PER_USEC));

		timer_arm(&s.line, s.line.timer->count() + ahead);
		woke = sleep_until_handled(&s, ++n);
		if (woke)
			timer_note_lateness(&samples, &s.line);
	} while (woke && n < SHOTS && spin_poll(&budget));
	report_info("armed %lu times", n);
	timer_print_lateness(&samples, s.line.timer->name);
	expect_slept(&s, n);
	close_sleeper(&s);
}

/* The next deadline from inside the handler, as long as there is one. */
static void rearm(struct timer_line *line)
{
	if (--line->left == 0) {
		timer_stop(line);
		return;
	}
	line->cval = line->timer->count() + timer_random(&line->random, line->delta_ticks);
	line->timer->set_cval(line->cval);
}

static void rearm_in_handler(void)
{
	struct sleeper s;
	struct spin_bound budget;
	u64 n = 0;

	if (!open_sleeper(&s, subject(), rearm))
		return;
	s.line.delta_ticks = timer_ticks(200 * NSEC_PER_USEC);
	spin_start(&budget, report_budget_ns() / 2);
	do {
		s.line.left = SHOTS / 10;
		n += s.line.left;
		timer_arm(&s.line, s.line.timer->count() + s.line.delta_ticks);
	} while (sleep_until_handled(&s, n) && n < SHOTS && spin_poll(&budget));
	report_info("armed %lu times", n);
	expect_slept(&s, n);
	close_sleeper(&s);
}

/*
 * The architecture lets WFI end at any time: more wake-ups for nothing than timers are a storm all
 * the same, and cost what idling is meant to save.
 */
static void expect_few_wakeups(const struct sleeper *s, u64 n)
{
	report_info("%lu sleeps, %lu wake-ups, of these %lu for nothing", n, s->wakeups,
		    s->uncaused);
	report_expect(s->uncaused <= n, "WFI ended for nothing %lu times in %lu sleeps",
		      s->uncaused, n);
}

static void wakeups(void)
{
	struct sleeper s;
	struct spin_bound budget;
	u64 n = 0;

	if (!open_sleeper(&s, subject(), timer_stop))
		return;
	spin_start(&budget, report_budget_ns() / 2);
	do {
		timer_arm(&s.line, s.line.timer->count() + timer_ticks(200 * NSEC_PER_USEC));
	} while (sleep_until_handled(&s, ++n) && n < WAKEUP_SHOTS && spin_poll(&budget));
	expect_slept(&s, n);
	expect_few_wakeups(&s, n);
	close_sleeper(&s);
}

/* Due and masked: another timer ends the sleep, this one does not. */
static void imasked(void)
{
	const struct timer_ops *other = another(subject());
	struct sleeper s;
	u64 n = 0;

	if (!other) {
		report_skip("no other timer has an interrupt");
		return;
	}
	if (!open_sleeper_with_cpu(&s, other))
		return;
	subject()->set_cval(0);
	subject()->set_ctl(TIMER_CTL_ENABLE | TIMER_CTL_IMASK);
	do {
		timer_arm(&s.line, s.line.timer->count() + timer_ticks(200 * NSEC_PER_USEC));
	} while (sleep_until_handled(&s, ++n) && n < IMASKED_SHOTS);
	expect_slept(&s, n);
	expect_few_wakeups(&s, n);
	report_expect(subject()->ctl() == (TIMER_CTL_ENABLE | TIMER_CTL_IMASK | TIMER_CTL_ISTATUS),
		      "CTL of the masked %s is %#lx", subject()->name, subject()->ctl());
	subject()->set_ctl(0);
	close_sleeper_with_cpu(&s);
}

/* ---- together ---------------------------------------------------------------------------------- */

/* The one that is due first ends the sleep, though the other was armed later, or before. */
static void earliest_of_two(void)
{
	const struct timer_ops *const *timers;
	struct sleeper s;
	int count;

	timers = timer_all(&count);
	for (int i = 0; i < count; i++) {
		if (!timers[i]->intid())
			continue;
		if (!open_sleeper(&s, timers[i], timer_stop))
			return;
		for (u64 n = 1; n <= 10; n++) {
			/* The watchdog is armed behind it, for much later. */
			timer_arm(&s.line,
				  s.line.timer->count() + timer_ticks(100 * NSEC_PER_USEC));
			if (!sleep_until_handled(&s, n))
				break;
			timer_arm(&s.watchdog,
				  s.watchdog.timer->count() + timer_ticks(10 * TIMER_WAIT_NS));
		}
		expect_slept(&s, 10);
		close_sleeper(&s);
	}
}

struct idlers {
	struct smp_barrier barrier;
	struct sleeper *sleepers;
	u64 rounds[MAX_CPUS];
};

static void idle_on_cpu(void *arg)
{
	struct idlers *idlers = arg;
	struct sleeper *s = &idlers->sleepers[smp_id()];
	struct spin_bound budget;
	u64 n = 0;

	timer_open_quietly(&s->line, &physical_timer, timer_stop);
	timer_open_quietly(&s->watchdog, another(&physical_timer), timer_stop);
	smp_barrier_wait(&idlers->barrier);
	spin_start(&budget, report_budget_ns() / 2);
	do {
		u32 ahead = timer_random(&s->line.random, timer_ticks(200 * NSEC_PER_USEC));

		timer_arm(&s->line, s->line.timer->count() + ahead);
	} while (sleep_until_handled(s, ++n) && n < SHOTS && spin_poll(&budget));
	idlers->rounds[smp_id()] = n;
	close_sleeper(s);
	smp_barrier_wait(&idlers->barrier);
}

/* No CPU is awake to bring time forward for the others. */
static void every_cpu(void)
{
	struct idlers *idlers = alloc(sizeof(*idlers));
	u64 fewest = UINT64_MAX;

	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	if (!physical_timer.intid() || !another(&physical_timer)) {
		report_skip("needs two timers with interrupts");
		return;
	}
	idlers->sleepers = alloc(smp_count() * sizeof(struct sleeper));
	smp_barrier_init(&idlers->barrier, smp_count());
	on_all_cpus(idle_on_cpu, idlers);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		struct sleeper *s = &idlers->sleepers[cpu];

		report_expect(!gave_up(s), "CPU %d: the %s did not end WFI, sleep %lu", cpu,
			      s->line.timer->name, idlers->rounds[cpu]);
		timer_judge_handled(&s->line, idlers->rounds[cpu]);
		fewest = MIN(fewest, idlers->rounds[cpu]);
	}
	report_info("%d CPUs, %lu sleeps at least", smp_count(), fewest);
}

/* ---- the event stream -------------------------------------------------------------------------- */

static void stream_on(int bit, bool falling)
{
	u64 cntkctl = cntkctl_el1() & ~(CNTKCTL_EVNTI | CNTKCTL_EVNTDIR);

	cntkctl |= (u64)bit << CNTKCTL_EVNTI_SHIFT | (falling ? CNTKCTL_EVNTDIR : 0);
	set_cntkctl_el1(cntkctl | CNTKCTL_EVNTEN);
}

static void stream_off(void)
{
	set_cntkctl_el1(cntkctl_el1() & ~CNTKCTL_EVNTEN);
}

static void stream_read_back(void)
{
	u64 old = cntkctl_el1();

	for (u64 bits = 0; bits < 64; bits++) {
		u64 written = (old & ~0xfcULL) | bits << 2; /* EVNTEN, EVNTDIR, EVNTI */

		set_cntkctl_el1(written);
		report_expect(cntkctl_el1() == written,
			      "CNTKCTL_EL1 was written as %#lx and "
			      "reads as %#lx",
			      written, cntkctl_el1());
	}
	set_cntkctl_el1(old);
}

/* For ever: it may come just before the WFE that it is to end. */
static void wake_again(struct timer_line *waker)
{
	waker->cval = waker->timer->count() + timer_ticks(TIMER_WAIT_NS);
	waker->timer->set_cval(waker->cval);
}

/* Opens the timer that ends a WFE, by an interrupt that is taken. */
static bool open_waker(struct timer_line *waker)
{
	return timer_open(waker, &physical_timer, wake_again);
}

/* The event register is clear after it. */
static void forget_events(void)
{
	sevl();
	wfe();
}

/* WFE with the stream on, over and over: the waker must not be what ends it. */
static void check_stream_wakes(bool falling)
{
	struct timer_line waker;
	u64 waits = 0;

	if (!open_waker(&waker))
		return;
	timer_arm(&waker, waker.timer->count() + timer_ticks(TIMER_WAIT_NS));
	irq_enable();
	for (int bit = 0; bit < 16; bit++) {
		stream_on(bit, falling);
		forget_events();
		for (int i = 0; i < 4 && !READ_ONCE(waker.handled); i++, waits++)
			wfe();
	}
	irq_disable();
	stream_off();
	report_expect(!waker.handled,
		      "an interrupt after %lu ms had to end one of %lu WFE", //
		      TIMER_WAIT_NS / NSEC_PER_MSEC, waits);
	timer_close(&waker);
}

static void stream_wakes_rising(void)
{
	check_stream_wakes(false);
}

static void stream_wakes_falling(void)
{
	check_stream_wakes(true);
}

/* Without the stream, does WFE wait for the interrupt that comes in a while? */
static bool wfe_waits(struct timer_line *waker)
{
	u32 waited = 0;

	stream_off();
	for (int i = 0; i < 10; i++) {
		u64 before = waker->handled;

		timer_arm(waker, waker->timer->count() + timer_ticks(200 * NSEC_PER_USEC));
		irq_enable();
		forget_events();
		wfe();
		waited += READ_ONCE(waker->handled) > before;
		irq_disable();
		timer_stop(waker);
	}
	return waited >= 5;
}

/*
 * One event a period of 2^(EVNTI + 1) ticks. WFE may end without any, and the vCPU may not be run
 * for many: so the shortest of many waits must not be much longer than a period, and the waits must
 * not be many more than the periods that went by. Twice is as far off as EVNTI + 1 or - 1 would be.
 */
static void stream_rate(void)
{
	struct timer_line waker;
	u64 period_ticks = BIT(16), shortest = UINT64_MAX, first, last, now, periods;

	if (!open_waker(&waker))
		return;
	if (!wfe_waits(&waker)) {
		report_skip("WFE does not wait here: it ends before the interrupt it waits for");
		timer_close(&waker);
		return;
	}
	stream_on(15, false);
	timer_arm(&waker, waker.timer->count() + timer_ticks(TIMER_WAIT_NS));
	irq_enable();
	forget_events();
	wfe();
	first = last = cntpct_el0();
	for (int i = 0; i < EVENTS && !READ_ONCE(waker.handled); i++) {
		wfe();
		now = cntpct_el0();
		shortest = MIN(shortest, now - last);
		last = now;
	}
	irq_disable();
	stream_off();
	periods = (last - first) / period_ticks;
	if (report_expect(!waker.handled, "no event ended a WFE in %lu ms",
			  TIMER_WAIT_NS / NSEC_PER_MSEC)) {
		report_info("%d events in %lu periods of %lu ticks, the shortest wait %lu ticks",
			    EVENTS, periods, period_ticks, shortest);
		report_expect(shortest < 2 * period_ticks,
			      "no WFE ended in less than two periods, the shortest took %lu ticks",
			      shortest);
		report_expect(EVENTS <= 2 * (periods + 1), "%d events came in %lu periods", EVENTS,
			      periods);
	}
	timer_close(&waker);
}

/* ---- the checks -------------------------------------------------------------------------------- */

static const struct check idle[] = {
	{ "delta-sweep", delta_sweep, .guards = "A23",
	  .story = "WFI ends for deadlines of 0 to 1000 ticks ahead, interrupts masked" },
	{ "past-deadline", past_deadline, .guards = "A23",
	  .story = "WFI ends at once when the deadline has passed" },
	{ "one-shot", one_shot, .guards = "A17 A23",
	  .story = "armed n times by a guest that sleeps, handled n times" },
	{ "rearm-in-handler", rearm_in_handler, .guards = "A4",
	  .story = "armed n times by the handler while the guest sleeps, handled n times" },
	{ "wakeups", wakeups, .guards = "A3",
	  .story = "WFI does not end for nothing more often than for the timer" },
	{ "imasked", imasked, .guards = "A3",
	  .story = "a timer that is due and masked lets the guest sleep" },
};

static const struct check event_stream[] = {
	{ "read-back", stream_read_back,
	  .story = "EVNTEN, EVNTDIR and EVNTI read as they were written" },
	{ "wakes-rising", stream_wakes_rising,
	  .story = "WFE ends while the event stream is on, whichever bit's rise it is" },
	{ "wakes-falling", stream_wakes_falling,
	  .story = "WFE ends while the event stream is on, whichever bit's fall it is" },
	{ "rate", stream_rate, .story = "the event stream has one event a period" },
};

static const struct check further[] = {
	{ "earliest-of-two", earliest_of_two, .guards = "A3 A6",
	  .story = "of two timers the one that is due first ends the sleep" },
	{ "every-cpu", every_cpu, .guards = "A17 A23",
	  .story = "all CPUs asleep, each is woken by its own timer" },
	{ "event-stream", .checks = event_stream, .nr_checks = ARRAY_SIZE(event_stream) },
};

int main(void)
{
	return timer_report_run("timer-wfi", idle, ARRAY_SIZE(idle), further, ARRAY_SIZE(further));
}
