/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --bench: what a run of benchmarks decides before it begins, and shows in the end.
 */
#ifndef HOST_BENCH_H
#define HOST_BENCH_H

#include <stdio.h>
#include "benchmarks.h"
#include "options.h"
#include "results.h"

/*
 * Boots (which become o->repeat) and seed, where the command line gives none. exact: the guests'
 * time is made of instructions. start_ns: any number that is another one in each run.
 */
void bench_choose(struct options *o, bool exact, u64 start_ns);

/* Can FILE of --save be written when the run is over? -1 with err set. */
int bench_check_save(const char *path, struct error *err);

/*
 * When the run is over: prints the table, except where stdout is for something else, and writes the
 * file of --save. -1 with err set.
 */
int bench_finish(const struct options *o, const struct results *results, struct error *err);

/* The table of what operations cost. */
void bench_print(const struct benchmarks *b, FILE *out);

#endif
