// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What was seen of clocks through a host action, judged: continuitytest.h.
 */
#include "continuitytest.h"
#include "continuitywatch.h"
#include "countertest.h"
#include "libcflat.h"

#define MAX_KINDS 8
#define PPM	  1000000UL

/*
 * Between two windows the host may change by how much it slews CLOCK_MONOTONIC against
 * CLOCK_MONOTONIC_RAW (adjtimex(2): at most 500 ppm), and an emulated counter may follow either.
 */
#define SLEW_PPM 500

/* What a leaf of the table is about. */
struct cell {
	const struct host_action_kind *kind;
	size_t clock;
};

static const struct action_clock *clock_of(const struct cell *cell)
{
	return action_clocks[cell->clock];
}

/* The action, done; NULL after a SKIP or an ERROR. */
static const struct watch *watch_of(const struct cell *cell)
{
	const struct watch *w = watch_action(cell->kind);

	if (w->absent[cell->clock])
		report_skip("%s", w->absent[cell->clock]);
	else if (host_action_report(&w->action, cell->kind->action))
		return w;
	return NULL;
}

/* ---- monotonic, ordered ------------------------------------------------------------------------ */

static void check_monotonic(void)
{
	const struct cell *cell = report_subject();
	const struct action_clock *clock = clock_of(cell);
	const struct watch *w = watch_of(cell);

	if (!w)
		return;
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		const struct clock_watch *c = &w->seen[cell->clock][cpu];
		u64 back_ticks = c->back_from - c->back_to;

		report_info("CPU %d: %lu reads, from 0x%lx to 0x%lx", cpu, c->reads, c->first,
			    c->last);
		report_expect(!c->backwards,
			      "CPU %d: %s went back %lu times in %lu reads, first from 0x%lx to "
			      "0x%lx: %lu ticks (%lu ns)",
			      cpu, clock->name, c->backwards, c->reads, c->back_from, c->back_to,
			      back_ticks, ticks_to_ns(back_ticks, clock->hz()));
		report_expect(c->last != c->first, "CPU %d: %s stood still for %lu reads", cpu,
			      clock->name, c->reads);
	}
}

static void check_ordered(void)
{
	const struct cell *cell = report_subject();
	const struct action_clock *clock = clock_of(cell);
	const struct counter_ops counter = {
		.name = clock->name,
		.read = clock->read,
		.mask = UINT64_MAX,
		.hz = clock->hz(),
	};

	if (watch_of(cell))
		counter_check_cross_cpu(&counter, smp_count());
}

/* ---- elapsed ----------------------------------------------------------------------------------- */

struct interval {
	u64 low, high;
};

/* What the clock counted between two stamps, in its ticks. */
static struct interval ticks_between(size_t clock, const struct watch_stamp *a,
				     const struct watch_stamp *b)
{
	struct interval t = { 0, b->after[clock] - a->before[clock] + 1 };

	if ((s64)(b->before[clock] - a->after[clock]) > 1)
		t.low = b->before[clock] - a->after[clock] - 1;
	return t;
}

/* The same in ns, by the rate that the clock had before the action. */
static struct interval guest_elapsed_ns(const struct watch *w, size_t clock)
{
	struct interval rate = ticks_between(clock, &w->early, &w->before);
	struct interval ticks = ticks_between(clock, &w->before, &w->after);
	u64 ns = w->before.raw_ns - w->early.raw_ns;

	return (struct interval){ mul_div_u64(ticks.low, ns, MAX(rate.high, 1UL)),
				  mul_div_u64(ticks.high, ns, MAX(rate.low, 1UL)) };
}

/* What it should have counted by the host's clock, if that is how the policy is. */
static struct interval expected_ns(const struct watch *w, enum host_policy policy)
{
	u64 ns = w->after.raw_ns - w->before.raw_ns, slew_ns = ns / PPM * SLEW_PPM + 1;
	u64 least = 0, most = 0;

	if (policy == HOST_POLICY_FROZEN) {
		least = host_action_least_ns(&w->action);
		most = host_action_most_ns(&w->action);
	}
	return (struct interval){ ns - MIN(ns, most + slew_ns), ns - MIN(ns, least) + slew_ns };
}

