/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two sets of measurements, benchmark by benchmark: what became slower or faster, and how small a
 * change would have been seen. docs/measuring.md has the method.
 */
#ifndef HOST_COMPARE_H
#define HOST_COMPARE_H

#include "benchmarks.h"
#include "statistics.h"

/*
 * How often a comparison of equals may claim any change, whatever the number of its benchmarks. Less
 * than the customary 0.05: a gate that is asked after every patch would cry wolf every 20th time.
 */
#define COMPARE_ALPHA 0.01

enum change {
	CHANGE_NONE,
	CHANGE_SLOWER,
	CHANGE_FASTER,
	CHANGE_UNKNOWN, /* see the row's reason */
};

struct compare_row {
	const struct benchmark *old, *new; /* one may be NULL */
	enum change change;
	char *reason; /* of CHANGE_UNKNOWN, in a sentence */
	bool exact;   /* instructions: equal or not, and only before and after are set */
	const char *unit;
	double before, after;	  /* medians of the boots' medians */
	struct interval interval; /* 95 %, of after / before */
	double p;	     /* of a difference, corrected for all benchmarks of the comparison */
	double detectable;   /* a slowdown by this part is found 95 times in 100; or INFINITY */
	size_t boots_needed; /* in each; fewer can find nothing. 0: there are enough */
};

struct comparison {
	struct compare_row *rows; /* in the order of old, then what only new has */
	size_t count;
	size_t compared; /* rows that both have in a form that can be compared */
	size_t slower, faster;
	double threshold;
};

/*
 * threshold: the part (0.02 is 2 %) below which a difference is none, however significant; it does
 * not apply to exact figures. old and new have to outlive the comparison.
 */
void compare_benchmarks(const struct benchmarks *old, const struct benchmarks *new,
			double threshold, struct comparison *c);
void comparison_free(struct comparison *c);

#endif
