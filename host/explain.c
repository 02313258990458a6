// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Puts together what is known of a check: its story and guards from the image, the image's own story
 * from the file beside it, titles from docs/catalogue.md, known failures from expected/.
 */
#include "explain.h"

#include <stdlib.h>
#include <string.h>
#include "catalogue.h"
#include "image.h"
#include "select.h"
#include "util/file.h"
#include "util/text.h"

#define WIDTH	  100
#define STORY_MAX 65536 /* bytes of an image's story */

/* ---- printing -------------------------------------------------------------------------------- */

/* Words within the width, every line indented; an empty line in the text ends a paragraph. */
static void print_wrapped(FILE *out, int indent, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t blanks = strspn(text, " \n\t"), len;

		if (column && text[blanks] && !strncmp(text, "\n\n", 2)) {
			fprintf(out, "\n\n");
			column = 0;
		}
		text += blanks;
		len = strcspn(text, " \n\t");
		if (!len)
			break;
		if (column && column + 1 + len > WIDTH) {
			fputs("\n", out);
			column = 0;
		}
		column += fprintf(out, "%*s%.*s", column ? 1 : indent, "", (int)len, text);
		text += len;
	}
	fputs("\n", out);
}

static void print_head(FILE *out, const char *head)
{
	fprintf(out, "\n  %s\n", head);
}

/* ---- what is known of a check ------------------------------------------------------------------ */

/* Is sub a sub-check of name, or of one of its own? "" is the whole test. */
static bool is_below(const char *sub, const char *name)
{
	size_t len = strlen(name);

	return sub && (!len || (!strncmp(sub, name, len) && sub[len] == '/'));
}

/* The ids of the check itself or what it is a part of; else those of its sub-checks. */
static char **guards_of(const json_t *list, const char *name)
{
	const char *own = check_list_field(list, name, "guards");
	struct text all = { 0 };
	const json_t *check;
	char **words, **ids;
	size_t i;

	if (own)
		return words_split(own, ",");
	for (i = 0; (check = json_array_get(list, i)); i++) {
		const char *guards = json_string_value(json_object_get(check, "guards"));

		if (guards && is_below(json_string_value(json_object_get(check, "name")), name))
			text_printf(&all, "%s,", guards);
	}
	words = words_split(text_string(&all), ",");
	ids = words_unique(words);
	words_free(words);
	text_free(&all);
	return ids;
}

static void print_guards(const struct explain_spec *spec, char **ids, FILE *out)
{
	char *path = text_format("%s/docs/catalogue.md", spec->options->root);
	struct catalogue catalogue;
	struct error err;

	print_head(out, "Guards against");
	if (catalogue_load(path, &catalogue, &err))
		fprintf(out, "    (the titles are missing: %s)\n", err.text);
	for (size_t i = 0; ids[i]; i++) {
		const struct defect *defect = catalogue_find(&catalogue, ids[i]);

		if (defect)
			fprintf(out, "    %-4s %s (%s)\n", ids[i], defect->title, defect->where);
		else
			fprintf(out, "    %-4s is not in docs/catalogue.md\n", ids[i]);
	}
	catalogue_free(&catalogue);
	free(path);
}

static void print_sub_checks(const json_t *list, const char *name, FILE *out)
{
	bool any = false;
	const json_t *check;
	size_t i;

	for (i = 0; (check = json_array_get(list, i)); i++) {
		const char *sub = json_string_value(json_object_get(check, "name"));
		const char *story = json_string_value(json_object_get(check, "text"));

		if (!is_below(sub, name))
			continue;
		if (!any)
			print_head(out, *name ? "Sub-checks" : "Checks");
		any = true;
		fprintf(out, "    %s\n", sub);
		if (story)
			print_wrapped(out, 8, story);
	}
}

/* Whether an entry is about the check or one of its sub-checks; "" is the whole test. */
static bool is_known(const struct expectation *entry, const struct test *test, const json_t *list,
		     const char *name)
{
	const json_t *check;
	size_t i;

	if (expectation_may_concern(entry, test, *name ? name : NULL))
		return true;
	for (i = 0; (check = json_array_get(list, i)); i++) {
		const char *sub = json_string_value(json_object_get(check, "name"));

		if (is_below(sub, name) && expectation_may_concern(entry, test, sub))
			return true;
	}
	return false;
}

static void print_known(const struct explain_spec *spec, const struct test *test,
			const json_t *list, const char *name, FILE *out)
{
	const struct expectations *e = spec->expectations;
	bool any = false;

	for (size_t i = 0; i < e->count; i++) {
		const struct expectation *entry = &e->list[i];

		if (!is_known(entry, test, list, name))
			continue;
		if (!any)
			print_head(out, "Known, under the conditions that stand there");
		any = true;
		fprintf(out, "    %s:%u: %s: %s: %s\n", entry->file, entry->line, entry->subject,
			verdict_name(entry->verdict), entry->reason);
	}
}

static void print_verdicts(FILE *out)
{
	print_head(out, "What its verdict means");
	print_wrapped(
		out, 4,
		"FAIL: that does not hold of what the VMM, the kernel's KVM or the CPU gave this "
		"guest. The lines with the verdict tell what was expected and what was seen.");
	print_wrapped(
		out, 4,
		"ERROR, TIMEOUT: the test or what it runs on is wrong, or the guest is stuck. "
		"SKIP: what the check needs is not there.");
}

