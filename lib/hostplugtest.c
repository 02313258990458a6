// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A late vCPU: hostplugtest.h. Its clocks have to be those of the others, although it was made, or
 * reset, seconds after them, and the clocks of the others must not notice.
 */
#include "actionclock.h"
#include "actiontimer.h"
#include "countertest.h"
#include "hostaction.h"
#include "hostplugtest.h"
#include "libcflat.h"

#define LATE_NS	   (2 * NSEC_PER_SEC) /* later than a second, within which KVM matches TSCs */
#define FIRES_NS   NSEC_PER_MSEC
#define WAIT_NS	   NSEC_PER_SEC
#define SETTLE_NS  (200 * NSEC_PER_USEC)
#define BRACKETS   64
#define PPM	   1000000L
#define MAX_CLOCKS 4
#define MAX_CHECKS 16

/* A clock read between two reads of the reference, on CPU 0. */
struct bracket {
	u64 before, value, after;
};

static struct {
	struct host_action action;
	bool is_up;
	int newcomer; /* its number */
	const char *absent[MAX_CLOCKS];
	struct bracket before[MAX_CLOCKS], after[MAX_CLOCKS];
} plug;

/* The narrowest of some. */
static struct bracket read_bracket(const struct action_clock *clock)
{
	struct bracket best = { 0 };

	for (int i = 0; i < BRACKETS; i++) {
		struct bracket b = { .before = clock_ticks() };

		b.value = clock->read();
		b.after = clock_ticks();
		if (!i || b.after - b.before < best.after - best.before)
			best = b;
	}
	return best;
}

static void read_clocks(struct bracket *brackets)
{
	for (size_t i = 0; i < nr_action_clocks; i++) {
		if (!plug.absent[i])
			brackets[i] = read_bracket(action_clocks[i]);
	}
}

static void open_clocks(void)
{
	for (size_t i = 0; i < nr_action_clocks; i++) {
		const char *why;

		plug.absent[i] = action_clocks[i]->open(&why) ? NULL : why;
	}
}

static struct {
	const struct action_timer *timer;
	struct action_due due;
	u32 fired;
	u64 fired_ticks;
} shot;

static void fired(u64 now_ticks)
{
	if (!shot.fired)
		shot.fired_ticks = now_ticks;
	__atomic_fetch_add(&shot.fired, 1, __ATOMIC_RELEASE);
}

static void begin_shot(const struct action_timer *timer)
{
	memset(&shot, 0, sizeof(shot));
	shot.timer = timer;
}

/* Asleep, where virtual time is made of instructions; the runner's limit bounds it. */
static void pass_time(u64 ns)
{
	const struct action_timer *timer = NULL;

	for (size_t i = 0; i < nr_action_timers && !timer; i++) {
		if (!action_timers[i]->periodic && !action_timers[i]->absent())
			timer = action_timers[i];
	}
	if (!timer) {
		spin_until(false, ns);
		return;
	}
	begin_shot(timer);
	timer->open(fired);
	timer->arm(ns);
	while (!READ_ONCE(shot.fired))
		arch_smp_idle(&shot.fired);
	timer->close();
}

/* ---- checks ------------------------------------------------------------------------------------ */

static void check_starts(void)
{
	if (smp_count() < 2) {
		report_error("this test needs two CPUs beside the new one, and has one");
		return;
	}
	open_clocks();
	pass_time(LATE_NS);
	read_clocks(plug.before);
	if (!args_has("late-cpus")) {
		host_action("plug", "", &plug.action);
		if (!host_action_report(&plug.action, "plug"))
			return;
	}
	plug.newcomer = smp_count();
	plug.is_up = smp_start_late();
	read_clocks(plug.after);
	report_expect(plug.is_up, "CPU %d does not come up", plug.newcomer);
	/* Now on the new CPU as well. */
	if (plug.is_up)
		open_clocks();
}

/* false after the verdict. */
static bool newcomer_is_up(void)
{
	if (plug.is_up)
		return true;
	if (host_action_report(&plug.action, "plug"))
		report_skip("the CPU did not come up");
	return false;
}

/* false after the verdict. */
static bool has_clock(size_t clock)
{
	if (!newcomer_is_up())
		return false;
	if (plug.absent[clock])
		report_skip("%s", plug.absent[clock]);
	return !plug.absent[clock];
}

static size_t subject_clock(void)
{
	return (const struct action_clock *const *)report_subject() - action_clocks;
}

static void check_ordered(void)
{
	size_t i = subject_clock();
	const struct action_clock *clock = action_clocks[i];
	struct counter_ops counter = { .name = clock->name,
				       .read = clock->read,
				       .mask = UINT64_MAX };

	if (!has_clock(i))
		return;
	counter.hz = clock->hz();
	counter_check_cross_cpu(&counter, smp_count());
}

