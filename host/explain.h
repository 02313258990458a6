/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --explain: what a check is about, for whoever has to do with its verdict.
 */
#ifndef HOST_EXPLAIN_H
#define HOST_EXPLAIN_H

#include <stdio.h>
#include "check_list.h"
#include "expected.h"

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

/* One check of a list, as explain() prints it; for its tests. */
void explain_check(const struct explain_spec *spec, const struct test *test, const json_t *list,
		   const char *name, FILE *out);

#endif
