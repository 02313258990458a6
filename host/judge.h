/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From raw verdicts to judged ones: what expected/ says fails becomes XFAIL, what it says fails
 * and does not is marked as an unexpected pass; the test's verdict is the most severe.
 */
#ifndef HOST_JUDGE_H
#define HOST_JUDGE_H

#include "expected.h"
#include "result.h"

void judge(struct test_result *r, struct expectations *e, const struct circumstances *c);

#endif
