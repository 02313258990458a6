/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measurements in a file, to compare with: what --save writes, and results.json itself, which has
 * the same fields and more.
 */
#ifndef HOST_BASELINE_H
#define HOST_BASELINE_H

#include <jansson.h>
#include "benchmarks.h"
#include "util/error.h"
#include "util/text.h"

struct baseline {
	char *path;
	json_t *head; /* schema, tool, started, environment, targets, bench */
	struct benchmarks benchmarks;
};

/*
 * Reads a file, or the results.json of a directory. -1 with err saying which file, where in it, and
 * what is wrong.
 */
int baseline_load(const char *path, struct baseline *b, struct error *err);
void baseline_free(struct baseline *b);

/* Of a results.json those fields that a baseline has, into a file. -1 with err set. */
int baseline_save(const char *path, const char *results_json, struct error *err);

/* The benchmarks as the lines of a JSON array, ",\n  \"benchmarks\": […]". */
void baseline_append_benchmarks(const struct benchmarks *b, struct text *out);

#endif
