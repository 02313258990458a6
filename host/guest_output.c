// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reader of a guest's console. It is strict, since what it reads decides verdicts and comes
 * from the subject: the first thing that is not as docs/protocol.md says makes the test an ERROR,
 * and reading goes on. Its memory is bounded by the size of the log.
 */
#include "guest_output.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "protocol.h"
#include "protocol_fields.h"
#include "util/memory.h"
#include "util/printable.h"
#include "util/text.h"

#define BACKTRACE_MAX 64

/* One KTAP block. */
struct block {
	bool has_plan;
	u64 plan, done;
	size_t first_check; /* index of its first check in the result */
	char *name;	    /* from "# Subtest: NAME", or NULL */
	char **diagnostics; /* for the next verdict, NULL-terminated, or NULL */
	size_t nr_diagnostics;
};

struct guest_output {
	struct test_result *result;
	const struct guest_output_events *events;
	void *ctx;
	char line[GUEST_LINE_MAX + 1];
	size_t len;
	bool too_long; /* this line: its rest is dropped */
	bool hello, ended, panicked;
	struct block blocks[GUEST_DEPTH_MAX];
	unsigned int depth; /* open blocks */
	char *skip_reason;  /* of a "1..0 # SKIP reason" plan */
	size_t nr_listed;   /* checks that it named instead of running them */
	u64 backtrace[BACKTRACE_MAX];
	size_t nr_backtrace;
	char *trouble; /* the first; NULL: none */
	char position[128];
};

