/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verdicts. An image is a table of checks; report_run() prints the plan, runs each check and prints
 * its verdict as KTAP version 1. Inside a check the calls below note results; the most severe
 * stands, and the first text of that severity is printed with it. A check that notes nothing is an
 * ERROR: it asserted nothing.
 */
#ifndef REPORT_H
#define REPORT_H

#include "types.h"

struct check {
	const char *name;	    /* stable, kebab-case, no measured value in it */
	void (*run)(void);	    /* NULL where there are sub-checks */
	const char *guards;	    /* catalogue ids: "A21 K19", or NULL */
	const char *story;	    /* one sentence: the invariant, for --explain */
	const struct check *checks; /* sub-checks, printed as a nested KTAP block */
	size_t nr_checks;
	const void *subject; /* for report_subject() of it and its sub-checks, or NULL */
};

/*
 * What the running check is about: the subject of its entry in the table, else of the nearest entry
 * around it that has one, else NULL. Lets several entries share one table of sub-checks, each entry
 * with its own device: { "virtual", .checks = timer_checks, …, .subject = &virtual_timer }.
 */
const void *report_subject(void);

/*
 * The body of every image's main(): prints hello, plan, verdicts and end. Honours the argument
 * check=NAME or check=NAME/SUB-CHECK (only that one runs, the others are left out of the plan), and
 * list-checks (one line each, nothing runs). Returns for main() to return: 0 when no check's line
 * is "not ok", else 1. A table with a mistake (a name twice or not of a-z 0-9 - _ ., neither
 * function nor sub-checks) ends the image with an ERROR.
 */
int report_run(const char *image, const struct check *checks, size_t nr_checks);

/*
 * The hello line, for an image that has to talk with the runner before it can say what it is going to
 * judge; report_run() then prints none.
 */
void report_hello(const char *image);

/* The subject is as it should be in this respect. */
void report_pass(void);

/* The subject is wrong. */
void report_fail(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* pass or fail by cond; returns cond. */
bool report_expect(bool cond, const char *fmt, ...) PRINTF_LIKE(2, 3);

/*
 * What the check needs is not there; decide it first. A check that is skipped and also judges is an
 * ERROR.
 */
void report_skip(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Known to fail, by the image's own knowledge. */
void report_xfail(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* The test or its environment is wrong, not the subject. */
void report_error(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Figures for the reader: a KTAP diagnostic line. Judges nothing. */
void report_info(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Provided by the arch: "x86_64" or "arm64", as in the hello line. */
const char *arch_name(void);

/*
 * Why the machine cannot run the image in the way that its arguments ask for ("el=2 was asked for
 * and ..."): every check is then a SKIP with this reason. NULL, the default, where it can; an arch
 * with such arguments provides its own.
 */
const char *arch_unmet(void);

/* How long one check may take by itself, ns: argument budget-ms, default 500. */
u64 report_budget_ns(void);

#endif
