// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The second measure of a benchmark, by the host's clock. The runner's stamps lie between reads of the
 * image's clock, and so does each end of the window: what the host's clock counted of the window is
 * known to lie between two bounds, whatever was descheduled meanwhile.
 */
#include "bench.h"
#include "hostcall.h"
#include "libcflat.h"

/* The window, at least, and as a multiple of what a stamp takes; at most such a part of the budget. */
#define WINDOW_NS     (4 * NSEC_PER_MSEC)
#define WINDOW_STAMPS 16
#define WINDOW_PARTS  5
#define WINDOW_LOOKS  64

/* By how much a guest's clock may differ from the host's: 1 part in so many. */
#define RATE_PARTS 100

static bool no_host_clock; /* the runner has said so */

static const char *why_none(const struct bench *b, const struct bench_clock *clock)
{
	if (!clock->is_time)
		return "no-time";
	if (b->settle)
		return "single-operations";
	if (args_has("virtual-time"))
		return "virtual-time";
	if (no_host_clock)
		return "no-host-clock";
	return NULL;
}

/* false, with a reason or after an ERROR, where there is none. */
static bool stamp(struct bench_result *r, struct host_stamp *s)
{
	char text[300];

	switch (host_stamp_try(s, text, sizeof(text))) {
	case HOST_CALL_OK:
		return true;
	case HOST_CALL_UNSUPPORTED:
		no_host_clock = true;
		r->second.reason = "no-host-clock";
		return false;
	default:
		report_error("second measure: host stamp: %s", text);
		r->second.reason = "error";
		return false;
	}
}

static u64 operations(const struct bench_result *r, const struct host_stamp *s)
{
	u64 stamp_ns = ticks_to_ns(s->after_ticks - s->before_ticks, clock_hz());
	u64 window_ns =
		MIN(MAX(WINDOW_NS, WINDOW_STAMPS * stamp_ns), report_budget_ns() / WINDOW_PARTS);
	u64 window = mul_div_u64(window_ns, r->hz * STATS_ONE, NSEC_PER_SEC);

	return MAX(window / MAX(r->stats.p50, 1UL), 1UL);
}

/* In parts, with a look at the time between them: the median may be far below the mean. */
static u64 run_window(const struct bench_clock *clock, const struct bench_result *r, u64 wanted)
{
	u64 most = ns_to_ticks(report_budget_ns() / WINDOW_PARTS, r->hz);
	u64 part = MAX(wanted / WINDOW_LOOKS, 1UL);
	u64 begin = clock->read();
	u64 n = 0;

	do {
		r->bench->run(part);
		n += part;
	} while (n < wanted && clock->read() - begin < most);
	return n;
}

/* Two reads of the image's clock, and one of the benchmark's between them. */
struct edge {
	u64 before_ticks, after_ticks, read;
};

static struct edge edge(const struct bench_clock *clock)
{
	struct edge e;

	e.before_ticks = clock_ticks();
	e.read = clock->read();
	e.after_ticks = clock_ticks();
	return e;
}

static u64 one(u64 ns, u64 n)
{
	return mul_div_u64(ns, STATS_ONE, n);
}

/* Of the host's time between the stamps a part lies outside of the window: at least, at most. */
static void bracket(struct bench_second *second, const struct host_stamp stamps[2],
		    const struct edge edges[2])
{
	u64 host_ns = stamps[1].raw_ns - stamps[0].raw_ns;
	u64 least = edges[0].before_ticks - stamps[0].after_ticks + stamps[1].before_ticks -
		    edges[1].after_ticks;
	u64 most = edges[0].after_ticks - stamps[0].before_ticks + stamps[1].after_ticks -
		   edges[1].before_ticks;
	u64 least_ns = ticks_to_ns(least, clock_hz());
	u64 most_ns = ticks_to_ns(most + 2, clock_hz()) + 1;

	second->low = one(host_ns > most_ns ? host_ns - most_ns : 0, second->n);
	second->high = one(host_ns > least_ns ? host_ns - least_ns : 0, second->n);
}

static void judge(const struct bench_result *r)
{
	const struct bench_second *s = &r->second;
	char low[STATS_TEXT_MAX], high[STATS_TEXT_MAX], here[STATS_TEXT_MAX];

	stats_text(low, s->low);
	stats_text(high, s->high);
	stats_text(here, s->here);
	report_info("mean of %lu: %s to %s ns by the host's clock, %s by the image's", s->n, low,
		    high, here);
	report_expect(s->here >= s->low - s->low / RATE_PARTS &&
			      s->here <= s->high + s->high / RATE_PARTS,
		      "%lu operations took %s ns each by the image's clock, and %s to %s by the "
		      "host's",
		      s->n, here, low, high);
}

void bench_measure_second(const struct bench_clock *clock, struct bench_result *r)
{
	struct host_stamp stamps[2];
	struct edge edges[2];
	u64 wanted;

	r->second.reason = why_none(r->bench, clock);
	if (r->second.reason || !stamp(r, &stamps[0]))
		return;
	wanted = operations(r, &stamps[0]);
	if (clock->open && !clock->open()) {
		r->second.reason = "error";
		return;
	}
	edges[0] = edge(clock);
	r->second.n = run_window(clock, r, wanted);
	edges[1] = edge(clock);
	if (clock->close)
		clock->close();
	if (!stamp(r, &stamps[1]))
		return;
	r->second.here = one(ticks_to_ns(edges[1].read - edges[0].read, r->hz), r->second.n);
	bracket(&r->second, stamps, edges);
	judge(r);
}
