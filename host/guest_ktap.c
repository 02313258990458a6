// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads KTAP version 1 (the kernel's Documentation/dev-tools/ktap.rst) from a source that is not
 * trusted: nothing counts that was not announced, is out of order or comes twice.
 */
#include "guest_ktap.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "protocol_fields.h"
#include "util/memory.h"
#include "util/printable.h"
#include "util/text.h"

/* Most that is kept of what is wrong. */
#define TROUBLE_MAX 1000

void guest_ktap_trouble(struct guest_ktap *k, const char *fmt, ...)
{
	struct text t = { 0 }, safe = { 0 };
	va_list args;

	if (k->trouble)
		return;
	va_start(args, fmt);
	text_vprintf(&t, fmt, args);
	va_end(args);
	text_append_printable(&safe, text_string(&t), MIN(t.len, TROUBLE_MAX), false);
	k->trouble = text_take(&safe);
	text_free(&t);
}

static void clear_diagnostics(struct guest_block *b)
{
	words_free(b->diagnostics);
	b->diagnostics = NULL;
	b->nr_diagnostics = 0;
}

static void open_block(struct guest_ktap *k, unsigned int level, const char *line)
{
	struct guest_block *b;

	if (strcmp(line, "KTAP version 1")) {
		guest_ktap_trouble(k, "it speaks '%s', the runner KTAP version 1", line);
		return;
	}
	if (level != k->depth) {
		guest_ktap_trouble(k,
				   level < k->depth
					   ? "a second KTAP version line %s"
					   : "a nested KTAP block without one around it %s",
				   k->position);
		return;
	}
	if (level > 0 && !k->blocks[level - 1].has_plan) {
		guest_ktap_trouble(k, "a nested KTAP block before the plan of the one around it");
		return;
	}
	b = &k->blocks[k->depth++];
	*b = (struct guest_block){ .first_check = k->result->nr_checks };
}

static void take_plan(struct guest_ktap *k, unsigned int level, const char *line)
{
	struct guest_block *b = &k->blocks[level];
	char count[24] = "";
	const char *rest;
	size_t len;
	u64 plan;

	if (level + 1 != k->depth) {
		guest_ktap_trouble(k, "a plan '%s' without a KTAP version line before it", line);
		return;
	}
	if (b->has_plan) {
		guest_ktap_trouble(k, "a second plan '%s' %s", line, k->position);
		return;
	}
	len = strspn(line + 3, "0123456789");
	rest = line + 3 + len;
	if (len < sizeof(count))
		memcpy(count, line + 3, len);
	if (text_to_u64(count, 0, GUEST_PLAN_MAX, &plan) ||
	    (*rest && (plan || !text_starts_with(rest, " # SKIP")))) {
		guest_ktap_trouble(k, "a plan that is none: '%s' (at most %d checks)", line,
				   GUEST_PLAN_MAX);
		return;
	}
	b->has_plan = true;
	b->plan = plan;
	if (*rest && level == 0) {
		free(k->skip_reason);
		rest += strlen(" # SKIP");
		k->skip_reason = printable(*rest ? rest + 1 : "the image has no checks to run");
	}
}

/* Puts the parent's name before those of the checks from first on. */
static void name_children(struct guest_ktap *k, size_t first, const char *parent)
{
	for (size_t i = first; i < k->result->nr_checks; i++) {
		struct check_result *check = &k->result->checks[i];
		char *name = text_format("%s/%s", parent, check->name);

		free(check->name);
		check->name = name;
	}
}

/* A nested block ends with its parent's verdict. */
static void close_block(struct guest_ktap *k, const char *parent)
{
	struct guest_block *b = &k->blocks[--k->depth];

	if (!b->has_plan || b->done != b->plan)
		guest_ktap_trouble(k, "%" PRIu64 " of %" PRIu64 " sub-checks of '%s' reported",
				   b->done, b->plan, parent);
	if (b->name && strcmp(b->name, parent))
		guest_ktap_trouble(k, "the sub-checks of '%s' end with the verdict of '%s'",
				   b->name, parent);
	name_children(k, b->first_check, parent);
	free(b->name);
	b->name = NULL;
	clear_diagnostics(b);
}

