/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Versions of kernels and QEMUs, and ranges of them.
 */
#ifndef HOST_VERSION_RANGE_H
#define HOST_VERSION_RANGE_H

#include "types.h"

#define VERSION_PARTS 4

/* "6.12.4-amd64" is 6, 12, 4; what follows the numbers does not count. */
struct version {
	unsigned parts[VERSION_PARTS];
	unsigned nr_parts;
};

struct version_range {
	enum {
		RANGE_IS,      /* "6.12": any 6.12.x */
		RANGE_BELOW,   /* "<6.12" */
		RANGE_UP_TO,   /* "<=6.12": 6.12.x included */
		RANGE_ABOVE,   /* ">6.12": 6.12.x excluded */
		RANGE_FROM,    /* ">=6.12" */
		RANGE_BETWEEN, /* "6.1..6.11": both ends included, 6.11.x too */
	} kind;
	struct version from, to; /* "from" alone but for RANGE_BETWEEN */
};

/* The version at the start of s; -1 when there is no number. */
int version_parse(const char *s, struct version *v);

/* -1 when s is no range, or is one that nothing can be in. */
int version_range_parse(const char *s, struct version_range *range);

bool version_in_range(const struct version *v, const struct version_range *range);

#endif
