// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tells what expected_update.c finds.
 */
#include "expected_review.h"

#include <stdio.h>
#include <stdlib.h>
#include "expected_update.h"
#include "record.h"
#include "util/file.h"
#include "util/text.h"

static int write_diff(const struct expected_update *u, const struct options *o, const char *dir,
		      bool quiet, struct error *err)
{
	char *path = o->expected_diff ? text_copy(o->expected_diff)
				      : text_format("%s/expected.diff", dir);
	struct text diff = { 0 };
	int result = expected_diff(u, &diff, err);

	if (!result)
		result = file_write(path, text_string(&diff), diff.len, err);
	if (!result && !quiet)
		printf("expected: %s: %s\n", path,
		       diff.len ? "review it, then \"git apply\" it" : "nothing to change");
	text_free(&diff);
	free(path);
	return result;
}

int expected_review(const struct options *o, const struct config *config,
		    const struct expectations *e, const char *dir, struct error *err)
{
	json_t *run = record_load(dir, err);
	struct expected_update u = {
		.expectations = e,
		.config = config,
		.root = o->root,
		.dir = o->expected,
		.run = run,
	};
	bool quiet = o->ktap || o->stream;
	struct text unmatched = { 0 };
	int result = 0;

	if (!run)
		return -1;
	if (expected_unmatched(&u, &unmatched) && !quiet)
		fputs(text_string(&unmatched), stdout);
	if (o->update_expected)
		result = write_diff(&u, o, dir, quiet, err);
	text_free(&unmatched);
	json_decref(run);
	return result;
}