struct verdict_line {
	bool ok;
	u64 number;
	char name[128];
	enum verdict verdict;
	const char *reason; /* or NULL */
};

/* "SKIP why": the verdict that a directive and "ok" or "not ok" make together, or -1. */
static int directive(bool ok, const char *text, const char **reason)
{
	static const struct {
		const char *word;
		bool ok;
		enum verdict verdict;
	} table[] = {
		{ "SKIP", true, VERDICT_SKIP },
		{ "XFAIL", true, VERDICT_XFAIL },
		{ "TIMEOUT", false, VERDICT_TIMEOUT },
		{ "ERROR", false, VERDICT_ERROR },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		size_t len = strlen(table[i].word);

		if (strncmp(text, table[i].word, len) || (text[len] && text[len] != ' '))
			continue;
		*reason = text[len] ? text + len + 1 : NULL;
		return table[i].ok == ok ? (int)table[i].verdict : -1;
	}
	return -1;
}

static bool is_name(const char *s)
{
	return *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "-_.+")];
}

/* -1: not as it should be. */
static int parse_verdict(const char *line, struct verdict_line *v)
{
	char number[24] = "";
	const char *hash;
	size_t len;
	int verdict;

	v->ok = text_starts_with(line, "ok ");
	line += v->ok ? 3 : 7;
	len = strspn(line, "0123456789");
	if (len >= sizeof(number) || line[len] != ' ')
		return -1;
	memcpy(number, line, len);
	if (text_to_u64(number, 1, GUEST_PLAN_MAX, &v->number))
		return -1;
	line += len + 1;
	if (text_starts_with(line, "- "))
		line += 2;
	hash = strstr(line, " # ");
	len = hash ? (size_t)(hash - line) : strlen(line);
	if (len >= sizeof(v->name))
		return -1;
	memcpy(v->name, line, len);
	v->name[len] = '\0';
	if (!is_name(v->name))
		return -1;
	v->reason = NULL;
	verdict = hash ? directive(v->ok, hash + 3, &v->reason)
		       : (v->ok ? VERDICT_PASS : VERDICT_FAIL);
	v->verdict = verdict;
	return verdict < 0 ? -1 : 0;
}

/* Whether the block's verdicts so far hold one of that name. */
static bool is_taken(const struct guest_ktap *k, const struct guest_block *b, const char *name)
{
	for (size_t i = b->first_check; i < k->result->nr_checks; i++) {
		if (!strcmp(k->result->checks[i].name, name))
			return true;
	}
	return false;
}

/* A parent cannot be better than its sub-checks. */
static bool is_consistent(const struct guest_ktap *k, size_t first_child, enum verdict verdict)
{
	enum verdict worst = VERDICT_SKIP;

	for (size_t i = first_child; i < k->result->nr_checks; i++)
		worst = verdict_worse(worst, k->result->checks[i].verdict);
	return verdict >= worst;
}

/* Whether that is the check's name: in its block it still lacks those of its parents. */
static bool is_path_to(const char *path, const char *name)
{
	return path && text_ends_with(path, name) &&
	       (strlen(path) == strlen(name) || path[strlen(path) - strlen(name) - 1] == '/');
}

static void take_about(struct guest_ktap *k, struct check_result *check)
{
	u64 cpu;

	if (check->verdict >= VERDICT_FAIL &&
	    is_path_to(protocol_field(k->about, "name"), check->name)) {
		check->story = text_copy(protocol_field(k->about, "text"));
		check->guards = text_copy(protocol_field(k->about, "guards"));
		if (!protocol_field_u64(k->about, "cpu", &cpu) && cpu < k->result->test->smp)
			check->cpu = cpu;
	}
	json_decref(k->about);
	k->about = NULL;
}

void guest_ktap_about(struct guest_ktap *k, json_t *fields)
{
	json_decref(k->about);
	k->about = json_incref(fields);
}

