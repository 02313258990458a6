/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In what two runs were made differently, as far as that moves their figures.
 */
#ifndef HOST_COMPARE_ENVIRONMENT_H
#define HOST_COMPARE_ENVIRONMENT_H

#include <jansson.h>
#include "util/text.h"

struct environment_differences {
	struct text fatal;    /* figures of the two say nothing about one another; one a line */
	struct text warnings; /* figures may differ for this alone; one a line */
};

/*
 * old and new: objects with the fields "environment" and "targets" of results.json. exact: all that
 * is to be compared are counts of instructions, which the host's CPU and its settings do not move.
 */
void environment_compare(const json_t *old, const json_t *new, bool exact,
			 struct environment_differences *d);
void environment_differences_free(struct environment_differences *d);

#endif
