// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes KTAP. A nested block is indented by four spaces, as KUnit does.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "ktap.h"
#include "record.h"
#include "util/memory.h"
#include "verdict.h"

#define INDENT 4

/* One line's worth: no control characters, and in a name no '#', which would begin a directive. */
static void append_clean(struct text *out, const char *s, bool is_name)
{
	for (; *s; s++) {
		if (*s == '\n' || *s == '\t')
			text_append_char(out, ' ');
		else if (iscntrl((unsigned char)*s))
			text_printf(out, "\\x%02x", (unsigned char)*s);
		else if (is_name && *s == '#')
			text_append(out, "\\#");
		else
			text_append_char(out, *s);
	}
}

static void append_indent(struct text *out, unsigned depth)
{
	for (unsigned i = 0; i < depth * INDENT; i++)
		text_append_char(out, ' ');
}

/* A diagnostic for every line of the text. */
static void append_diagnostics(struct text *out, unsigned depth, const char *label, const char *s)
{
	char **lines = words_split(s, "\n");

	for (size_t i = 0; lines[i]; i++) {
		append_indent(out, depth);
		text_append(out, "# ");
		text_append(out, label);
		append_clean(out, lines[i], false);
		text_append_char(out, '\n');
	}
	words_free(lines);
}

/* What the check is about; not the command to run it again, which differs from run to run. */
static void append_failure(struct text *out, unsigned depth, const json_t *check)
{
	struct failure failure = failure_of_record(NULL, NULL, check);
	struct text lines = { 0 };

	failure_describe(&lines, "", &failure);
	append_diagnostics(out, depth, "", text_string(&lines));
	text_free(&lines);
}

static void append_unexpected_pass(struct text *out, unsigned depth, const json_t *object)
{
	const json_t *expected = json_object_get(object, "expected");
	char *text;

	if (!record_flag(object, "unexpected_pass") || !expected)
		return;
	text = text_format("unexpected pass: %s:%lld says %s: %s", record_string(expected, "file"),
			   (long long)json_integer_value(json_object_get(expected, "line")),
			   record_string(expected, "verdict"), record_string(expected, "reason"));
	append_diagnostics(out, depth, "", text);
	free(text);
}

static const char *result_word(enum verdict verdict)
{
	return verdict >= VERDICT_FAIL ? "not ok" : "ok";
}

static void append_directive(struct text *out, const json_t *object)
{
	static const char *const directives[VERDICT_COUNT] = {
		[VERDICT_SKIP] = "SKIP",
		[VERDICT_XFAIL] = "XFAIL",
		[VERDICT_TIMEOUT] = "TIMEOUT",
		[VERDICT_ERROR] = "ERROR",
	};
	const char *directive = directives[record_verdict(object)];
	const char *reason = record_text(object, "reason");

	if (!directive)
		return;
	text_printf(out, " # %s", directive);
	if (reason) {
		text_append_char(out, ' ');
		append_clean(out, reason, false);
	}
}

/* Diagnostics hold measured values: they are shown where they explain a verdict. */
static void append_check(struct text *out, unsigned depth, size_t number, const json_t *check,
			 size_t skip)
{
	enum verdict verdict = record_verdict(check);
	const json_t *lines = json_object_get(check, "diagnostics");

	append_unexpected_pass(out, depth, check);
	for (size_t i = 0; verdict >= VERDICT_FAIL && i < json_array_size(lines); i++) {
		const char *line = json_string_value(json_array_get(lines, i));

		if (line)
			append_diagnostics(out, depth, "", line);
	}
	if (verdict >= VERDICT_FAIL)
		append_failure(out, depth, check);
	append_indent(out, depth);
	text_printf(out, "%s %zu ", result_word(verdict), number);
	append_clean(out, record_text(check, "name") + skip, true);
	append_directive(out, check);
	text_append_char(out, '\n');
}