static void check_elapsed(void)
{
	const struct cell *cell = report_subject();
	const struct action_clock *clock = clock_of(cell);
	const struct watch *w = watch_of(cell);
	enum host_policy policy;
	struct interval is, should;

	if (!w)
		return;
	if (args_has("virtual-time")) {
		report_skip("virtual time: the host's clock says nothing about this guest's");
		return;
	}
	if (!w->stamped) {
		report_error("no stamps of the host's clock around the action");
		return;
	}
	policy = host_policy(clock->policy, cell->kind->stop);
	is = guest_elapsed_ns(w, cell->clock);
	should = expected_ns(w, policy);
	report_info("%s advanced by %lu to %lu ns (width %lu ns); by the host's clock it was %lu "
		    "ns, for %lu to %lu ns of which the guest stood; policy %s",
		    clock->name, is.low, is.high, is.high - is.low,
		    w->after.raw_ns - w->before.raw_ns, host_action_least_ns(&w->action),
		    host_action_most_ns(&w->action), host_policy_name(policy));
	if (policy == HOST_POLICY_UNKNOWN)
		report_skip("the VMM declares no policy for this clock: figures, no verdict");
	else
		report_expect(is.low <= should.high && is.high >= should.low,
			      "%s advanced by %lu to %lu ns (%lu ticks at most); %s it would have "
			      "been %lu to %lu ns",
			      clock->name, is.low, is.high,
			      ticks_between(cell->clock, &w->before, &w->after).high,
			      host_policy_name(policy), should.low, should.high);
}

/* ---- offset ------------------------------------------------------------------------------------ */

/* Clocks of which one may stand still while the other goes on may part once, by the action. */
static u64 steps_allowed(const struct cell *cell)
{
	enum host_policy reference = host_policy(action_clocks[0]->policy, cell->kind->stop);
	enum host_policy own = host_policy(clock_of(cell)->policy, cell->kind->stop);

	if (clock_of(cell)->policy == action_clocks[0]->policy)
		return 0;
	return own == HOST_POLICY_UNKNOWN || reference == HOST_POLICY_UNKNOWN ||
	       host_policy_runs(own) != host_policy_runs(reference);
}

static void tell_steps(const struct action_clock *clock, const struct clock_watch *c, int cpu)
{
	for (u64 i = 0; i < MIN(c->nr_steps, (u64)WATCH_STEPS_MAX); i++)
		report_info("CPU %d: %s stepped against %s by %ld to %ld ticks of %lu Hz", cpu,
			    clock->name, action_clocks[0]->name, c->step_low[i], c->step_high[i],
			    clock->hz());
}

static void check_offset(void)
{
	const struct cell *cell = report_subject();
	const struct action_clock *clock = clock_of(cell);
	const struct watch *w = watch_of(cell);
	u64 allowed;

	if (!w)
		return;
	allowed = steps_allowed(cell);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		const struct clock_watch *c = &w->seen[cell->clock][cpu];

		tell_steps(clock, c, cpu);
		report_info("CPU %d: in the end known to %lu ticks (%lu ns)", cpu,
			    c->offset_high - c->offset_low,
			    ticks_to_ns(c->offset_high - c->offset_low, clock->hz()));
		report_expect(c->nr_steps <= allowed,
			      "CPU %d: %s and %s parted %lu times in %lu brackets, %lu by policy; "
			      "first by %ld to %ld ticks of %lu Hz",
			      cpu, clock->name, action_clocks[0]->name, c->nr_steps, c->reads,
			      allowed, c->step_low[0], c->step_high[0], clock->hz());
	}
}

/* ---- the machine ------------------------------------------------------------------------------- */

struct constants {
	struct action_constant before[MAX_CPUS][ACTION_CONSTANTS_MAX];
	struct action_constant after[MAX_CPUS][ACTION_CONSTANTS_MAX];
	size_t count[MAX_CPUS];
};

static void constants_before(void *arg)
{
	struct constants *c = arg;

	action_constants_disturb();
	c->count[smp_id()] = action_constants(c->before[smp_id()]);
}

static void constants_after(void *arg)
{
	struct constants *c = arg;

	c->count[smp_id()] = action_constants(c->after[smp_id()]);
	action_constants_restore();
}

/* Done once at first where it is to be done again; false after the verdict. */
static bool act(const struct host_action_kind *kind)
{
	struct host_action action = { 0 };

	if (kind->again)
		host_action(kind->action, "", &action);
	if (action.result == HOST_CALL_OK) {
		host_action_begin_kind(kind, 0);
		host_action_end(&action);
	}
	return host_action_report(&action, kind->action);
}

