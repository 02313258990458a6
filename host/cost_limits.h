/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of costs: the key "limit" of unittests.cfg, as "cntpct/cntvct <= 1.5 if class=native". They
 * are ratios of two benchmarks of the same boot, since no time holds on two machines. Several have
 * commas between them. A condition is of the first benchmark's class, of accel or vmm; several have
 * blanks between them, and all must hold.
 */
#ifndef HOST_COST_LIMITS_H
#define HOST_COST_LIMITS_H

#include "expected.h"
#include "result.h"
#include "util/error.h"

/* Is it such a text? -1 with err set. */
int limits_check_text(const char *text, struct error *err);

/*
 * Adds a check "limit-NAME-FLOOR" for every limit of the result's test: FAIL where the ratio of the
 * medians is above it, SKIP where its condition does not hold or one of the two was not measured.
 * Before the result is judged.
 */
void limits_apply(struct test_result *r, const struct circumstances *c);

#endif
