/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What operations cost. An image is a table of benchmarks; each is also a check, which passes when it
 * has been measured. Every sample is kept: serialise, read the clock, operate, serialise, read the
 * clock. From each the cost of the empty pair is subtracted, which is calibrated just before, and its
 * error is reported with the figures. One measure line has the figures, others the histogram:
 * docs/protocol.md.
 *
 * Arguments: samples=N (default 10,000) for each benchmark; budget-ms=N bounds the time of each.
 */
#ifndef BENCH_H
#define BENCH_H

#include "report.h"
#include "stats.h"
#include "types.h"

/* What operations are measured with. */
struct bench_clock {
	const char *unit; /* "ticks", "cycles" */
	/* Ordered behind the operations before it and ahead of those after it. */
	u64 (*read)(void);
	u64 (*hz)(void); /* 0, or NULL, where it is not known */
	/* Counts hz a second of time, whatever runs, so that the host's clock can be set against it. */
	bool is_time;
	/* Around each benchmark; open returns false after a verdict. NULL: nothing to do. */
	bool (*open)(void);
	void (*close)(void);
};

/* clock_ticks(), which is what a NULL in the table means. */
extern const struct bench_clock bench_ticks;

struct bench {
	const char *name; /* of the check and of the measurement */
	/* false after a verdict (a skip, mostly). NULL: always possible. */
	bool (*prepare)(void);
	/*
	 * The operation, n times in a loop as short as can be, which is part of the figure
	 * (arch/bench.h makes such functions). run(0) is the same without any: the empty pair, with
	 * which the overhead is calibrated.
	 */
	void (*run)(u64 n);
	/*
	 * Before each sample, outside of its time: waits until what run() begins with is there. For
	 * benchmarks with a batch of 1. NULL: nothing to do.
	 */
	void (*settle)(void);
	void (*finish)(void); /* puts back what prepare changed; NULL: nothing */
	/* The benchmark of the same table that this one's figure is to be a ratio of, or NULL. */
	const char *floor;
	/* "trapped", "native", "offset": what kind of path it takes, as far as the image knows. */
	const char *(*class)(void);
	const struct bench_clock *clock; /* NULL: bench_ticks */
	u64 samples;			 /* 0: the default */
	u64 batch; /* operations a sample; 0: chosen so that a tick is no hundredth of one */
	const char *guards, *story; /* as in struct check */
	const void *subject;	    /* the image's own, for bench_subject() */
};

/*
 * The second measure: the mean of one operation over a window of its own, by the host's clock and by
 * the benchmark's, which has to lie between. ns, in fixed point.
 */
struct bench_second {
	const char *reason; /* why there is none, in one word; NULL: there is */
	u64 n;		    /* operations in the window */
	u64 low, high;	    /* by CLOCK_MONOTONIC_RAW of the host, at least and at most */
	u64 here;
};

/* What was measured, for checks that compare. Costs are of one operation, in fixed point (stats.h). */
struct bench_result {
	const struct bench *bench;
	u64 hz;
	u64 batch;
	u64 overhead;	    /* subtracted from each */
	u64 overhead_error; /* what that may be off, either way */
	struct stats stats;
	struct bench_second second;
};

/*
 * The body of main(): report_run() of one check for each benchmark, then of the checks behind them,
 * which can compare what was measured.
 */
int bench_report_run(const char *image, const struct bench *benches, size_t nr_benches,
		     const struct check *checks, size_t nr_checks);

/*
 * For bench.c: fills in r->second of a benchmark that has been measured and is still prepared. Notes a
 * FAIL where the two clocks disagree.
 */
void bench_measure_second(const struct bench_clock *clock, struct bench_result *r);

/* In prepare, run, finish and class: the subject of the benchmark that is under way. */
const void *bench_subject(void);

/* NULL where that benchmark has not been measured in this run. */
const struct bench_result *bench_result(const char *name);

#endif
