// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reader of a guest's console. It is strict, since what it reads decides verdicts and comes
 * from the subject: the first thing that is not as docs/protocol.md says makes the test an ERROR,
 * and reading goes on. Its memory is bounded by the size of the log.
 */
#include "guest_output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "guest_ktap.h"
#include "protocol.h"
#include "protocol_fields.h"
#include "util/memory.h"
#include "util/printable.h"
#include "util/text.h"

#define BACKTRACE_MAX 64

struct guest_output {
	struct test_result *result;
	const struct guest_output_events *events;
	void *ctx;
	struct guest_ktap ktap;
	char line[GUEST_LINE_MAX + 1];
	size_t len;
	bool too_long; /* this line: its rest is dropped */
	bool hello, ended, panicked;
	bool reset_expected;
	u64 backtrace[BACKTRACE_MAX];
	size_t nr_backtrace;
};

/* The first thing that is wrong counts. */
#define trouble(g, ...) guest_ktap_trouble(&(g)->ktap, __VA_ARGS__)

/* ---- protocol lines -------------------------------------------------------------------------- */

static void take_hello(struct guest_output *g, const json_t *fields)
{
	const struct test *test = g->result->test;
	const char *arch = protocol_field(fields, "arch");
	const char *image = protocol_field(fields, "image");
	u64 version;

	if (g->hello && g->reset_expected && !g->ktap.depth) {
		g->reset_expected = false;
		return;
	}
	if (g->hello) {
		trouble(g, "the image began again %s: the machine was reset", g->ktap.position);
		return;
	}
	g->hello = true;
	snprintf(g->ktap.position, sizeof(g->ktap.position), "before its first check");
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
		trouble(g, "a measurement without a name %s", g->ktap.position);
		return;
	}
	json_array_append_new(g->result->measurements, protocol_fields_to_numbers(fields));
}

/* The answer to list-checks, or what is to be told of a check that failed. */
static void take_check(struct guest_output *g, json_t *fields)
{
	json_array_append(g->result->listed, fields);
	guest_ktap_about(&g->ktap, fields);
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

	trouble(g, "panic %s: %s", g->ktap.position, text ? text : "(no text)");
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
		take_check(g, fields);
	else if (IS(PROTO_END))
		take_end(g, fields);
#undef IS
	json_decref(fields);
}

/* ---- lines ----------------------------------------------------------------------------------- */

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
	else if (guest_ktap_is_line(line) && !g->hello)
		trouble(g, "'%s' before the hello line", line);
	else if (guest_ktap_is_line(line))
		guest_ktap_line(&g->ktap, indent / 4, line);
	else if (text_starts_with(line, "# "))
		guest_ktap_diagnostic(&g->ktap, indent / 4, line + 2);
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

void guest_output_expect_reset(struct guest_output *g, bool expected)
{
	g->reset_expected = expected;
	if (expected) {
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
	g->ktap.result = result;
	snprintf(g->ktap.position, sizeof(g->ktap.position), "before its hello line");
	return g;
}

/* What is missing from a guest's output that was stopped by nobody. */
static void find_missing(struct guest_output *g, const char *why)
{
	struct guest_ktap *k = &g->ktap;
	const struct guest_block *b = &k->blocks[0];

	if (why)
		trouble(g, "%s (%s)", why, k->position);
	if (!g->hello)
		trouble(g, "no hello line: the image did not start, or is none of this suite's");
	if (g->ended && !k->depth && json_array_size(g->result->listed)) {
		k->skip_reason = text_format("the image listed its %zu checks",
					     json_array_size(g->result->listed));
		return;
	}
	if (!k->depth || !b->has_plan)
		trouble(g, "no plan: the image never said how many checks it has");
	if (b->done != b->plan)
		trouble(g, "%" PRIu64 " of %" PRIu64 " checks reported", b->done, b->plan);
	if (!g->ended)
		trouble(g, "no end line %s", k->position);
}

/* Moves a string. */
static char *take(char **s)
{
	char *taken = *s;

	*s = NULL;
	return taken;
}

void guest_output_finish(struct guest_output *g, const char *why)
{
	struct test_result *r = g->result;

	guest_ktap_finish(&g->ktap);
	if (r->verdict < VERDICT_TIMEOUT)
		find_missing(g, why);
	if (g->ktap.trouble) {
		r->verdict = VERDICT_ERROR;
		r->raw = VERDICT_ERROR;
		free(r->reason);
		r->reason = take(&g->ktap.trouble);
	} else if (g->ktap.skip_reason && !r->reason) {
		r->reason = take(&g->ktap.skip_reason);
	}
}

void guest_output_free(struct guest_output *g)
{
	if (!g)
		return;
	guest_ktap_free(&g->ktap);
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
	return g->ktap.position;
}

const u64 *guest_output_backtrace(const struct guest_output *g, size_t *count)
{
	*count = g->nr_backtrace;
	return g->backtrace;
}