static void print_command(const struct test *test, const char *check, FILE *out)
{
	print_head(out, "Alone, with all it prints");
	fprintf(out, "    ./run_tests.sh -v %s%s%s%s\n", check ? "--append check=" : "",
		check ? check : "", check ? " " : "", test->key);
}

static void print_image_story(const struct explain_spec *spec, const struct test *test, FILE *out)
{
	char *path = image_story_path(spec->options->images, test->arch, test->image);
	struct text story = { 0 };
	struct error err;

	if (!file_read(path, STORY_MAX, &story, &err) && story.len) {
		fprintf(out, "\n  Its test, %s (image %s)\n", test->key, test->image);
		print_wrapped(out, 4, text_string(&story));
	}
	text_free(&story);
	free(path);
}

void explain_check(const struct explain_spec *spec, const struct test *test, const json_t *list,
		   const char *name, FILE *out)
{
	const char *story = check_list_field(list, name, "text");
	char **guards = guards_of(list, name);

	fprintf(out, "%s.%s\n", test->key, name);
	if (story) {
		print_head(out, "What is to hold");
		print_wrapped(out, 4, story);
	}
	print_sub_checks(list, name, out);
	print_image_story(spec, test, out);
	if (guards[0])
		print_guards(spec, guards, out);
	words_free(guards);
	print_verdicts(out);
	print_known(spec, test, list, name, out);
	print_command(test, name, out);
}

static void explain_test(const struct explain_spec *spec, const struct test *test,
			 const json_t *list, FILE *out)
{
	fprintf(out, "%s\n", test->key);
	print_image_story(spec, test, out);
	print_sub_checks(list, "", out);
	print_known(spec, test, list, "", out);
	print_command(test, NULL, out);
}

/* ---- finding it ------------------------------------------------------------------------------ */

/* The nearest name, and where the whole list is. */
static int no_such_check(const struct test *test, const json_t *list, const char *name,
			 struct error *err)
{
	struct text all = { 0 };
	const char *nearest;
	const json_t *check;
	char **names;
	size_t i;

	for (i = 0; (check = json_array_get(list, i)); i++)
		text_printf(&all, "%s\n", json_string_value(json_object_get(check, "name")));
	names = words_split(text_string(&all), "\n");
	nearest = text_nearest(name, (const char *const *)names);
	error_set(err, "%s has no check '%s'%s%s%s; --explain %s lists them", test->key, name,
		  nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "",
		  test->name);
	words_free(names);
	text_free(&all);
	return -1;
}

/* -1 with err set; 0 when it was explained. */
static int explain_one(const struct explain_spec *spec, const struct test *test, const char *check,
		       FILE *out, struct error *err)
{
	struct target target = { 0 };
	json_t *list = NULL;
	int result = 0;

	target_choose(&target, test->arch, spec->options);
	if (target.usable)
		list = check_list_ask(test, &target, spec->options, err);
	else
		error_set(err, "%s cannot be asked: %s", test->key, target.accel_reason);
	if (!list)
		result = -1;
	else if (!check)
		explain_test(spec, test, list, out);
	else if (check_list_find(list, check))
		explain_check(spec, test, list, check, out);
	else
		result = no_such_check(test, list, check, err);
	json_decref(list);
	target_free(&target);
	return result;
}

int explain(const struct explain_spec *spec, const char *what, FILE *out, struct error *err)
{
	const char *dot = strchr(what, '.');
	char *name = dot ? text_copy_bytes(what, dot - what) : text_copy(what);
	char *names[] = { name, NULL };
	struct options options = { .tests = names, .list = true };
	struct selection selection;
	size_t explained = 0;
	int result;

	result = select_tests(spec->config, &options, spec->archs, &selection, err);
	free(name);
	if (result)
		return -1;
	/* Where one architecture has no such check the other may; the last complaint stands. */
	for (size_t i = 0; i < selection.count; i++) {
		if (explained)
			fputs("\n", out);
		if (!explain_one(spec, selection.tests[i], dot ? dot + 1 : NULL, out, err))
			explained++;
	}
	selection_free(&selection);
	return explained ? 0 : -1;
}

/* ---- all of them ------------------------------------------------------------------------------ */

static void print_line(const struct test *test, const json_t *list, const char *name, FILE *out)
{
	const char *guards = check_list_field(list, name, "guards");
	const char *story = check_list_field(list, name, "text");

	fprintf(out, "%s.%s\t%s\t%s\n", test->key, name, guards ? guards : "", story ? story : "");
}

static int list_test(const struct explain_spec *spec, const struct test *test,
		     const struct target *target, FILE *out, struct error *err)
{
	const json_t *check;
	json_t *list;

	if (!target->usable)
		return error_set(err, "%s cannot be asked: %s", test->key, target->accel_reason);
	list = check_list_ask(test, target, spec->options, err);
	if (!list)
		return -1;
	for (size_t i = 0; (check = json_array_get(list, i)); i++)
		print_line(test, list, json_string_value(json_object_get(check, "name")), out);
	json_decref(list);
	return 0;
}

int explain_list(const struct explain_spec *spec, const struct selection *selection, FILE *out,
		 struct error *err)
{
	struct target targets[ARCH_COUNT] = { 0 };
	int result = 0;

	for (size_t i = 0; i < selection->count && !result; i++) {
		const struct test *test = selection->tests[i];
		struct target *target = &targets[test->arch];

		if (!target->vmm_path)
			target_choose(target, test->arch, spec->options);
		result = list_test(spec, test, target, out, err);
	}
	for (int arch = 0; arch < ARCH_COUNT; arch++)
		target_free(&targets[arch]);
	return result;
}
