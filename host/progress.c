// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the report. A reader of stdout that goes away does not end the run.
 */
#include "progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "failure.h"
#include "util/memory.h"
#include "util/printable.h"
#include "util/text.h"

struct progress {
	bool quiet;
	bool verbose;
	bool is_terminal;
	bool colours;
	bool running_shown; /* the terminal's last line is the one of progress_running() */
	const char *results_dir;
	const char *rerun; /* options to run a test again */
	size_t planned, done;
};

/* Select Graphic Rendition, ECMA-48 8.3.117. */
#define RED    "31"
#define GREEN  "32"
#define YELLOW "33"
#define BOLD   "1"

static const struct {
	const char *word;
	const char *colour;
} words[VERDICT_COUNT] = {
	[VERDICT_SKIP] = { "SKIP", YELLOW },	[VERDICT_PASS] = { "PASS", GREEN },
	[VERDICT_XFAIL] = { "XFAIL", GREEN },	[VERDICT_FAIL] = { "FAIL", RED },
	[VERDICT_TIMEOUT] = { "TIMEOUT", RED }, [VERDICT_ERROR] = { "ERROR", RED },
};

struct progress *progress_new(const struct options *o, const char *results_dir, size_t planned)
{
	struct progress *p = memory_zalloc(sizeof(*p));
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	p->quiet = o->ktap || o->stream;
	p->verbose = o->verbose;
	p->is_terminal = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb");
	p->colours = p->is_terminal && !(no_color && *no_color);
	p->results_dir = results_dir;
	p->rerun = text_string(&o->rerun);
	p->planned = planned;
	return p;
}

void progress_free(struct progress *p)
{
	free(p);
}

/* ---- output ---------------------------------------------------------------------------------- */

static void clear_running(struct progress *p)
{
	if (p->running_shown)
		fputs("\r\033[K", stdout);
	p->running_shown = false;
}

/* All of it at once, so that what another program prints does not come between. */
static void print(struct progress *p, const struct text *t)
{
	clear_running(p);
	fwrite(text_string(t), 1, t->len, stdout);
	fflush(stdout);
	clearerr(stdout);
}

static void add_coloured(const struct progress *p, struct text *t, const char *colour,
			 const char *word, int width)
{
	if (p->colours)
		text_printf(t, "\033[%sm%s\033[0m%*s", colour, word,
			    MAX(width - (int)strlen(word), 0), "");
	else
		text_printf(t, "%-*s", width, word);
}

/* Every line of it behind an indent. */
static void add_indented(struct text *t, const char *indent, const char *lines)
{
	while (*lines) {
		size_t len = strcspn(lines, "\n");

		text_append(t, indent);
		text_append_bytes(t, lines, len);
		text_append_char(t, '\n');
		lines += len + (lines[len] == '\n');
	}
}

static void add_section(struct text *t, const char *title, const char *lines)
{
	if (!lines || !*lines)
		return;
	text_printf(t, "    %s:\n", title);
	add_indented(t, "      ", lines);
}

/* ---- header ---------------------------------------------------------------------------------- */

void progress_target(struct progress *p, const struct target *target)
{
	const struct vmm_probe *probe = &target->probe;
	struct text t = { 0 };

	if (p->quiet)
		return;
	text_printf(&t, "%-6s  %s %s", arch_to_name(target->arch), target->backend->name,
		    probe->version);
	text_printf(&t, "  %s (%s)", accel_to_name(target->accel), target->accel_reason);
	if (target->usable)
		text_printf(&t, "  CPU %s%s%s", probe->cpu, *probe->firmware ? ", " : "",
			    probe->firmware);
	else
		text_append(&t, "  cannot be used: its tests are errors");
	text_append_char(&t, '\n');
	if (target->usable && *probe->detail)
		text_printf(&t, "        %s\n", probe->detail);
	print(p, &t);
	text_free(&t);
}

/* ---- while it runs --------------------------------------------------------------------------- */

static int terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return 80;
	return size.ws_col;
}