static bool is_sub_check(const json_t *check, const json_t *parent)
{
	const char *name = record_text(parent, "name");
	size_t len = strlen(name);

	return !strncmp(record_text(check, "name"), name, len) &&
	       record_text(check, "name")[len] == '/';
}

/* Index of the first sub-check of the check at "at", itself when it has none; not below begin. */
static size_t first_sub_check(const json_t *checks, size_t begin, size_t at)
{
	const json_t *parent = json_array_get(checks, at);
	size_t first = at;

	if (!record_flag(parent, "has_sub_checks"))
		return at;
	while (first > begin && is_sub_check(json_array_get(checks, first - 1), parent))
		first--;
	return first;
}

/*
 * The checks in [begin, end) as one block; sub-checks stand before their parent. skip: how much of
 * a name is the parents'.
 */
static void append_block(struct text *out, unsigned depth, const json_t *checks, size_t begin,
			 size_t end, size_t skip)
{
	/* Found from the end, since a parent comes last; starts[] is where each one's group begins. */
	size_t *starts = memory_zalloc((end - begin + 1) * sizeof(*starts));
	size_t count = 0, at = end;

	while (at > begin) {
		at = first_sub_check(checks, begin, at - 1);
		starts[count++] = at;
	}
	append_indent(out, depth);
	text_append(out, "KTAP version 1\n");
	append_indent(out, depth);
	text_printf(out, "1..%zu\n", count);
	for (size_t i = count; i--;) {
		size_t own = (i ? starts[i - 1] : end) - 1;
		const json_t *check = json_array_get(checks, own);

		if (starts[i] < own)
			append_block(out, depth + 1, checks, starts[i], own,
				     strlen(record_text(check, "name")) + 1);
		append_check(out, depth, count - i, check, skip);
	}
	free(starts);
}

void ktap_test_make(struct ktap_test *t, const json_t *record)
{
	const json_t *checks = json_object_get(record, "checks");
	long long repetition = json_integer_value(json_object_get(record, "repetition"));
	enum verdict verdict = record_verdict(record);
	struct text before = { 0 }, rest = { 0 };

	if (json_array_size(checks))
		append_block(&before, 1, checks, 0, json_array_size(checks), 0);
	append_unexpected_pass(&before, 0, record);
	if (verdict >= VERDICT_FAIL) {
		if (record_text(record, "backtrace"))
			append_diagnostics(&before, 0,
					   "backtrace: ", record_text(record, "backtrace"));
		if (record_text(record, "log"))
			append_diagnostics(&before, 0, "log: ", record_text(record, "log"));
	}
	append_clean(&rest, record_text(record, "key"), true);
	if (repetition > 1)
		text_printf(&rest, " repetition %lld", repetition);
	append_directive(&rest, record);
	t->before = text_take(&before);
	t->result = text_copy(result_word(verdict));
	t->rest = text_take(&rest);
}

void ktap_test_free(struct ktap_test *t)
{
	free(t->before);
	free(t->result);
	free(t->rest);
	*t = (struct ktap_test){ 0 };
}

void ktap_begin(struct text *out, size_t planned)
{
	text_printf(out, "KTAP version 1\n1..%zu\n", planned);
}

void ktap_add(struct text *out, size_t number, const struct ktap_test *t)
{
	text_printf(out, "%s%s %zu %s\n", t->before, t->result, number, t->rest);
}

void ktap_end(struct text *out, size_t planned, size_t ran, const unsigned *by_verdict,
	      unsigned unexpected_passes)
{
	if (ran < planned)
		text_printf(out, "# the run was cut short: %zu of %zu tests have no result\n",
			    planned - ran, planned);
	text_printf(out, "# Totals: pass:%u fail:%u xfail:%u xpass:%u skip:%u error:%u\n",
		    by_verdict[VERDICT_PASS], by_verdict[VERDICT_FAIL], by_verdict[VERDICT_XFAIL],
		    unexpected_passes, by_verdict[VERDICT_SKIP],
		    by_verdict[VERDICT_TIMEOUT] + by_verdict[VERDICT_ERROR]);
}
