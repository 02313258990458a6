// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Boots a test's image with list-checks and takes its answer.
 */
#include "check_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "test_run.h"
#include "util/loop.h"
#include "util/text.h"

static void on_done(void *ctx)
{
	loop_quit(ctx);
}

json_t *check_list_ask(const struct test *test, const struct target *target,
		       const struct options *o, struct error *err)
{
	struct loop *loop = loop_new();
	struct test_result result;
	struct test_run_spec spec = {
		.loop = loop,
		.target = target,
		.result = &result,
		.log = fopen("/dev/null", "we"),
		.images = o->images,
		.append = "list-checks",
		.timeout_s = o->timeout_s,
	};
	struct test_run *run;
	json_t *list = NULL;

	test_result_init(&result, test, 1);
	if (!spec.log) {
		error_set(err, "/dev/null: %s", strerror(errno));
	} else {
		run = test_run_start(&spec, on_done, loop);
		loop_run(loop);
		test_run_free(run);
		fclose(spec.log);
		if (result.verdict == VERDICT_SKIP && json_array_size(result.listed))
			list = json_incref(result.listed);
		else
			error_set(err, "%s did not list its checks: %s", test->key,
				  result.reason ? result.reason : "it named none");
	}
	test_result_free(&result);
	loop_free(loop);
	return list;
}

const json_t *check_list_find(const json_t *list, const char *name)
{
	const json_t *check;
	size_t i;

	for (i = 0; (check = json_array_get(list, i)); i++) {
		const char *own = json_string_value(json_object_get(check, "name"));

		if (own && !strcmp(own, name))
			return check;
	}
	return NULL;
}

const char *check_list_field(const json_t *list, const char *name, const char *field)
{
	char *path = text_copy(name), *slash;
	const char *value = NULL;

	do {
		value = json_string_value(json_object_get(check_list_find(list, path), field));
		slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
	} while (!value && slash);
	free(path);
	return value;
}