static void trouble(struct guest_output *g, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void trouble(struct guest_output *g, const char *fmt, ...)
{
	struct text t = { 0 }, safe = { 0 };
	va_list args;

	if (g->trouble)
		return;
	va_start(args, fmt);
	text_vprintf(&t, fmt, args);
	va_end(args);
	text_append_printable(&safe, text_string(&t), MIN(t.len, 1000), false);
	g->trouble = text_take(&safe);
	text_free(&t);
}

/* ---- KTAP ------------------------------------------------------------------------------------ */

static void clear_diagnostics(struct block *b)
{
	words_free(b->diagnostics);
	b->diagnostics = NULL;
	b->nr_diagnostics = 0;
}

static void open_block(struct guest_output *g, unsigned int level, const char *line)
{
	struct block *b;

	if (strcmp(line, "KTAP version 1")) {
		trouble(g, "it speaks '%s', the runner KTAP version 1", line);
		return;
	}
	if (level != g->depth) {
		trouble(g,
			level < g->depth ? "a second KTAP version line %s"
					 : "a nested KTAP block without one around it %s",
			g->position);
		return;
	}
	if (level > 0 && !g->blocks[level - 1].has_plan) {
		trouble(g, "a nested KTAP block before the plan of the one around it");
		return;
	}
	b = &g->blocks[g->depth++];
	*b = (struct block){ .first_check = g->result->nr_checks };
}

static void take_plan(struct guest_output *g, unsigned int level, const char *line)
{
	struct block *b = &g->blocks[level];
	char count[24] = "";
	const char *rest;
	size_t len;
	u64 plan;

	if (level + 1 != g->depth) {
		trouble(g, "a plan '%s' without a KTAP version line before it", line);
		return;
	}
	if (b->has_plan) {
		trouble(g, "a second plan '%s' %s", line, g->position);
		return;
	}
	len = strspn(line + 3, "0123456789");
	rest = line + 3 + len;
	if (len < sizeof(count))
		memcpy(count, line + 3, len);
	if (text_to_u64(count, 0, GUEST_PLAN_MAX, &plan) ||
	    (*rest && (plan || !text_starts_with(rest, " # SKIP")))) {
		trouble(g, "a plan that is none: '%s' (at most %d checks)", line, GUEST_PLAN_MAX);
		return;
	}
	b->has_plan = true;
	b->plan = plan;
	if (*rest && level == 0) {
		free(g->skip_reason);
		rest += strlen(" # SKIP");
		g->skip_reason = printable(*rest ? rest + 1 : "the image has no checks to run");
	}
}

/* Puts the parent's name before those of the checks from first on. */
static void name_children(struct guest_output *g, size_t first, const char *parent)
{
	for (size_t i = first; i < g->result->nr_checks; i++) {
		struct check_result *check = &g->result->checks[i];
		char *name = text_format("%s/%s", parent, check->name);

		free(check->name);
		check->name = name;
	}
}

/* A nested block ends with its parent's verdict. */
static void close_block(struct guest_output *g, const char *parent)
{
	struct block *b = &g->blocks[--g->depth];

	if (!b->has_plan || b->done != b->plan)
		trouble(g, "%" PRIu64 " of %" PRIu64 " sub-checks of '%s' reported", b->done,
			b->plan, parent);
	if (b->name && strcmp(b->name, parent))
		trouble(g, "the sub-checks of '%s' end with the verdict of '%s'", b->name, parent);
	name_children(g, b->first_check, parent);
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
static bool is_taken(const struct guest_output *g, const struct block *b, const char *name)
{
	for (size_t i = b->first_check; i < g->result->nr_checks; i++) {
		if (!strcmp(g->result->checks[i].name, name))
			return true;
	}
	return false;
}

/* A parent cannot be better than its sub-checks. */
static bool is_consistent(const struct guest_output *g, size_t first_child, enum verdict verdict)
{
	enum verdict worst = VERDICT_SKIP;

	for (size_t i = first_child; i < g->result->nr_checks; i++)
		worst = verdict_worse(worst, g->result->checks[i].verdict);
	return verdict >= worst;
}

static void add_check(struct guest_output *g, struct block *b, const struct verdict_line *v,
		      bool has_children)
{
	struct check_result *check = test_result_add_check(g->result, v->name);

	check->verdict = v->verdict;
	check->raw = v->verdict;
	check->reason = printable(v->reason);
	check->has_children = has_children;
	check->diagnostics = b->diagnostics;
	b->diagnostics = NULL;
	b->nr_diagnostics = 0;
	snprintf(g->position, sizeof(g->position), "after check '%.100s'", v->name);
}

static void take_verdict(struct guest_output *g, unsigned int level, const char *line)
{
	struct block *b = &g->blocks[level];
	bool has_children = level + 2 == g->depth;
	size_t first_child = g->blocks[level + 1].first_check;
	struct verdict_line v;

	if ((level + 1 != g->depth && !has_children) || !b->has_plan) {
		trouble(g, "a verdict before its plan: '%s'", line);
		return;
	}
	if (parse_verdict(line, &v)) {
		trouble(g, "a verdict line that is none: '%s'", line);
		return;
	}
	if (b->done == b->plan) {
		trouble(g, "a verdict beyond its plan of %" PRIu64 ": '%s'", b->plan, line);
		return;
	}
	if (v.number != b->done + 1) {
		trouble(g, "verdict number %" PRIu64 " where %" PRIu64 " is due: '%s'", v.number,
			b->done + 1, line);
		return;
	}
	if (has_children) {
		if (!is_consistent(g, first_child, v.verdict))
			trouble(g, "the verdict of '%s' is better than its sub-checks'", v.name);
		close_block(g, v.name);
	}
	if (is_taken(g, b, v.name))
		trouble(g, "two checks of the name '%s'", v.name);
	b->done++;
	add_check(g, b, &v, has_children);
}

static void take_diagnostic(struct guest_output *g, unsigned int level, const char *text)
{
	struct block *b = &g->blocks[level];

	if (level >= g->depth)
		return; /* log */
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

/* ---- protocol lines -------------------------------------------------------------------------- */

static void take_hello(struct guest_output *g, const json_t *fields)
{
	const struct test *test = g->result->test;
	const char *arch = protocol_field(fields, "arch");
	const char *image = protocol_field(fields, "image");
	u64 version;

	if (g->hello) {
		trouble(g, "the image began again %s: the machine was reset", g->position);
		return;
	}
	g->hello = true;
	snprintf(g->position, sizeof(g->position), "before its first check");
	if (protocol_field_u64(fields, "version", &version) || !arch || !image)
		trouble(g, "a hello line without version, arch or image");
	else if (version != PROTO_VERSION)
		trouble(g, "the image speaks version %" PRIu64 " of the protocol, the runner %d",
			version, PROTO_VERSION);
	else if (strcmp(arch, arch_to_name(test->arch)))
		trouble(g, "the image is for %s, the test for %s", arch, arch_to_name(test->arch));
	else if (strcmp(image, test->image))
		trouble(g, "the image calls itself '%s', the test's is '%s'", image, test->image);
	g->events->hello(g->ctx);
}

static void take_measure(struct guest_output *g, const json_t *fields)
{
	if (!protocol_field(fields, "name")) {
		trouble(g, "a measurement without a name %s", g->position);
		return;
	}
	json_array_append_new(g->result->measurements, protocol_fields_to_numbers(fields));
}

static void take_backtrace(struct guest_output *g, const json_t *fields)
{
	const char *list = protocol_field(fields, "pc");
	char **words = words_split(list ? list : "", ",");

	g->nr_backtrace = 0;
	for (size_t i = 0; words[i] && g->nr_backtrace < BACKTRACE_MAX; i++)
		g->backtrace[g->nr_backtrace++] = strtoull(words[i], NULL, 16);
	words_free(words);
	if (g->panicked)
		g->events->panic(g->ctx, true);
}

static void take_panic(struct guest_output *g, const json_t *fields)
{
	const char *text = protocol_field(fields, "text");

	trouble(g, "panic %s: %s", g->position, text ? text : "(no text)");
	if (g->panicked)
		return;
	g->panicked = true;
	g->events->panic(g->ctx, g->nr_backtrace > 0);
}

/* The image's own count has to agree with what came over the console; parents do not count. */
static void take_end(struct guest_output *g, const json_t *fields)
{
	u64 checks, failed, counted = 0, counted_failed = 0;

	for (size_t i = 0; i < g->result->nr_checks; i++) {
		const struct check_result *check = &g->result->checks[i];

		counted += !check->has_children;
		counted_failed += !check->has_children && check->verdict >= VERDICT_FAIL;
	}
	if (protocol_field_u64(fields, "checks", &checks) ||
	    protocol_field_u64(fields, "failed", &failed))
		trouble(g, "an end line without the numbers of checks and failed ones");
	else if (checks != counted || failed != counted_failed)
		trouble(g,
			"%" PRIu64 " checks arrived, %" PRIu64
			" of them failed; the image counts %" PRIu64 " and %" PRIu64,
			counted, counted_failed, checks, failed);
	g->ended = true;
	g->events->end(g->ctx);
}

static void take_protocol_line(struct guest_output *g, const char *line)
{
	size_t len = strcspn(line, " ");
	json_t *fields;

	if (strlen(line) + strlen(PROTO_PREFIX) > PROTO_LINE_MAX)
		return;
	fields = protocol_fields_parse(line + len);
#define IS(word) (len == strlen(word) && !strncmp(line, word, len))
	if (IS(PROTO_HELLO))
		take_hello(g, fields);
	else if (IS(PROTO_PANIC))
		take_panic(g, fields);
	else if (IS(PROTO_BACKTRACE))
		take_backtrace(g, fields);
	else if (IS(PROTO_MEASURE))
		take_measure(g, fields);
	else if (IS(PROTO_CALL))
		g->events->call(g->ctx, fields);
	else if (IS(PROTO_CHECK))
		g->nr_listed++;
	else if (IS(PROTO_END))
		take_end(g, fields);
#undef IS
	json_decref(fields);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool is_ktap(const char *line)
{
	return text_starts_with(line, "ok ") || text_starts_with(line, "not ok ") ||
	       text_starts_with(line, "1..") || text_starts_with(line, "KTAP version ");
}

static void take_ktap_line(struct guest_output *g, unsigned int level, const char *line)
{
	if (!g->hello)
		trouble(g, "'%s' before the hello line", line);
	else if (level >= GUEST_DEPTH_MAX - 1)
		trouble(g, "blocks nested deeper than %d: '%s'", GUEST_DEPTH_MAX - 1, line);
	else if (text_starts_with(line, "KTAP"))
		open_block(g, level, line);
	else if (level >= g->depth)
		trouble(g, "'%s' without a KTAP version line before it", line);
	else if (text_starts_with(line, "1.."))
		take_plan(g, level, line);
	else
		take_verdict(g, level, line);
}

static void take_line(struct guest_output *g)
{
	size_t indent = strspn(g->line, " ");
	const char *line = g->line + indent;

	/* A NUL inside is no part of any line that means something. */
	if (strlen(g->line) != g->len)
		return;
	if (!indent && text_starts_with(line, PROTO_PREFIX))
		take_protocol_line(g, line + strlen(PROTO_PREFIX));
	else if (indent % 4)
		return; /* log */
	else if (is_ktap(line))
		take_ktap_line(g, indent / 4, line);
	else if (text_starts_with(line, "# ") && indent / 4 < GUEST_DEPTH_MAX)
		take_diagnostic(g, indent / 4, line + 2);
}

void guest_output_feed(struct guest_output *g, const char *data, size_t len)
{
	while (len > 0 && !g->ended) {
		const char *newline = memchr(data, '\n', len);
		size_t part = newline ? (size_t)(newline - data) : len;

		if (part > GUEST_LINE_MAX - g->len)
			g->too_long = true;
		else
			memcpy(g->line + g->len, data, part);
		g->len = g->too_long ? 0 : g->len + part;
		data += part + !!newline;
		len -= part + !!newline;
		if (!newline)
			return;
		if (g->len && g->line[g->len - 1] == '\r')
			g->len--;
		g->line[g->len] = '\0';
		if (!g->too_long)
			take_line(g);
		g->len = 0;
		g->too_long = false;
	}
}

/* ---- life ------------------------------------------------------------------------------------ */

struct guest_output *guest_output_new(struct test_result *result,
				      const struct guest_output_events *events, void *ctx)
{
	struct guest_output *g = memory_zalloc(sizeof(*g));

	g->result = result;
	g->events = events;
	g->ctx = ctx;
	snprintf(g->position, sizeof(g->position), "before its hello line");
	return g;
}

/* What is missing from a guest's output that was stopped by nobody. */
static void find_missing(struct guest_output *g, const char *why)
{
	const struct block *b = &g->blocks[0];

	if (why)
		trouble(g, "%s (%s)", why, g->position);
	if (!g->hello)
		trouble(g, "no hello line: the image did not start, or is none of this suite's");
	if (g->ended && !g->depth && g->nr_listed) {
		g->skip_reason = text_format("the image listed its %zu checks", g->nr_listed);
		return;
	}
	if (!g->depth || !b->has_plan)
		trouble(g, "no plan: the image never said how many checks it has");
	if (b->done != b->plan)
		trouble(g, "%" PRIu64 " of %" PRIu64 " checks reported", b->done, b->plan);
	if (!g->ended)
		trouble(g, "no end line %s", g->position);
}

void guest_output_finish(struct guest_output *g, const char *why)
{
	struct test_result *r = g->result;

	/* Sub-checks whose parent never came keep the name of what was announced, if anything. */
	while (g->depth > 1) {
		struct block *b = &g->blocks[g->depth - 1];

		name_children(g, b->first_check, b->name ? b->name : "unfinished");
		clear_diagnostics(b);
		free(b->name);
		b->name = NULL;
		g->depth--;
	}
	if (r->verdict < VERDICT_TIMEOUT)
		find_missing(g, why);
	if (g->trouble) {
		r->verdict = VERDICT_ERROR;
		r->raw = VERDICT_ERROR;
		free(r->reason);
		r->reason = g->trouble;
		g->trouble = NULL;
	} else if (g->skip_reason && !r->reason) {
		r->reason = g->skip_reason;
		g->skip_reason = NULL;
	}
}

void guest_output_free(struct guest_output *g)
{
	if (!g)
		return;
	for (unsigned int i = 0; i < GUEST_DEPTH_MAX; i++) {
		free(g->blocks[i].name);
		clear_diagnostics(&g->blocks[i]);
	}
	free(g->skip_reason);
	free(g->trouble);
	free(g);
}

bool guest_output_ended(const struct guest_output *g)
{
	return g->ended;
}

bool guest_output_said_hello(const struct guest_output *g)
{
	return g->hello;
}

const char *guest_output_position(const struct guest_output *g)
{
	return g->position;
}

const u64 *guest_output_backtrace(const struct guest_output *g, size_t *count)
{
	*count = g->nr_backtrace;
	return g->backtrace;
}
