/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading results.json (docs/results.md): what every view of it needs. A file may come from another
 * machine, so a member that is missing or of another kind is as good as none.
 */
#ifndef HOST_RECORD_H
#define HOST_RECORD_H

#include <jansson.h>
#include "types.h"
#include "util/error.h"
#include "verdict.h"

/* The member's string, or NULL. */
const char *record_text(const json_t *object, const char *key);

/* The member's string, or "". */
const char *record_string(const json_t *object, const char *key);

/* The member's number, or 0. */
double record_number(const json_t *object, const char *key);

/* The member's whole number, or 0 where it is none or is not in 0 to a billion. */
unsigned record_count(const json_t *object, const char *key);

/* Whether the member is there and true. */
bool record_flag(const json_t *object, const char *key);

/* "verdict" of a test or check; what is none counts as an ERROR. */
enum verdict record_verdict(const json_t *object);

/* A check that its sub-checks do not speak for. */
bool record_is_leaf(const json_t *check);

/* "x86_64/counter", or with a repetition from 2 on "x86_64/counter (2)". Malloced. */
char *record_test_title(const json_t *test);

/*
 * results.json of a result directory, or a file by its own name: an object of this schema whose
 * tests are all as results_record_check() wants them. NULL with err set, which says where in the
 * file it stops to be one; json_decref() it.
 */
json_t *record_load(const char *path, struct error *err);

#endif
