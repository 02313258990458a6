// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Verdicts as KTAP version 1 (the kernel's Documentation/dev-tools/ktap.rst): runs a table of
 * checks, keeps the most severe of what each notes, and prints one verdict for each.
 */
#include "args.h"
#include "muldiv.h"
#include "panic.h"
#include "protocol.h"
#include "report.h"
#include "smp.h"
#include "spinlock.h"
#include "stdio.h"
#include "string.h"
#include <arch/cpu.h>

#define INDENT		  4
#define TEXT_MAX	  400 /* of one reason or diagnostic */
#define DIAGNOSTICS_MAX	  10  /* of one check's judgements; report_info() is not bounded */
#define BUDGET_DEFAULT_MS 500

/* What the runner takes: docs/protocol.md. */
#define NAME_MAX_LEN   127
#define NAME_LETTERS   "abcdefghijklmnopqrstuvwxyz0123456789-_."
#define SUB_BLOCKS_MAX 3

/* Least severe first. NOTHING is not a verdict: it becomes an ERROR. */
enum verdict {
	NOTHING,
	SKIP,
	PASS,
	XFAIL,
	FAIL,
	ERROR,
	NR_VERDICTS
};

/* The check that runs. Any CPU and any interrupt handler may note a result. */
static struct {
	struct spinlock lock;
	bool running;
	unsigned int depth;			      /* of the block in which its verdict stands */
	const struct check *path[SUB_BLOCKS_MAX + 1]; /* by depth: its parents, then itself */
	const void *subject;
	enum verdict verdict;
	int cpu; /* that noted the verdict first */
	u64 nr_diagnostics;
	char first[NR_VERDICTS][TEXT_MAX]; /* text of each severity; FAIL's are printed at once */
} current;

/* What the whole run comes to; parents of sub-checks are not counted. */
struct totals {
	u64 checks;
	u64 failed;
};

static u64 lock_current(void)
{
	u64 irq_state = irq_save();

	spin_lock(&current.lock);
	return irq_state;
}

static void unlock_current(u64 irq_state)
{
	spin_unlock(&current.lock);
	irq_restore(irq_state);
}

/* KTAP has one line for a text, in which '#' begins a directive. */
static void sanitise(char *text)
{
	for (; *text; text++) {
		if (*text == '\n' || *text == '\t')
			*text = ' ';
		else if (*text < ' ' || *text > '~' || *text == '#')
			*text = '?';
	}
}

static void print_diagnostic(const char *text)
{
	printf("%*s# %s\n", current.depth * INDENT, "", text);
}

/* Keeps the first text of a severity for the verdict line, prints the others and all of FAIL. */
static void keep_text(enum verdict v, const char *text)
{
	if (v == PASS)
		return;
	if (v != FAIL && !current.first[v][0]) {
		strcpy(current.first[v], text);
		return;
	}
	if (current.nr_diagnostics++ < DIAGNOSTICS_MAX)
		print_diagnostic(text);
}

/* prefix: why the severity is not the one that was noted, or "". */
static void note_text(enum verdict v, const char *prefix, const char *text)
{
	char line[TEXT_MAX];

	snprintf(line, sizeof(line), "%s%s", prefix, text);
	keep_text(v, line);
	if (v <= current.verdict)
		return;
	current.verdict = v;
	current.cpu = smp_id();
}

static void note(enum verdict v, const char *fmt, va_list ap)
{
	char text[TEXT_MAX];
	u64 irq_state;

	vsnprintf(text, sizeof(text), fmt, ap);
	sanitise(text);
	irq_state = lock_current();
	if (!current.running) {
		unlock_current(irq_state);
		panic("a result was reported outside of any check: %s", text);
	}
	/* A skip says that nothing was judged, whichever of the two came first. */
	if (v == SKIP && current.verdict > SKIP)
		note_text(ERROR, "skipped after it had judged: ", text);
	else if (v > SKIP && v < ERROR && current.verdict == SKIP)
		note_text(ERROR, "judged after it was skipped: ", text);
	else
		note_text(v, "", text);
	unlock_current(irq_state);
}

static void note_pass(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(PASS, fmt, ap);
	va_end(ap);
}

void report_pass(void)
{
	/* Mostly nothing changes: checks may call this in a loop. */
	if (READ_ONCE(current.running) && READ_ONCE(current.verdict) >= PASS)
		return;
	note_pass("passed");
}

#define NOTE(v)                    \
	do {                       \
		va_list ap;        \
                                   \
		va_start(ap, fmt); \
		note(v, fmt, ap);  \
		va_end(ap);        \
	} while (0)

void report_fail(const char *fmt, ...)
{
	NOTE(FAIL);
}

bool report_expect(bool cond, const char *fmt, ...)
{
	if (cond)
		report_pass();
	else
		NOTE(FAIL);
	return cond;
}

void report_skip(const char *fmt, ...)
{
	NOTE(SKIP);
}

