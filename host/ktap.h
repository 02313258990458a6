/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KTAP version 1 (the kernel's Documentation/dev-tools/ktap.rst) as a view of results.json: one
 * result a test, its checks as a nested block before it, theirs nested again. Nothing in it is a
 * time or a measured value of a check that is well.
 */
#ifndef HOST_KTAP_H
#define HOST_KTAP_H

#include <jansson.h>
#include "types.h"
#include "util/text.h"

/* A test's lines but for its number, which it has only when all are there. */
struct ktap_test {
	char *before; /* the nested block and diagnostics */
	char *result; /* "ok" or "not ok" */
	char *rest;   /* name and directive */
};

/* Of a record that results_record_check() likes. */
void ktap_test_make(struct ktap_test *t, const json_t *record);
void ktap_test_free(struct ktap_test *t);

void ktap_begin(struct text *out, size_t planned);
void ktap_add(struct text *out, size_t number, const struct ktap_test *t);

/* Fewer results than planned, and the line saying so, tell a reader that the run was cut short. */
void ktap_end(struct text *out, size_t planned, size_t ran, const unsigned *by_verdict,
	      unsigned unexpected_passes);

#endif
