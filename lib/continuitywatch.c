// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading clocks through a host action: continuitywatch.h. What a CPU reads first once it runs again
 * is among it, without anything in between that could put a clock right.
 */
#include "continuitywatch.h"
#include "libcflat.h"
#include <arch/cpu.h>

#define AFTERWARDS_NS (50 * NSEC_PER_MSEC) /* still watched after the reply */
#define REPLY_NS      (10 * NSEC_PER_SEC)
#define RATE_NS	      (200 * NSEC_PER_MSEC)
#define STAMPS	      4
#define PPM	      1000000L

static struct watch watch;
static u32 over;

/* ---- one CPU ----------------------------------------------------------------------------------- */

/* What the brackets since the last step allow, narrowed by one more; or a step, and a new beginning. */
static void narrow(struct clock_watch *c, s64 low, s64 high)
{
	if (c->reads == 1) {
		c->offset_low = low;
		c->offset_high = high;
		return;
	}
	if (low <= c->offset_high && high >= c->offset_low) {
		c->offset_low = MAX(c->offset_low, low);
		c->offset_high = MIN(c->offset_high, high);
		return;
	}
	if (c->nr_steps < WATCH_STEPS_MAX) {
		c->step_low[c->nr_steps] = low - c->offset_high;
		c->step_high[c->nr_steps] = high - c->offset_low;
	}
	c->nr_steps++;
	c->offset_low = low;
	c->offset_high = high;
}

static void watch_clock(const struct action_clock *clock, struct clock_watch *c)
{
	u64 hz = clock->hz(), reference_hz = clock->reference_hz();
	u64 before, value, after;
	s64 ticks, reference_low, reference_high, slack;

	before = clock_ticks();
	value = clock->read();
	after = clock_ticks();
	if (c->reads++ == 0) {
		c->first = value;
		c->first_reference = before;
	} else if ((s64)(value - c->last) < 0 && c->backwards++ == 0) {
		c->back_from = c->last;
		c->back_to = value;
	}
	c->last = value;
	ticks = value - c->first;
	reference_low = mul_div_s64(before - c->first_reference, hz, reference_hz);
	reference_high = mul_div_s64(after - c->first_reference, hz, reference_hz);
	/* Clocks of different rates are each up to a tick behind, and so is each conversion. */
	slack = hz == reference_hz ? 0 : 2 + ticks / PPM * (s64)clock->rate_ppm;
	narrow(c, ticks - reference_high - slack, ticks - reference_low + slack);
}

static void watch_clocks(void)
{
	for (size_t i = 0; i < nr_action_clocks; i++) {
		if (!watch.absent[i])
			watch_clock(action_clocks[i], &watch.seen[i][smp_id()]);
	}
	cpu_relax();
}

static void act_and_watch(void)
{
	struct spin_bound bound;
	bool replied;

	watch_clocks();
	host_action_begin_kind(watch.kind, 0);
	spin_start(&bound, REPLY_NS);
	do {
		watch_clocks();
		replied = host_action_poll(&watch.action);
	} while (!replied && spin_poll(&bound));
	if (!replied)
		host_action_end(&watch.action);
	spin_start(&bound, AFTERWARDS_NS);
	do
		watch_clocks();
	while (spin_poll(&bound));
}

static void watch_here(void *arg)
{
	if (smp_id() == 0) {
		act_and_watch();
		__atomic_store_n(&over, 1, __ATOMIC_RELEASE);
		return;
	}
	while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE))
		watch_clocks();
}

/* ---- stamps ------------------------------------------------------------------------------------ */

/* The tightest of several; false where the runner cannot, or virtual time makes it meaningless. */
static bool take_stamp(struct watch_stamp *best)
{
	u64 tightest = UINT64_MAX;

	for (int n = 0; n < STAMPS; n++) {
		struct watch_stamp s;
		struct host_stamp host;

		for (size_t i = 0; i < nr_action_clocks; i++)
			s.before[i] = watch.absent[i] ? 0 : action_clocks[i]->read();
		if (!host_stamp(&host))
			return false;
		for (size_t i = 0; i < nr_action_clocks; i++)
			s.after[i] = watch.absent[i] ? 0 : action_clocks[i]->read();
		s.raw_ns = host.raw_ns;
		if (s.after[0] - s.before[0] < tightest) {
			tightest = s.after[0] - s.before[0];
			*best = s;
		}
	}
	return true;
}

static void open_clocks(void)
{
	static const char *absent[WATCH_CLOCKS_MAX];
	static bool opened;

	assert(nr_action_clocks <= WATCH_CLOCKS_MAX);
	for (size_t i = 0; i < nr_action_clocks && !opened; i++) {
		const char *why;

		absent[i] = action_clocks[i]->open(&why) ? NULL : why;
	}
	opened = true;
	memcpy(watch.absent, absent, sizeof(absent));
}

const struct watch *watch_action(const struct host_action_kind *kind)
{
	if (watch.kind == kind)
		return &watch;
	watch = (struct watch){ .kind = kind };
	over = 0;
	open_clocks();
	if (kind->again)
		host_action(kind->action, "", &watch.action);
	if (watch.action.result != HOST_CALL_OK)
		return &watch;
	watch.stamped = !args_has("virtual-time") && take_stamp(&watch.early);
	if (watch.stamped) {
		spin_until(false, RATE_NS);
		watch.stamped = take_stamp(&watch.before);
	}
	on_all_cpus(watch_here, NULL);
	if (watch.stamped && watch.action.result == HOST_CALL_OK)
		watch.stamped = take_stamp(&watch.after);
	return &watch;
}
