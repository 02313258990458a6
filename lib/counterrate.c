// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rate of a counter: by another counter of known frequency, and by the runner's stamps of the
 * host's clock. Rates come as intervals, from brackets: a CPU that was not run for a while makes
 * one bracket wide and no rate wrong.
 */
#include "countertest.h"
#include "libcflat.h"

#define STAMPS_MIN     4 /* at either end of the window */
#define STAMPS_MAX     16
#define STAMP_TIGHT_NS 500000UL /* a whole call, of which the stamp's bracket is a part */
#define STAMP_ROUNDS   50	/* the window is waited for in at most so many steps */
#define RATE_SAMPLES   64
#define EDGE_READS     8
#define PPM	       1000000ULL
#define WINDOW_DEFAULT 200 /* ms */

u64 counter_window_ns(void)
{
	return args_u64("window-ms", WINDOW_DEFAULT) * NSEC_PER_MSEC;
}

/* Where a rate is sought that lies within many intervals. */
struct rate_search {
	u64 low, high;
	bool contradiction;
};

/*
 * So many ticks, at least and at most, in so many units of the reference, at least and at most;
 * the reference counts reference_hz units a second. Rounded outwards.
 */
static void rate_narrow(struct rate_search *s, const u64 ticks[2], const u64 units[2],
			u64 reference_hz)
{
	u64 low = mul_div_u64(ticks[0], reference_hz, units[1]);
	u64 high = units[0] ? mul_div_u64(ticks[1], reference_hz, units[0]) : UINT64_MAX;

	if (high < UINT64_MAX)
		high++;
	if (low > s->high || high < s->low)
		s->contradiction = true;
	s->low = MAX(s->low, low);
	s->high = MIN(s->high, high);
}

/* ---- by another counter ------------------------------------------------------------------------ */

struct rate_sample {
	u64 before, after; /* subject */
	u64 reference;
};

static struct rate_sample rate_sample(const struct counter_ops *subject,
				      const struct counter_ops *reference)
{
	struct rate_sample best = { 0, UINT64_MAX, 0 };

	for (int i = 0; i < EDGE_READS; i++) {
		struct rate_sample s;

		s.before = subject->read();
		s.reference = reference->read();
		s.after = subject->read();
		if (s.after - s.before < best.after - best.before)
			best = s;
	}
	return best;
}

/* Each counter was read some part of a tick after it came to its value. */
static void rate_between(struct rate_search *search, const struct rate_sample *first,
			 const struct rate_sample *now, u64 reference_ticks, u64 reference_hz)
{
	u64 least = now->before > first->after ? now->before - first->after : 0;
	u64 most = now->after - first->before;
	u64 ticks[2] = { least > 1 ? least - 1 : 0, most + 1 };
	u64 units[2] = { reference_ticks > 1 ? reference_ticks - 1 : 0, reference_ticks + 1 };

	rate_narrow(search, ticks, units, reference_hz);
}

bool counter_check_rate(const struct counter_ops *subject, const struct counter_ops *reference,
			u64 window_ns, struct hz_interval *out)
{
	struct rate_search search = { 0, UINT64_MAX, false };
	u64 half_range_ns = ticks_to_ns(reference->mask / 2, reference->hz);
	struct rate_sample first, now;
	u64 last, last_ns, elapsed = 0;

	first = rate_sample(subject, reference);
	last = first.reference;
	last_ns = clock_ns();
	for (int i = 0; i < RATE_SAMPLES && !search.contradiction; i++) {
		spin_until(false, window_ns / RATE_SAMPLES);
		now = rate_sample(subject, reference);
		if (clock_ns() - last_ns > half_range_ns) {
			report_error("this CPU was not run for more than %lu ms, in which %s may "
				     "have wrapped unseen",
				     (half_range_ns / NSEC_PER_MSEC), reference->name);
			return false;
		}
		elapsed += (now.reference - last) & reference->mask;
		last = now.reference;
		last_ns = clock_ns();
		rate_between(&search, &first, &now, elapsed, reference->hz);
	}
	*out = (struct hz_interval){ search.low, search.high, ticks_to_ns(elapsed, reference->hz) };
	report_info("%s by %s: %lu to %lu Hz over %lu us", subject->name, reference->name,
		    search.low, search.high, (out->window_ns / NSEC_PER_USEC));
	return report_expect(!search.contradiction,
			     "%s has no constant rate by %s: the brackets after %lu us allow none "
			     "that the former ones allow",
			     subject->name, reference->name, (out->window_ns / NSEC_PER_USEC));
}

/* ---- by the host's clock ----------------------------------------------------------------------- */