void report_xfail(const char *fmt, ...)
{
	NOTE(XFAIL);
}

void report_error(const char *fmt, ...)
{
	NOTE(ERROR);
}

void report_info(const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sanitise(text);
	print_diagnostic(text);
}

const void *report_subject(void)
{
	return READ_ONCE(current.subject);
}

u64 report_budget_ns(void)
{
	return mul_div_u64(args_u64("budget-ms", BUDGET_DEFAULT_MS), NSEC_PER_MSEC, 1);
}

static void print_plan(size_t count)
{
	int indent = current.depth * INDENT;

	printf("%*sKTAP version 1\n%*s1..%zu\n", indent, "", indent, "", count);
}

static void print_verdict(size_t number, const char *name, enum verdict v, const char *reason)
{
	static const char *const directives[NR_VERDICTS] = {
		[SKIP] = " # SKIP ",
		[XFAIL] = " # XFAIL ",
		[ERROR] = " # ERROR ",
	};

	printf("%*s%s %zu %s%s%s\n", current.depth * INDENT, "", v >= FAIL ? "not ok" : "ok",
	       number, name, directives[v] ? directives[v] : "", directives[v] ? reason : "");
}

/* What the check noted beside that for which its verdict stands. */
static void print_lesser_texts(enum verdict verdict)
{
	static const char *const labels[NR_VERDICTS] = { [SKIP] = "skip", [XFAIL] = "xfail" };

	for (enum verdict v = SKIP; v < verdict; v++) {
		if (labels[v] && current.first[v][0])
			printf("%*s# %s: %s\n", current.depth * INDENT, "", labels[v],
			       current.first[v]);
	}
	if (current.nr_diagnostics > DIAGNOSTICS_MAX)
		printf("%*s# and %lu more\n", current.depth * INDENT, "",
		       current.nr_diagnostics - DIAGNOSTICS_MAX);
}

/* Catalogue ids of a table, "A21 K19", as one word: "A21,K19". */
static void print_guards(const char *guards)
{
	printf(" guards=");
	for (; *guards; guards++)
		printf("%c", *guards == ' ' ? ',' : *guards);
}

/*
 * What the runner tells with a failure: who found it, and what the check is about. What the table
 * does not say of a sub-check is its parent's.
 */
static void print_about_failure(void)
{
	const char *story = NULL, *guards = NULL;

	printf(PROTO_PREFIX PROTO_CHECK " name=");
	for (unsigned int i = 0; i <= current.depth; i++) {
		const struct check *check = current.path[i];

		printf("%s%s", i ? "/" : "", check->name);
		story = check->story ? check->story : story;
		guards = check->guards ? check->guards : guards;
	}
	printf(" cpu=%d", current.cpu);
	if (guards)
		print_guards(guards);
	if (story)
		printf(" text=%s", story);
	printf("\n");
}

__attribute__((weak)) const char *arch_unmet(void)
{
	return NULL;
}

static enum verdict run_leaf(const struct check *check, size_t number, struct totals *totals)
{
	const char *unmet = arch_unmet();
	u64 irq_state = lock_current();

	current.running = true;
	current.verdict = NOTHING;
	current.nr_diagnostics = 0;
	for (enum verdict v = 0; v < NR_VERDICTS; v++)
		current.first[v][0] = '\0';
	unlock_current(irq_state);

	if (unmet)
		report_skip("%s", unmet);
	else
		check->run();

	irq_state = lock_current();
	if (current.verdict == NOTHING)
		note_text(ERROR, "", "asserted nothing");
	current.running = false;
	unlock_current(irq_state);
	print_lesser_texts(current.verdict);
	if (current.verdict >= FAIL)
		print_about_failure();
	print_verdict(number, check->name, current.verdict, current.first[current.verdict]);
	totals->checks++;
	totals->failed += current.verdict >= FAIL;
	return current.verdict;
}

/*
 * The rest of path behind this check's name: "" or what names a sub-check; all of it is wanted where
 * path is NULL, then that is the rest as well. false where the path leads elsewhere.
 */
static bool path_leads_to(const struct check *check, const char *path, const char **rest)
{
	size_t len = strlen(check->name);

	*rest = NULL;
	if (!path)
		return true;
	if (strncmp(path, check->name, len) || (path[len] && path[len] != '/'))
		return false;
	if (path[len])
		*rest = path + len + 1;
	return true;
}

static bool path_exists(const struct check *checks, size_t nr_checks, const char *path)
{
	const char *rest;

	for (size_t i = 0; i < nr_checks; i++) {
		if (path_leads_to(&checks[i], path, &rest))
			return !rest || path_exists(checks[i].checks, checks[i].nr_checks, rest);
	}
	return false;
}

