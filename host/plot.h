/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plots as SVG, drawn by gnuplot. Nothing but numbers and labels of ours gets into its script: text
 * that a guest or a file decides could be commands to it.
 */
#ifndef HOST_PLOT_H
#define HOST_PLOT_H

#include "figures.h"
#include "types.h"
#include "util/error.h"

/* A label on a plot: what of s is none of a-z A-Z 0-9 and "/_.-() " is left out. */
struct plot_interval {
	const char *label;
	double low, middle, high;
};

struct plots {
	char **scripts; /* one a plot */
	char **svgs;	/* after plots_make(): as many; an <svg> element each */
	size_t count;
};

/*
 * Adds a histogram, both axes logarithmic. x of the points: lower bounds of buckets, unit_ns
 * nanoseconds each, or 0 where the unit is no time. Returns the plot's number.
 */
size_t plot_add_histogram(struct plots *p, const struct figure_points *points, double unit_ns);

/* Adds intervals in nanoseconds, one line each, beside a line at 0. Returns the plot's number. */
size_t plot_add_intervals(struct plots *p, const struct plot_interval *list, size_t count);

/* Draws them all. -1 with err set where gnuplot cannot be run or does not draw; svgs is then NULL. */
int plots_make(struct plots *p, struct error *err);
void plots_free(struct plots *p);

#endif
