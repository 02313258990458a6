// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures a table of benchmarks: calibration, batch size, samples, and the lines that tell of it.
 */
#include "bench.h"
#include "libcflat.h"
#include "protocol.h"

#define SAMPLES_DEFAULT	    10000
#define SAMPLES_MAX	    1000000
#define CALIBRATION_SAMPLES 1001
#define CALIBRATION_PARTS   10 /* it takes at most such a part of the budget */
#define TRIALS		    5  /* for the size of the batch: the fastest of them counts */

/* A sample is to be so many ticks, so that the clock's resolution is no more than 1 % of it. */
#define RESOLVED_TICKS 100
#define BATCH_MAX      STATS_ONE

struct engine {
	u64 *values;
	u64 capacity;
	struct bench_result *results;
	size_t nr_results;
};

static struct engine engine;

static u64 ticks_hz(void)
{
	return clock_hz();
}

const struct bench_clock bench_ticks = {
	.unit = "ticks",
	.read = clock_ticks,
	.hz = ticks_hz,
	.is_time = true,
};

const struct bench_result *bench_result(const char *name)
{
	for (size_t i = 0; i < engine.nr_results; i++) {
		if (!strcmp(engine.results[i].bench->name, name))
			return &engine.results[i];
	}
	return NULL;
}

const void *bench_subject(void)
{
	const struct bench *b = report_subject();

	return b->subject;
}

/* ---- measuring --------------------------------------------------------------------------------- */

/*
 * Calls what the compiler knows nothing of, whoever the caller is: the empty pair takes the very same
 * instructions as the others.
 */
static __attribute__((noinline)) u64 sample(const struct bench_clock *clock, void (*run)(u64 n),
					    u64 batch)
{
	u64 (*read)(void) = clock->read;
	u64 before;

	__asm__ volatile("" : "+r"(read), "+r"(run), "+r"(batch));
	before = read();
	run(batch);
	return read() - before;
}

/* Fills values with up to count samples; stops early when the time is over, but not before one. */
static u64 take(const struct bench_clock *clock, const struct bench *b, u64 batch, u64 count,
		u64 budget_ns)
{
	struct spin_bound budget;
	u64 n = 0;

	spin_start(&budget, budget_ns);
	do {
		if (b->settle)
			b->settle();
		engine.values[n++] = sample(clock, b->run, batch);
	} while (n < count && spin_poll(&budget));
	return n;
}

/*
 * The empty pair's cost is the median of many; what half of the others differ from it by, at least
 * one tick where they do not all agree, is what it may be off in any one sample.
 */
static void calibrate(const struct bench_clock *clock, const struct bench *b, u64 *overhead,
		      u64 *error)
{
	u64 n, low, high;
	struct stats s;

	take(clock, b, 0, 10, report_budget_ns() / CALIBRATION_PARTS); /* warms up */
	n = take(clock, b, 0, CALIBRATION_SAMPLES, report_budget_ns() / CALIBRATION_PARTS);
	stats_of(engine.values, n, &s);
	low = stats_percentile(engine.values, n, 25);
	high = stats_percentile(engine.values, n, 75);
	*overhead = s.p50;
	*error = MAX(MAX(high - s.p50, s.p50 - low), (u64)(s.p95 != s.min));
}

static u64 choose_batch(const struct bench_clock *clock, const struct bench *b, u64 overhead)
{
	u64 batch = 1;

	for (;; batch *= 2) {
		u64 fastest = UINT64_MAX;

		for (int i = 0; i < TRIALS; i++)
			fastest = MIN(fastest, sample(clock, b->run, batch));
		if (fastest >= overhead + RESOLVED_TICKS || batch == BATCH_MAX)
			return batch;
	}
}

/* Ticks of a whole sample, overhead included, to the cost of one operation. */
static u64 per_operation(u64 ticks, u64 overhead, u64 batch)
{
	return mul_div_u64(ticks > overhead ? ticks - overhead : 0, STATS_ONE, batch);
}

static bool measure(const struct bench *b, const struct bench_clock *clock, struct bench_result *r)
{
	u64 samples = args_u64("samples", b->samples ? b->samples : SAMPLES_DEFAULT);
	u64 overhead, error, n;

	calibrate(clock, b, &overhead, &error);
	r->hz = clock->hz ? clock->hz() : 0;
	r->batch = b->batch ? b->batch : choose_batch(clock, b, overhead);
	n = take(clock, b, r->batch, samples, report_budget_ns());
	for (u64 i = 0; i < n; i++) {
		if (engine.values[i] > STATS_MAX >> STATS_FRACTION_BITS) {
			report_fail("a sample of %#lx %s: the clock went backwards",
				    engine.values[i], clock->unit);
			return false;
		}
		engine.values[i] = per_operation(engine.values[i], overhead, r->batch);
	}
	r->overhead = per_operation(overhead, 0, r->batch);
	r->overhead_error = per_operation(error, 0, r->batch);
	stats_of(engine.values, n, &r->stats);
	return true;
}

/* ---- telling ----------------------------------------------------------------------------------- */

/* The second measure's fields. */
static int print_second(char *text, size_t size, const struct bench_second *s)
{
	char low[STATS_TEXT_MAX], high[STATS_TEXT_MAX], here[STATS_TEXT_MAX];

	if (s->reason)
		return snprintf(text, size, " second=none second-reason=%s", s->reason);
	return snprintf(text, size,
			" second=host-clock second-n=%lu second-low-ns=%s second-high-ns=%s "
			"second-here-ns=%s",
			s->n, stats_text(low, s->low), stats_text(high, s->high),
			stats_text(here, s->here));
}