static void add_check(struct guest_ktap *k, struct guest_block *b, const struct verdict_line *v,
		      bool has_children)
{
	struct check_result *check = test_result_add_check(k->result, v->name);

	check->verdict = v->verdict;
	check->raw = v->verdict;
	check->reason = printable(v->reason);
	check->has_children = has_children;
	check->diagnostics = b->diagnostics;
	b->diagnostics = NULL;
	b->nr_diagnostics = 0;
	take_about(k, check);
	snprintf(k->position, sizeof(k->position), "after check '%.100s'", v->name);
}

static void take_verdict(struct guest_ktap *k, unsigned int level, const char *line)
{
	struct guest_block *b = &k->blocks[level];
	bool has_children = level + 2 == k->depth;
	size_t first_child = k->blocks[level + 1].first_check;
	struct verdict_line v;

	if ((level + 1 != k->depth && !has_children) || !b->has_plan) {
		guest_ktap_trouble(k, "a verdict before its plan: '%s'", line);
		return;
	}
	if (parse_verdict(line, &v)) {
		guest_ktap_trouble(k, "a verdict line that is none: '%s'", line);
		return;
	}
	if (b->done == b->plan) {
		guest_ktap_trouble(k, "a verdict beyond its plan of %" PRIu64 ": '%s'", b->plan,
				   line);
		return;
	}
	if (v.number != b->done + 1) {
		guest_ktap_trouble(k, "verdict number %" PRIu64 " where %" PRIu64 " is due: '%s'",
				   v.number, b->done + 1, line);
		return;
	}
	if (has_children) {
		if (!is_consistent(k, first_child, v.verdict))
			guest_ktap_trouble(k, "the verdict of '%s' is better than its sub-checks'",
					   v.name);
		close_block(k, v.name);
	}
	if (is_taken(k, b, v.name))
		guest_ktap_trouble(k, "two checks of the name '%s'", v.name);
	b->done++;
	add_check(k, b, &v, has_children);
}

void guest_ktap_diagnostic(struct guest_ktap *k, unsigned int level, const char *text)
{
	struct guest_block *b;

	if (level >= k->depth)
		return; /* log */
	b = &k->blocks[level];
	if (level > 0 && !b->name && text_starts_with(text, "Subtest: ")) {
		b->name = printable(text + strlen("Subtest: "));
		return;
	}
	if (b->nr_diagnostics == GUEST_DIAGNOSTICS_MAX)
		return;
	b->diagnostics =
		memory_resize(b->diagnostics, b->nr_diagnostics + 2, sizeof(*b->diagnostics));
	b->diagnostics[b->nr_diagnostics++] = printable(text);
	b->diagnostics[b->nr_diagnostics] = NULL;
}

bool guest_ktap_is_line(const char *line)
{
	return text_starts_with(line, "ok ") || text_starts_with(line, "not ok ") ||
	       text_starts_with(line, "1..") || text_starts_with(line, "KTAP version ");
}

void guest_ktap_line(struct guest_ktap *k, unsigned int level, const char *line)
{
	if (level >= GUEST_DEPTH_MAX - 1)
		guest_ktap_trouble(k, "blocks nested deeper than %d: '%s'", GUEST_DEPTH_MAX - 1,
				   line);
	else if (text_starts_with(line, "KTAP"))
		open_block(k, level, line);
	else if (level >= k->depth)
		guest_ktap_trouble(k, "'%s' without a KTAP version line before it", line);
	else if (text_starts_with(line, "1.."))
		take_plan(k, level, line);
	else
		take_verdict(k, level, line);
}

void guest_ktap_finish(struct guest_ktap *k)
{
	/* Sub-checks whose parent never came keep the name of what was announced, if anything. */
	while (k->depth > 1) {
		struct guest_block *b = &k->blocks[k->depth - 1];

		name_children(k, b->first_check, b->name ? b->name : "unfinished");
		k->depth--;
	}
}

void guest_ktap_free(struct guest_ktap *k)
{
	for (unsigned int i = 0; i < GUEST_DEPTH_MAX; i++) {
		free(k->blocks[i].name);
		k->blocks[i].name = NULL;
		clear_diagnostics(&k->blocks[i]);
	}
	json_decref(k->about);
	free(k->skip_reason);
	free(k->trouble);
	k->about = NULL;
	k->skip_reason = NULL;
	k->trouble = NULL;
}