/* Between two brackets the clock advanced as the reference did, between the least and the most. */
static void check_no_step(void)
{
	size_t i = subject_clock();
	const struct action_clock *clock = action_clocks[i];
	const struct bracket *a = &plug.before[i], *b = &plug.after[i];
	s64 advanced = b->value - a->value, least, most, slack;

	if (!has_clock(i))
		return;
	least = mul_div_s64(b->before - a->after, clock->hz(), clock->reference_hz());
	most = mul_div_s64(b->after - a->before, clock->hz(), clock->reference_hz());
	slack = clock->hz() == clock->reference_hz() ? 0
						     : 2 + advanced / PPM * (s64)clock->rate_ppm;
	report_info("CPU 0: %s advanced by %ld ticks, %ld to %ld by %s", clock->name, advanced,
		    least, most, action_clocks[0]->name);
	report_expect(advanced >= least - slack && advanced <= most + slack,
		      "CPU 0: %s advanced by %ld ticks while a CPU came up, which were %ld to %ld "
		      "by %s",
		      clock->name, advanced, least, most, action_clocks[0]->name);
}

static struct {
	struct action_constant of[MAX_CPUS][ACTION_CONSTANTS_MAX];
	size_t count;
} constants;

static void read_constants(void *arg)
{
	constants.count = action_constants(constants.of[smp_id()]);
}

/* CPU 1 has done as much as the new one, and set no timer. */
static void check_constants(void)
{
	const struct action_constant *new, *old;

	if (!newcomer_is_up())
		return;
	on_cpu(1, read_constants, NULL);
	on_cpu(plug.newcomer, read_constants, NULL);
	for (size_t i = 0; i < constants.count; i++) {
		new = &constants.of[plug.newcomer][i];
		old = &constants.of[1][i];
		report_expect(new->value == old->value, "%s is 0x%lx on CPU %d and 0x%lx on CPU 1",
			      new->name, new->value, plug.newcomer, old->value);
	}
}

/* ---- timers of the new CPU --------------------------------------------------------------------- */

static void fire_here(void *arg)
{
	shot.timer->open(fired);
	shot.timer->arm(FIRES_NS);
	shot.due = shot.timer->due(1);
	irq_enable();
	if (spin_until(READ_ONCE(shot.fired), WAIT_NS))
		spin_until(READ_ONCE(shot.fired) > 1, SETTLE_NS);
	irq_disable();
	shot.timer->close();
}

static void check_timer(void)
{
	const struct action_timer *timer = report_subject();
	const char *absent = timer->absent();

	if (absent) {
		report_skip("%s", absent);
		return;
	}
	if (!newcomer_is_up())
		return;
	begin_shot(timer);
	on_cpu(plug.newcomer, fire_here, NULL);
	if (report_expect(timer->periodic ? shot.fired >= 1 : shot.fired == 1,
			  "CPU %d: armed, %u interrupts within %lu ms", plug.newcomer, shot.fired,
			  WAIT_NS / NSEC_PER_MSEC))
		report_expect((s64)(shot.fired_ticks - shot.due.least_ticks) >= 0,
			      "CPU %d: %lu ticks early", plug.newcomer,
			      shot.due.least_ticks - shot.fired_ticks);
}

/* ---- the table --------------------------------------------------------------------------------- */

/* The reference has the first alone. */
static const struct check clock_checks[] = {
	{ "ordered", check_ordered, .guards = "T2 K19",
	  .story = "No read that comes after another CPU's shows less, on the new CPU either" },
	{ "no-step", check_no_step, .guards = "K3 T2",
	  .story = "The clocks of a CPU that was there before go on as if nothing had happened" },
};

int host_plug_report_run(const char *image)
{
	static struct check checks[MAX_CHECKS] = {
		{ "starts", check_starts, .guards = "T2",
		  .story = "A vCPU that is added late comes up" },
		{ "constants", check_constants, .guards = "P10 T2",
		  .story = "What registers say about time is the same on it as on CPU 1" },
	};
	size_t n = 2;

	assert(nr_action_clocks <= MAX_CLOCKS &&
	       n + nr_action_clocks + nr_action_timers <= MAX_CHECKS);
	for (size_t i = 0; i < nr_action_clocks; i++)
		checks[n++] = (struct check){ .name = action_clocks[i]->name,
					      .checks = clock_checks,
					      .nr_checks = i ? ARRAY_SIZE(clock_checks) : 1,
					      .subject = (void *)&action_clocks[i] };
	for (size_t i = 0; i < nr_action_timers; i++)
		checks[n++] = (struct check){
			.name = action_timers[i]->name,
			.run = check_timer,
			.guards = "L15",
			.story = "The timer works on the new CPU",
			.subject = action_timers[i],
		};
	return report_run(image, checks, n);
}
