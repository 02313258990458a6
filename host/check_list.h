/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What checks an image has: the image itself is asked, by the argument list-checks, since only it
 * knows its tables. It takes the boot of one guest.
 */
#ifndef HOST_CHECK_LIST_H
#define HOST_CHECK_LIST_H

#include <jansson.h>
#include "options.h"
#include "target.h"
#include "util/error.h"

/*
 * A new array of objects of strings, in the image's order, parents before their sub-checks: "name"
 * (sub-checks "parent/child"), "guards" ("A1,A2") and "text" (the story), the last two where there
 * are any. NULL with err set when the image did not answer.
 */
json_t *check_list_ask(const struct test *test, const struct target *target,
		       const struct options *o, struct error *err);

/* The check of that name, or NULL. */
const json_t *check_list_find(const json_t *list, const char *name);

/*
 * The field ("text", "guards") of a check or of the nearest of its parents that has it; NULL where
 * none has.
 */
const char *check_list_field(const json_t *list, const char *name, const char *field);

#endif