void progress_running(struct progress *p, const char *const *keys, size_t count)
{
	struct text t = { 0 };
	int columns;

	if (p->quiet || !p->is_terminal)
		return;
	clear_running(p);
	if (!count) {
		fflush(stdout);
		return;
	}
	text_printf(&t, "[%zu/%zu] running:", p->done, p->planned);
	for (size_t i = 0; i < count; i++)
		text_printf(&t, "%s %s", i ? "," : "", keys[i]);
	columns = terminal_columns();
	printf("%.*s", columns - 1, text_string(&t));
	fflush(stdout);
	p->running_shown = true;
	text_free(&t);
}

/* ---- results --------------------------------------------------------------------------------- */

/* A result that comes out of a kernel's machine has no entry: its record has. */
static void add_unexpected_pass(struct text *t, const char *indent, const struct expectation *e,
				const char *expects)
{
	if (e)
		text_printf(t, "%spassed, but %s:%u expects %s (%s)\n", indent, e->file, e->line,
			    expects, e->reason);
	else
		text_printf(t, "%spassed, but an entry of expected/ says it fails: results.json\n",
			    indent);
}

static void add_check(const struct progress *p, struct text *t, const struct test_result *r,
		      const struct check_result *c)
{
	text_append(t, "    ");
	add_coloured(p, t, words[c->verdict].colour, words[c->verdict].word, 0);
	text_printf(t, " %s%s%s\n", c->name, c->reason ? ": " : "", c->reason ? c->reason : "");
	if (c->unexpected_pass)
		add_unexpected_pass(t, "      ", c->expectation, "it to fail");
	for (size_t i = 0; c->diagnostics && c->diagnostics[i]; i++)
		text_printf(t, "      # %s\n", c->diagnostics[i]);
	if (c->verdict >= VERDICT_FAIL && !c->has_children) {
		struct failure failure = failure_of_result(p->rerun, r, c);

		failure_describe(t, "      ", &failure);
	}
}

/* Names in such a line; -v shows every check. */
#define KNOWN_NAMES_MAX 4

/* What was skipped or failed as expected, one line a reason. */
static void add_known(const struct progress *p, struct text *t, const struct test_result *r,
		      enum verdict verdict)
{
	bool *done = memory_zalloc(r->nr_checks + 1);

	for (size_t i = 0; i < r->nr_checks; i++) {
		const char *reason = r->checks[i].reason ? r->checks[i].reason : "no reason given";
		unsigned int names = 0;

		if (done[i] || r->checks[i].verdict != verdict || r->checks[i].has_children)
			continue;
		text_append(t, "    ");
		add_coloured(p, t, words[verdict].colour, words[verdict].word, 0);
		for (size_t j = i; j < r->nr_checks; j++) {
			const struct check_result *c = &r->checks[j];

			if (c->verdict != verdict || c->has_children ||
			    strcmp(c->reason ? c->reason : "no reason given", reason))
				continue;
			done[j] = true;
			if (++names <= KNOWN_NAMES_MAX)
				text_printf(t, "%s %s", j == i ? "" : ",", c->name);
		}
		if (names > KNOWN_NAMES_MAX)
			text_printf(t, " and %u more", names - KNOWN_NAMES_MAX);
		text_printf(t, ": %s\n", reason);
	}
	free(done);
}

/* Only what has to be read, or everything with -v. */
static void add_checks(const struct progress *p, struct text *t, const struct test_result *r)
{
	for (size_t i = 0; i < r->nr_checks; i++) {
		const struct check_result *c = &r->checks[i];
		bool bad = c->verdict >= VERDICT_FAIL || c->unexpected_pass;

		/* A parent says nothing that its sub-checks do not. */
		if (p->verbose || (bad && !c->has_children))
			add_check(p, t, r, c);
	}
	if (p->verbose)
		return;
	add_known(p, t, r, VERDICT_XFAIL);
	if (r->verdict != VERDICT_SKIP)
		add_known(p, t, r, VERDICT_SKIP);
}