/* What host_stamp() gives, with the counter in question around it. */
struct stamp {
	u64 before, after;
	u64 raw_ns;
};

struct stamps {
	struct stamp stamp[STAMPS_MAX];
	int count;
};

static bool take_stamp(const struct counter_ops *counter, struct stamp *s)
{
	struct host_stamp host;

	s->before = counter->read();
	if (!host_stamp(&host))
		return false;
	s->after = counter->read();
	s->raw_ns = host.raw_ns;
	if (counter->read == clock_ticks) {
		s->before = host.before_ticks;
		s->after = host.after_ticks;
	}
	return true;
}

/* Several, and more as long as none is tight: on a busy host some take a time slice. */
static bool take_stamps(const struct counter_ops *counter, struct stamps *s)
{
	u64 tight = ns_to_ticks(STAMP_TIGHT_NS, clock_hz());

	for (s->count = 0; s->count < STAMPS_MAX;) {
		u64 before = clock_ticks();

		if (!take_stamp(counter, &s->stamp[s->count++]))
			return false;
		if (s->count >= STAMPS_MIN && clock_ticks() - before <= tight)
			break;
	}
	return true;
}

/* Waits until the host's clock says that the window has passed, whatever the guest's say. */
static bool wait_window(u64 start_raw_ns, u64 window_ns)
{
	for (int i = 0; i < STAMP_ROUNDS; i++) {
		struct host_stamp host;

		if (!host_stamp(&host))
			return false;
		if (host.raw_ns - start_raw_ns >= window_ns)
			return true;
		spin_until(false, window_ns - (host.raw_ns - start_raw_ns));
	}
	report_error("the host's clock advanced by less than %lu ms while the guest's own went "
		     "through it %d times",
		     (window_ns / NSEC_PER_MSEC), STAMP_ROUNDS);
	return false;
}

/* The host's clock counts whole nanoseconds. */
static void stamps_narrow(struct rate_search *search, const struct counter_ops *counter,
			  const struct stamp *begin, const struct stamp *end)
{
	u64 ns = end->raw_ns - begin->raw_ns;
	u64 ticks[2] = { (end->before - begin->after) & counter->mask,
			 (end->after - begin->before) & counter->mask };
	u64 units[2] = { ns - 1, ns + 1 };

	rate_narrow(search, ticks, units, NSEC_PER_SEC);
}

bool counter_measure_hz(const struct counter_ops *counter, u64 window_ns, struct hz_interval *out)
{
	struct rate_search search = { 0, UINT64_MAX, false };
	struct stamps begin, end;

	if (args_has("virtual-time")) {
		report_skip("virtual time: the host's clock says nothing about this guest's");
		return false;
	}
	if (!take_stamps(counter, &begin) ||
	    !wait_window(begin.stamp[begin.count - 1].raw_ns, window_ns) ||
	    !take_stamps(counter, &end))
		return false;
	for (int b = 0; b < begin.count; b++) {
		for (int e = 0; e < end.count; e++)
			stamps_narrow(&search, counter, &begin.stamp[b], &end.stamp[e]);
	}
	*out = (struct hz_interval){ search.low, search.high,
				     end.stamp[0].raw_ns - begin.stamp[begin.count - 1].raw_ns };
	return report_expect(!search.contradiction,
			     "%s: no one frequency agrees with all stamps of the host's clock over "
			     "%lu ms",
			     counter->name, out->window_ns / NSEC_PER_MSEC);
}

void counter_judge_hz(const char *source, u64 advertised_hz, u64 tolerance_ppm,
		      const struct hz_interval *measured)
{
	u64 middle = measured->low + (measured->high - measured->low) / 2;
	u64 uncertainty_ppm = mul_div_u64(measured->high - middle, PPM, MAX(middle, 1ULL)) + 1;
	u64 low = measured->low - mul_div_u64(measured->low, tolerance_ppm, PPM);
	u64 high = measured->high + mul_div_u64(measured->high, tolerance_ppm, PPM);

	report_info("%s: %lu Hz advertised, %lu to %lu Hz measured over %lu ms: off by %ld ppm "
		    "+- %lu ppm",
		    source, advertised_hz, measured->low, measured->high,
		    (measured->window_ns / NSEC_PER_MSEC),
		    error_ppm(advertised_hz, MAX(middle, 1ULL)), uncertainty_ppm);
	report_expect(advertised_hz >= low && advertised_hz <= high,
		      "%s advertises %lu Hz, but the counter runs at %lu to %lu Hz (%lu ppm "
		      "allowed beyond that)",
		      source, advertised_hz, measured->low, measured->high, tolerance_ppm);
}
