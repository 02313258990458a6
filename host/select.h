/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which tests a command line means.
 */
#ifndef HOST_SELECT_H
#define HOST_SELECT_H

#include "config.h"
#include "options.h"
#include "util/error.h"

struct selection {
	const struct test **tests; /* in the order of the config */
	size_t count;
};

/*
 * Tests by name or key and by group; all default ones where neither is given (for -l: all); of
 * these architectures; with a shard asked for, those that are in it, which may be none. -1 with err naming what is unknown, what was likely meant, and what there is.
 */
int select_tests(const struct config *config, const struct options *o, const bool archs[ARCH_COUNT],
		 struct selection *s, struct error *err);
void selection_free(struct selection *s);

/* For -l: one line a test. */
void selection_print(const struct selection *s, FILE *out);

#endif