/* Whether the test's reason is that of a check which is shown anyway. */
static bool is_reason_of_check(const struct test_result *r)
{
	for (size_t i = 0; i < r->nr_checks && r->verdict != VERDICT_SKIP; i++) {
		const struct check_result *c = &r->checks[i];

		if (c->verdict == r->verdict && c->reason && text_starts_with(r->reason, c->name) &&
		    text_ends_with(r->reason, c->reason))
			return true;
	}
	return false;
}

static void add_counts(struct text *t, const struct test_result *r)
{
	unsigned int by[VERDICT_COUNT] = { 0 }, total = 0;
	static const char *const names[VERDICT_COUNT] = {
		[VERDICT_SKIP] = "skipped",   [VERDICT_XFAIL] = "failed as expected",
		[VERDICT_FAIL] = "failed",    [VERDICT_TIMEOUT] = "timed out",
		[VERDICT_ERROR] = "in error",
	};

	for (size_t i = 0; i < r->nr_checks; i++) {
		if (r->checks[i].has_children)
			continue;
		by[r->checks[i].verdict]++;
		total++;
	}
	text_printf(t, "%3u check%s", total, total == 1 ? "" : "s");
	for (int v = 0; v < VERDICT_COUNT; v++) {
		if (names[v] && by[v])
			text_printf(t, ", %u %s", by[v], names[v]);
	}
}

static void add_first_line(const struct progress *p, struct text *t, const struct test_result *r)
{
	struct text name = { 0 }, counts = { 0 };

	add_coloured(p, t, words[r->verdict].colour, words[r->verdict].word, 8);
	text_append(&name, r->test->key);
	if (r->repetition > 1)
		text_printf(&name, " (%u)", r->repetition);
	text_printf(t, " %-28s ", text_string(&name));
	text_free(&name);
	if (r->nr_checks)
		add_counts(&counts, r);
	else
		text_append(&counts, " no checks");
	text_printf(t, "%-10s  %.1f s\n", text_string(&counts), r->duration_ns / 1e9);
	text_free(&counts);
}

void progress_result(struct progress *p, const struct test_result *r)
{
	bool bad = r->verdict >= VERDICT_FAIL;
	bool broken = r->verdict >= VERDICT_TIMEOUT;
	struct text t = { 0 };

	p->done++;
	if (p->quiet)
		return;
	add_first_line(p, &t, r);
	if (r->reason && !is_reason_of_check(r))
		add_indented(&t, "    ", r->reason);
	if (r->unexpected_pass)
		add_unexpected_pass(&t, "    ", r->expectation,
				    r->expectation ? verdict_name(r->expectation->verdict) : NULL);
	add_checks(p, &t, r);
	if (broken) {
		add_section(&t, "backtrace", r->backtrace);
		add_section(&t, "end of the log", r->log_tail);
	}
	if (broken || p->verbose)
		add_section(&t, "the VMM's stderr", r->vmm_stderr);
	if (broken || p->verbose)
		add_section(&t, "command", r->command);
	if ((bad || p->verbose) && r->log)
		text_printf(&t, "    log: %s/%s\n", p->results_dir, r->log);
	print(p, &t);
	text_free(&t);
}

void progress_note(struct progress *p, const char *note)
{
	struct text t = { 0 };

	if (p->quiet)
		return;
	text_printf(&t, "%s\n", note);
	print(p, &t);
	text_free(&t);
}

void progress_totals(struct progress *p, const struct results_totals *totals)
{
	struct text t = { 0 };

	if (p->quiet)
		return;
	if (totals->xfailed)
		text_printf(&t, "%u of the passed failed as expected\n", totals->xfailed);
	if (totals->unexpected_passes)
		text_printf(&t,
			    "%u passed that expected/ says fail: see above, and mend the entry\n",
			    totals->unexpected_passes);
	text_printf(&t, "results: %s\n", p->results_dir);
	text_printf(&t, "%u passed, %u failed, %u skipped\n", totals->passed, totals->failed,
		    totals->skipped);
	print(p, &t);
	text_free(&t);
}
