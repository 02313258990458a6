/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --explain: what a check is about, for whoever has to do with its verdict.
 */
#ifndef HOST_EXPLAIN_H
#define HOST_EXPLAIN_H

#include <stdio.h>
#include "check_list.h"
#include "expected.h"
#include "select.h"

struct explain_spec {
	const struct options *options;
	const struct config *config;
	const struct expectations *expectations;
	const bool *archs; /* those whose images are there */
};

/*
 * what: [ARCH/]TEST or [ARCH/]TEST.CHECK. Prints for each of the architectures that has it: story,
 * sub-checks, defects, known failures, how to run it alone; of a test, its checks. -1 with err set
 * when there is no such test or check, or no image could be asked.
 */
int explain(const struct explain_spec *spec, const char *what, FILE *out, struct error *err);

/*
 * Every check of these tests, a line each: "x86_64/counter.cross-cpu/2", its defects ("T2,T7") and its
 * story, with tabs between. -1 with err set at the first image that could not be asked.
 */
int explain_list(const struct explain_spec *spec, const struct selection *selection, FILE *out,
		 struct error *err);

/* One check of a list, as explain() prints it; for its tests. */
void explain_check(const struct explain_spec *spec, const struct test *test, const json_t *list,
		   const char *name, FILE *out);

#endif
