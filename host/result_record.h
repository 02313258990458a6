/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way back from a test's record (docs/results.md) to a test_result: for records that another
 * runner made, and for views of old results.
 */
#ifndef HOST_RESULT_RECORD_H
#define HOST_RESULT_RECORD_H

#include <jansson.h>
#include "result.h"
#include "util/error.h"

/*
 * Fills a result with what a record says. What only the runner that made it knows (pointers to
 * expectations) stays NULL. -1 with err set when the record is none; the result is initialised and
 * may be freed in any case.
 */
int test_result_from_record(struct test_result *r, const struct test *test, const json_t *record,
			    struct error *err);

#endif