static void check_constants(void)
{
	static struct constants all;
	const struct cell *cell = report_subject();
	bool acted;

	on_all_cpus(constants_before, &all);
	acted = act(cell->kind);
	on_all_cpus(constants_after, &all);
	if (!acted)
		return;
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		for (size_t i = 0; i < all.count[cpu]; i++)
			report_expect(all.before[cpu][i].value == all.after[cpu][i].value,
				      "CPU %d: %s was 0x%lx before and is 0x%lx after the action",
				      cpu, all.before[cpu][i].name, all.before[cpu][i].value,
				      all.after[cpu][i].value);
	}
	report_info("%zu values on each of %d CPUs", all.count[0], smp_count());
}

static void check_rate(void)
{
	const struct cell *cell = report_subject();
	const struct counter_ops counter = {
		.name = action_clocks[0]->name,
		.read = clock_ticks,
		.mask = UINT64_MAX,
		.hz = clock_hz(),
	};
	struct hz_interval before, after;

	if (args_has("virtual-time")) {
		report_skip("virtual time: the host's clock says nothing about this guest's");
		return;
	}
	if (!act(cell->kind) || !counter_measure_hz(&counter, counter_window_ns(), &before) ||
	    !act(cell->kind) || !counter_measure_hz(&counter, counter_window_ns(), &after))
		return;
	report_info("%lu to %lu Hz before, %lu to %lu Hz after the action", before.low, before.high,
		    after.low, after.high);
	report_expect(after.low <= before.high + before.high / PPM * SLEW_PPM &&
			      before.low <= after.high + after.high / PPM * SLEW_PPM,
		      "%s ran at %lu to %lu Hz before the action, and at %lu to %lu Hz after it",
		      counter.name, before.low, before.high, after.low, after.high);
}

/* ---- the table --------------------------------------------------------------------------------- */

#define MONOTONIC                                                                                \
	{                                                                                        \
		"monotonic", check_monotonic, .guards = "K5 K11 T13 T15",                        \
					      .story = "No read on any CPU shows less than the " \
						       "one before, the first after "            \
						       "the stop included"                       \
	}
#define ORDERED                                                                   \
	{                                                                         \
		"ordered", check_ordered,                                         \
			.guards = "T1 T2 K19",                                    \
			.story = "Nor does a read that comes after another CPU's" \
	}
#define ELAPSED                                                                                  \
	{                                                                                        \
		"elapsed", check_elapsed,                                                        \
			.guards = "A15 A16 A19 K6 K11 K13 K15 K22 T1 T15 H1",                    \
			.story = "It advanced by what the host's clock and the VMM's policy say" \
	}
#define OFFSET                                                                                     \
	{                                                                                          \
		"offset", check_offset,                                                            \
			.guards = "A11 A15 K2 K3 K7 K16 H1",                                       \
			.story = "Its distance to the reference is the same before and after, or " \
				 "parts once where the policies differ"                            \
	}

static const struct check reference_checks[] = { MONOTONIC, ORDERED, ELAPSED };
static const struct check clock_checks[] = { MONOTONIC, ORDERED, ELAPSED, OFFSET };

static const struct check machine_checks[] = {
	{ "constants", check_constants, .guards = "A15 T2 P10",
	  .story = "What CPUID, ID registers and timers' settings say is the same" },
	{ "rate", check_rate, .guards = "T5 A15",
	  .story = "The counter's rate by the host's clock is the same" },
};

int continuity_report_run(const char *image)
{
	static const struct host_action_kind *kinds[MAX_KINDS];
	static struct cell cells[MAX_KINDS][WATCH_CLOCKS_MAX];
	static struct check blocks[MAX_KINDS][WATCH_CLOCKS_MAX + 1], by_kind[MAX_KINDS];
	size_t nr_kinds = host_action_kinds(kinds, MAX_KINDS);

	for (size_t k = 0; k < nr_kinds; k++) {
		for (size_t c = 0; c < nr_action_clocks; c++) {
			cells[k][c] = (struct cell){ kinds[k], c };
			blocks[k][c] = (struct check){
				.name = action_clocks[c]->name,
				.checks = c ? clock_checks : reference_checks,
				.nr_checks =
					c ? ARRAY_SIZE(clock_checks) : ARRAY_SIZE(reference_checks),
				.subject = &cells[k][c],
			};
		}
		blocks[k][nr_action_clocks] = (struct check){
			.name = "machine",
			.checks = machine_checks,
			.nr_checks = ARRAY_SIZE(machine_checks),
			.subject = &cells[k][0],
		};
		by_kind[k] = (struct check){
			.name = kinds[k]->name,
			.checks = blocks[k],
			.nr_checks = nr_action_clocks + 1,
		};
	}
	return report_run(image, by_kind, nr_kinds);
}
