// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The life of a test's result.
 */
#include <stdlib.h>
#include <string.h>

#include "result.h"
#include "util/memory.h"
#include "util/text.h"

void test_result_init(struct test_result *r, const struct test *test, unsigned repetition)
{
	*r = (struct test_result){
		.test = test,
		.repetition = repetition,
		.verdict = VERDICT_SKIP,
		.raw = VERDICT_SKIP,
		.listed = json_array(),
		.measurements = json_array(),
		.calls = json_array(),
	};
}

void test_result_free(struct test_result *r)
{
	for (size_t i = 0; i < r->nr_checks; i++) {
		free(r->checks[i].name);
		free(r->checks[i].reason);
		words_free(r->checks[i].diagnostics);
		free(r->checks[i].story);
		free(r->checks[i].guards);
	}
	free(r->checks);
	json_decref(r->listed);
	json_decref(r->measurements);
	json_decref(r->calls);
	free(r->reason);
	free(r->log);
	free(r->log_tail);
	free(r->vmm_stderr);
	free(r->command);
	free(r->backtrace);
	*r = (struct test_result){ 0 };
}

struct check_result *test_result_add_check(struct test_result *r, const char *name)
{
	struct check_result *check;

	/* The room doubles whenever it is used up. */
	if (!(r->nr_checks & (r->nr_checks - 1)))
		r->checks = memory_resize(r->checks, r->nr_checks ? r->nr_checks * 2 : 1,
					  sizeof(*r->checks));
	check = &r->checks[r->nr_checks++];
	*check = (struct check_result){
		.name = text_copy(name),
		.verdict = VERDICT_SKIP,
		.raw = VERDICT_SKIP,
		.cpu = -1,
	};
	return check;
}
