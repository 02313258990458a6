// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Puts a failure into words.
 */
#include "failure.h"

#include <stdlib.h>
#include "record.h"

struct failure failure_of_result(const char *options, const struct test_result *r,
				 const struct check_result *check)
{
	return (struct failure){
		.story = check->story,
		.guards = check->guards,
		.cpu = check->cpu,
		.options = options,
		.key = r->test->key,
		.check = check->name,
	};
}

struct failure failure_of_record(const json_t *run, const json_t *test, const json_t *check)
{
	const json_t *cpu = json_object_get(check, "cpu");

	return (struct failure){
		.story = record_text(check, "story"),
		.guards = record_text(check, "guards"),
		.cpu = json_is_integer(cpu) ? (int)record_count(check, "cpu") : -1,
		.options = record_text(run, "options"),
		.key = record_text(test, "key"),
		.check = record_text(check, "name"),
	};
}

static void add_command(struct text *out, const struct failure *f)
{
	char *argument = text_format("check=%s", f->check);

	text_append(out, "./run_tests.sh ");
	if (f->options && *f->options)
		text_printf(out, "%s ", f->options);
	text_append(out, "--append ");
	text_append_quoted(out, argument);
	text_append_char(out, ' ');
	text_append_quoted(out, f->key);
	free(argument);
}

void failure_describe(struct text *out, const char *indent, const struct failure *f)
{
	if (f->story)
		text_printf(out, "%sinvariant: %s\n", indent, f->story);
	if (f->cpu >= 0)
		text_printf(out, "%sreported by: vCPU %d\n", indent, f->cpu);
	if (f->guards)
		text_printf(out, "%sguards against: %s\n", indent, f->guards);
	if (f->key && f->check) {
		text_printf(out, "%sagain: ", indent);
		add_command(out, f);
		text_append_char(out, '\n');
	}
}

void failure_add_figures(struct text *out, const char *indent, const json_t *diagnostics)
{
	for (size_t i = 0; i < json_array_size(diagnostics); i++) {
		const char *line = json_string_value(json_array_get(diagnostics, i));

		text_printf(out, "%s%s\n", indent, line ? line : "");
	}
}
