// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Drift over save/restore cycles: drifttest.h.
 *
 * Between two stamps of the host's clock, one before and one after the restore, the counter advances
 * by G; by the VMM's policy it should by
 *
 *	E	 where it runs through the stop, or is caught up,
 *	E - D	 where it is frozen,
 *
 * E what the host's clock advanced by, D how long the guest stood. The error of a cycle is G less that.
 * All are known as intervals: G by the guest's reads around the stamps, D by the runner's reads around
 * stop and run, and the frequency by a window before the first cycle. The drift is the same over all
 * cycles, from the first stamp to the last, so the brackets of stamps do not add up in it.
 */
#include "countertest.h"
#include "drifttest.h"
#include "hostaction.h"
#include "libcflat.h"
#include "protocol.h"

#define CYCLES_DEFAULT 5
#define STAMPS	       4
#define TOLD	       10 /* cycles that are told one by one */

struct interval {
	s64 low, high;
};

struct drift {
	struct hz_interval hz;
	enum host_policy policy;
	u64 cycles;
	struct host_stamp first, last;
	struct interval stopped_ns; /* in all cycles */
	s64 *errors_ns;		    /* the middle of each cycle's */
	u64 widest_ns;
};

/* The tightest of several. */
static bool tight_stamp(struct host_stamp *best)
{
	u64 width = UINT64_MAX;

	for (int i = 0; i < STAMPS; i++) {
		struct host_stamp s;

		if (!host_stamp(&s))
			return false;
		if (s.after_ticks - s.before_ticks < width) {
			width = s.after_ticks - s.before_ticks;
			*best = s;
		}
	}
	return true;
}

/* What the counter advanced by less what it should have, ns. */
static struct interval error_ns(const struct drift *d, const struct host_stamp *a,
				const struct host_stamp *b, struct interval stopped_ns)
{
	s64 host_ns = b->raw_ns - a->raw_ns;
	s64 least_ticks = b->before_ticks - a->after_ticks;
	s64 most_ticks = b->after_ticks - a->before_ticks;
	/* A negative advance is the further from 0 the slower the counter is. */
	s64 least_ns =
		mul_div_s64(least_ticks, NSEC_PER_SEC, least_ticks < 0 ? d->hz.low : d->hz.high);
	s64 most_ns =
		mul_div_s64(most_ticks, NSEC_PER_SEC, most_ticks < 0 ? d->hz.high : d->hz.low);
	struct interval error = { least_ns - host_ns - 1, most_ns - host_ns + 1 };

	if (d->policy == HOST_POLICY_FROZEN) {
		error.low += stopped_ns.low;
		error.high += stopped_ns.high;
	}
	return error;
}

static bool run_cycle(struct drift *d, u64 number)
{
	struct host_action action;
	struct host_stamp after;
	struct interval stopped, error;

	host_action("restore", "", &action);
	if (!host_action_report(&action, "restore") || !tight_stamp(&after))
		return false;
	stopped.low = host_action_least_ns(&action);
	stopped.high = host_action_most_ns(&action);
	error = error_ns(d, &d->last, &after, stopped);
	d->errors_ns[number] = error.low + (error.high - error.low) / 2;
	d->widest_ns = MAX(d->widest_ns, (u64)(error.high - error.low));
	if (number < TOLD)
		report_info("cycle %lu: stood for %ld to %ld us, off by %ld to %ld ns", number + 1,
			    stopped.low / 1000, stopped.high / 1000, error.low, error.high);
	d->stopped_ns.low += stopped.low;
	d->stopped_ns.high += stopped.high;
	d->last = after;
	return true;
}

static int compare(const void *a, const void *b)
{
	s64 x = *(const s64 *)a, y = *(const s64 *)b;

	return x < y ? -1 : x > y;
}

/* The formula is at the head of this file. */
static void tell(const struct drift *d, struct interval drift)
{
	const s64 *e = d->errors_ns;
	u64 n = d->cycles;

	printf(PROTO_PREFIX PROTO_MEASURE
	       " name=restore-drift unit=ns n=%lu min=%ld p50=%ld max=%ld widest=%lu "
	       "accumulated-low=%ld accumulated-high=%ld expected=0 policy=%s\n",
	       n, e[0], e[(n - 1) / 2], e[n - 1], d->widest_ns, drift.low, drift.high,
	       host_policy_name(d->policy));
	report_info("%lu cycles, counter %s: off by %ld to %ld ns each (median %ld, known to %lu "
		    "ns or better); expected 0",
		    n, host_policy_name(d->policy), e[0], e[n - 1], e[(n - 1) / 2], d->widest_ns);
	report_info("in all off by %ld to %ld ns (%ld to %ld ticks), %ld to %ld ns a cycle",
		    drift.low, drift.high, mul_div_s64(drift.low, d->hz.low, NSEC_PER_SEC),
		    mul_div_s64(drift.high, d->hz.low, NSEC_PER_SEC), drift.low / (s64)n,
		    drift.high / (s64)n);
}

static void check_drift(void)
{
	const struct counter_ops counter = { "the counter", clock_ticks, UINT64_MAX, clock_hz() };
	struct drift d = { .cycles = MAX(1UL, args_u64("cycles", CYCLES_DEFAULT)) };
	struct interval drift;

	struct host_action first;

	/* One that does not count decides about SKIP. */
	host_action("restore", "", &first);
	if (!host_action_report(&first, "restore") ||
	    !counter_measure_hz(&counter, counter_window_ns(), &d.hz) || !tight_stamp(&d.first))
		return;
	d.policy = host_policy("counter", "restore");
	d.errors_ns = alloc(d.cycles * sizeof(*d.errors_ns));
	d.last = d.first;
	for (u64 i = 0; i < d.cycles; i++) {
		if (!run_cycle(&d, i))
			return;
	}
	qsort(d.errors_ns, d.cycles, sizeof(*d.errors_ns), compare);
	drift = error_ns(&d, &d.first, &d.last, d.stopped_ns);
	tell(&d, drift);
	if (d.policy == HOST_POLICY_UNKNOWN)
		report_info("the VMM declares no policy for the counter: figures, no verdict");
	else
		report_expect(drift.low <= 0 && drift.high >= 0,
			      "after %lu cycles the counter is off by %ld to %ld ns", d.cycles,
			      drift.low, drift.high);
}

static const struct check checks[] = {
	{ "restore-drift", check_drift, .guards = "A15 H1 K2 T15",
	  .story = "However often a guest is saved and restored, its counter is where it should "
		   "be by the host's clock" },
};

int drift_report_run(const char *image)
{
	return report_run(image, checks, ARRAY_SIZE(checks));
}
