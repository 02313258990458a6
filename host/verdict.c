// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names and order of verdicts.
 */
#include <string.h>

#include "types.h"
#include "verdict.h"

static const char *const names[VERDICT_COUNT] = {
	[VERDICT_SKIP] = "skip", [VERDICT_PASS] = "pass",	[VERDICT_XFAIL] = "xfail",
	[VERDICT_FAIL] = "fail", [VERDICT_TIMEOUT] = "timeout", [VERDICT_ERROR] = "error",
};

const char *verdict_name(enum verdict v)
{
	return (unsigned)v < VERDICT_COUNT ? names[v] : "invalid";
}

int verdict_from_name(const char *name)
{
	for (int v = 0; v < VERDICT_COUNT; v++) {
		if (!strcmp(name, names[v]))
			return v;
	}
	return -1;
}

enum verdict verdict_worse(enum verdict a, enum verdict b)
{
	return MAX(a, b);
}
