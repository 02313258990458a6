/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verdicts, least severe first. FAIL: the subject is wrong. ERROR and TIMEOUT: the test, its
 * environment or the runner is. XFAIL: wrong as expected.
 */
#ifndef HOST_VERDICT_H
#define HOST_VERDICT_H

enum verdict {
	VERDICT_SKIP,
	VERDICT_PASS,
	VERDICT_XFAIL,
	VERDICT_FAIL,
	VERDICT_TIMEOUT,
	VERDICT_ERROR,
	VERDICT_COUNT,
};

/* "skip", "pass", "xfail", "fail", "timeout", "error": as in config files and results.json. */
const char *verdict_name(enum verdict v);
/* -1 for an unknown name. */
int verdict_from_name(const char *name);
/* The more severe of two. */
enum verdict verdict_worse(enum verdict a, enum verdict b);

#endif