/* Returns the most severe verdict of the block, and in *name the first check that has it. */
static enum verdict run_block(const struct check *checks, size_t nr_checks, const char *path,
			      struct totals *totals, const char **name)
{
	enum verdict worst = NOTHING;
	size_t planned = path ? 1 : nr_checks, number = 0;
	const void *outer_subject = current.subject;
	const char *rest;

	print_plan(planned);
	for (size_t i = 0; i < nr_checks; i++) {
		const char *severe = checks[i].name;
		char reason[TEXT_MAX];
		enum verdict v;

		if (!path_leads_to(&checks[i], path, &rest))
			continue;
		number++;
		current.path[current.depth] = &checks[i];
		current.subject = checks[i].subject ? checks[i].subject : outer_subject;
		if (checks[i].run) {
			v = run_leaf(&checks[i], number, totals);
		} else {
			current.depth++;
			v = run_block(checks[i].checks, checks[i].nr_checks, rest, totals, &severe);
			current.depth--;
			snprintf(reason, sizeof(reason), "%s%s",
				 v == SKIP ? "every sub-check, the first: " : "sub-check ", severe);
			print_verdict(number, checks[i].name, v, reason);
		}
		if (v > worst) {
			worst = v;
			*name = checks[i].name;
		}
	}
	current.subject = outer_subject;
	return worst;
}

/* CI systems track names, and "/" joins them: lower-case letters, digits, '-', '_' and '.'. */
static bool is_good_name(const char *name)
{
	return name && *name && !name[strspn(name, NAME_LETTERS)] && strlen(name) <= NAME_MAX_LEN;
}

/* A mistake in a table is the image's: it ends here, before a verdict could be misread. */
static void validate(const struct check *checks, size_t nr_checks, const char *where,
		     unsigned int depth)
{
	if (!nr_checks)
		panic("checks of %s: the table is empty", where);
	if (depth > SUB_BLOCKS_MAX)
		panic("checks of %s: sub-checks more than %d deep", where, SUB_BLOCKS_MAX);
	for (size_t i = 0; i < nr_checks; i++) {
		const struct check *check = &checks[i];

		if (!is_good_name(check->name))
			panic("checks of %s: name '%s' of entry %zu is not of a-z 0-9 - _ . or "
			      "over %d long",
			      where, check->name ? check->name : "", i, NAME_MAX_LEN);
		if (!check->run == !check->checks)
			panic("checks of %s: '%s' has to have either a function or sub-checks",
			      where, check->name);
		for (size_t j = 0; j < i; j++) {
			if (!strcmp(check->name, checks[j].name))
				panic("checks of %s: two are called '%s'", where, check->name);
		}
		if (check->checks)
			validate(check->checks, check->nr_checks, check->name, depth + 1);
	}
}

static void list(const struct check *checks, size_t nr_checks, const char *prefix)
{
	char name[TEXT_MAX];

	for (size_t i = 0; i < nr_checks; i++) {
		const struct check *check = &checks[i];

		snprintf(name, sizeof(name), "%s%s", prefix, check->name);
		printf(PROTO_PREFIX PROTO_CHECK " name=%s", name);
		if (check->guards)
			print_guards(check->guards);
		printf("%s%s\n", check->story ? " text=" : "", check->story ? check->story : "");
		if (check->checks) {
			strcat(name, "/");
			list(check->checks, check->nr_checks, name);
		}
	}
}

/* The wanted name may be no name at all: on the verdict it is made one, the reason has it whole. */
static void run_unknown(const char *path, struct totals *totals)
{
	char name[NAME_MAX_LEN + 1], reason[TEXT_MAX];

	snprintf(name, sizeof(name), "%s", *path ? path : "empty");
	for (char *p = name; *(p += strspn(p, NAME_LETTERS));)
		*p = '-';
	snprintf(reason, sizeof(reason), "no such check: '%s'; the argument list-checks names them",
		 path);
	sanitise(reason);
	print_plan(1);
	print_verdict(1, name, ERROR, reason);
	totals->checks++;
	totals->failed++;
}

static bool hello_said;

void report_hello(const char *image)
{
	if (hello_said)
		return;
	hello_said = true;
	/* Firmware may have left the console in the middle of a line. */
	printf("\n" PROTO_PREFIX PROTO_HELLO " version=%d arch=%s image=%s\n", PROTO_VERSION,
	       arch_name(), image);
}

int report_run(const char *image, const struct check *checks, size_t nr_checks)
{
	const char *path = args_str("check", NULL), *unused;
	struct totals totals = { 0 };

	validate(checks, nr_checks, image, 0);
	report_hello(image);
	if (args_has("list-checks"))
		list(checks, nr_checks, "");
	else if (path && !path_exists(checks, nr_checks, path))
		run_unknown(path, &totals);
	else
		run_block(checks, nr_checks, path, &totals, &unused);
	printf(PROTO_PREFIX PROTO_END " checks=%lu failed=%lu\n", totals.checks, totals.failed);
	hello_said = false;
	return totals.failed ? 1 : 0;
}
