// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Judges: checks first, then those with sub-checks by these, then the test by all and by its own
 * trouble.
 */
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "util/text.h"

/* The entry's reason, with what was seen behind it: "known so (timeout: no output for 2 s)". */
static char *expected_reason(const struct expectation *e, enum verdict raw, char *seen)
{
	char *reason;

	if (!seen)
		return text_copy(e->reason);
	reason = text_format("%s (%s: %s)", e->reason, verdict_name(raw), seen);
	free(seen);
	return reason;
}

static void judge_check(struct check_result *check, struct expectation *e)
{
	check->raw = verdict_worse(check->raw, check->verdict);
	check->verdict = check->raw;
	check->expectation = e;
	if (!e)
		return;
	if (check->raw == e->verdict) {
		e->matched = true;
		check->verdict = VERDICT_XFAIL;
		check->reason = expected_reason(e, check->raw, check->reason);
	} else if (check->raw == VERDICT_PASS) {
		check->unexpected_pass = true;
	}
}

static bool is_sub_check(const struct check_result *check, const struct check_result *parent)
{
	size_t len = strlen(parent->name);

	return !strncmp(check->name, parent->name, len) && check->name[len] == '/';
}

/*
 * The guest says "not ok" for a parent whose sub-check failed as expected; so the parent is what
 * its sub-checks were judged, unless it has a trouble of its own. They stand before it.
 */
static void judge_parent(struct test_result *r, size_t at)
{
	struct check_result *parent = &r->checks[at];
	enum verdict raw = VERDICT_SKIP, judged = VERDICT_SKIP;

	for (size_t i = at; i && is_sub_check(&r->checks[i - 1], parent); i--) {
		raw = verdict_worse(raw, r->checks[i - 1].raw);
		judged = verdict_worse(judged, r->checks[i - 1].verdict);
	}
	if (parent->verdict <= VERDICT_PASS || parent->raw > raw)
		return;
	parent->verdict = judged;
}

static void judge_checks(struct test_result *r, struct expectations *e,
			 const struct circumstances *c)
{
	for (size_t i = 0; i < r->nr_checks; i++) {
		struct check_result *check = &r->checks[i];

		judge_check(check, expected_find(e, r->test->name, check->name, c));
	}
	for (size_t i = 0; i < r->nr_checks; i++) {
		if (r->checks[i].has_children)
			judge_parent(r, i);
	}
}

/* The most severe of the checks; those whose raw verdict is "except" are left out. */
static enum verdict worst_check(const struct test_result *r, bool raw, int except)
{
	enum verdict worst = VERDICT_SKIP;

	for (size_t i = 0; i < r->nr_checks; i++) {
		const struct check_result *check = &r->checks[i];

		if ((int)check->raw != except)
			worst = verdict_worse(worst, raw ? check->raw : check->verdict);
	}
	return worst;
}

/* A test that skipped or erred because its checks did says so in the first one's words. */
static void reason_from_check(struct test_result *r)
{
	for (size_t i = 0; i < r->nr_checks; i++) {
		const struct check_result *check = &r->checks[i];

		if (check->verdict != r->verdict || !check->reason || check->has_children)
			continue;
		if (r->verdict == VERDICT_SKIP)
			r->reason = text_copy(check->reason);
		else
			r->reason = text_format("%s: %s", check->name, check->reason);
		return;
	}
}

static void judge_test(struct test_result *r, struct expectation *e, enum verdict own)
{
	enum verdict seen = verdict_worse(own, worst_check(r, true, -1));

	r->raw = seen;
	r->verdict = verdict_worse(own, worst_check(r, false, -1));
	r->expectation = e;
	if (!e)
		return;
	/* Its own trouble is what the entry is about; where there is none, its checks. */
	if (own > VERDICT_PASS)
		seen = own;
	if (seen == e->verdict) {
		int except = own > VERDICT_PASS ? -1 : (int)e->verdict;

		e->matched = true;
		r->verdict = verdict_worse(VERDICT_XFAIL, worst_check(r, false, except));
		if (r->verdict == VERDICT_XFAIL)
			r->reason = expected_reason(e, seen, r->reason);
	} else if (seen == VERDICT_PASS) {
		r->unexpected_pass = true;
	}
}

void judge(struct test_result *r, struct expectations *e, const struct circumstances *c)
{
	enum verdict own = verdict_worse(r->raw, r->verdict);
	enum verdict checks;

	if (!r->nr_checks && own <= VERDICT_PASS && !(own == VERDICT_SKIP && r->reason)) {
		own = VERDICT_ERROR;
		free(r->reason);
		r->reason = text_copy("the image reported no check: it asserted nothing");
	}
	judge_checks(r, e, c);
	/*
	 * Whoever filled the result may have put the checks' verdict into the test's; what is more
	 * severe than they, or has a reason of its own, is the test's own.
	 */
	checks = worst_check(r, true, -1);
	if (own < VERDICT_FAIL || (own <= checks && !r->reason))
		own = VERDICT_SKIP;
	judge_test(r, expected_find(e, r->test->name, NULL, c), own);
	if (!r->reason && r->verdict != VERDICT_PASS && r->verdict != VERDICT_FAIL)
		reason_from_check(r);
}