static void print_figures(const struct bench *b, const struct bench_clock *clock,
			  const struct bench_result *r)
{
	const struct stats *s = &r->stats;
	const struct {
		const char *name;
		u64 value;
	} figures[] = {
		{ "overhead", r->overhead },
		{ "overhead-error", r->overhead_error },
		{ "min", s->min },
		{ "p50", s->p50 },
		{ "p95", s->p95 },
		{ "p99", s->p99 },
		{ "max", s->max },
		{ "mean", s->mean },
		{ "sd", s->sd },
	};
	const char *class = b->class ? b->class() : NULL;
	char line[PROTO_LINE_MAX + 1], text[STATS_TEXT_MAX];
	int len;

	len = snprintf(line, sizeof(line), "name=%s kind=bench unit=%s hz=%lu n=%lu batch=%lu",
		       b->name, clock->unit, r->hz, s->n, r->batch);
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		len += snprintf(line + len, sizeof(line) - len, " %s=%s", figures[i].name,
				stats_text(text, figures[i].value));
	len += print_second(line + len, sizeof(line) - len, &r->second);
	snprintf(line + len, sizeof(line) - len, " zeros=%lu%s%s%s%s", s->zeros,
		 b->floor ? " floor=" : "", b->floor ? b->floor : "", class ? " class=" : "",
		 class ? class : "");
	printf(PROTO_PREFIX PROTO_MEASURE " %s\n", line);
}

/* One pass of printing the histogram: parts is 0 in the pass that only counts them. */
struct histogram_pass {
	const char *name;
	u64 parts, part;
	char line[PROTO_LINE_MAX + 1];
	int len; /* 0: nothing in the line yet */
};

#define HISTOGRAM_LINE_MAX (PROTO_LINE_MAX - 200) /* name, part and parts take the rest */

static void end_part(struct histogram_pass *p)
{
	p->part++;
	if (p->parts)
		printf(PROTO_PREFIX PROTO_MEASURE
		       " name=%s kind=histogram part=%lu parts=%lu buckets=%s\n",
		       p->name, p->part, p->parts, p->line);
	p->len = 0;
}

static void add_bucket(struct histogram_pass *p, unsigned int bucket, u64 count)
{
	char low[STATS_TEXT_MAX];

	if (p->len > HISTOGRAM_LINE_MAX - 2 * STATS_TEXT_MAX)
		end_part(p);
	p->len += snprintf(p->line + p->len, sizeof(p->line) - p->len, "%s%s:%lu",
			   p->len ? "," : "", stats_text(low, stats_bucket_low(bucket)), count);
}

/* Returns how many lines it takes. */
static u64 histogram_pass(const char *name, u64 n, u64 parts)
{
	struct histogram_pass p = { .name = name, .parts = parts };
	u64 first = 0;

	for (u64 i = 1; i <= n; i++) {
		unsigned int bucket = stats_bucket(engine.values[first]);

		if (i < n && stats_bucket(engine.values[i]) == bucket)
			continue;
		add_bucket(&p, bucket, i - first);
		first = i;
	}
	end_part(&p);
	return p.part;
}

static void print_histogram(const char *name, u64 n)
{
	histogram_pass(name, n, histogram_pass(name, n, 0));
}

static void tell(const struct bench *b, const struct bench_clock *clock,
		 const struct bench_result *r)
{
	const struct stats *s = &r->stats;
	char p50[STATS_TEXT_MAX], p95[STATS_TEXT_MAX], mean[STATS_TEXT_MAX], sd[STATS_TEXT_MAX];

	print_figures(b, clock, r);
	print_histogram(b->name, s->n);
	report_info("n=%lu p50=%s p95=%s mean=%s sd=%s %s, %lu zeros, %lu a sample", s->n,
		    stats_text(p50, s->p50), stats_text(p95, s->p95), stats_text(mean, s->mean),
		    stats_text(sd, s->sd), clock->unit, s->zeros, r->batch);
}

/* ---- as checks --------------------------------------------------------------------------------- */

/* The body of every benchmark's check. */
static void run_bench(void)
{
	const struct bench *b = report_subject();
	const struct bench_clock *clock = b->clock ? b->clock : &bench_ticks;
	struct bench_result *r = &engine.results[engine.nr_results];
	bool measured;

	if (b->prepare && !b->prepare())
		return;
	if (!clock->open || clock->open()) {
		*r = (struct bench_result){ .bench = b };
		measured = measure(b, clock, r);
		if (clock->close)
			clock->close();
		if (measured) {
			engine.nr_results++;
			report_pass();
			bench_measure_second(clock, r);
			tell(b, clock, r);
		}
	}
	if (b->finish)
		b->finish();
}

int bench_report_run(const char *image, const struct bench *benches, size_t nr_benches,
		     const struct check *checks, size_t nr_checks)
{
	struct check *all = alloc((nr_benches + nr_checks) * sizeof(*all));

	engine.capacity = MAX(args_u64("samples", 0), (u64)SAMPLES_DEFAULT);
	for (size_t i = 0; i < nr_benches; i++) {
		engine.capacity = MAX(engine.capacity, benches[i].samples);
		all[i] = (struct check){
			.name = benches[i].name,
			.run = run_bench,
			.guards = benches[i].guards,
			.story = benches[i].story,
			.subject = &benches[i],
		};
	}
	if (engine.capacity > SAMPLES_MAX)
		panic("argument samples=%lu: at most %d", engine.capacity, SAMPLES_MAX);
	engine.values = alloc(engine.capacity * sizeof(*engine.values));
	engine.results = alloc(nr_benches * sizeof(*engine.results));
	memcpy(all + nr_benches, checks, nr_checks * sizeof(*checks));
	return report_run(image, all, nr_benches + nr_checks);
}
