/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * docs/catalogue.md: the defects that checks name as what they guard against.
 */
#ifndef HOST_CATALOGUE_H
#define HOST_CATALOGUE_H

#include "types.h"
#include "util/error.h"

struct defect {
	char *id;    /* "A21" */
	char *title; /* what a guest sees */
	char *where; /* hypervisor, version */
};

struct catalogue {
	struct defect *list;
	size_t count;
};

/* Reads every row "| id | title | where |" of the file's tables. -1 with err set. */
int catalogue_load(const char *path, struct catalogue *c, struct error *err);
void catalogue_free(struct catalogue *c);

/* NULL where there is none of that id. */
const struct defect *catalogue_find(const struct catalogue *c, const char *id);

#endif
