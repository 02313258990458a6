/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a VMM promises about the guest's time when the host acts on the guest: for each clock, and
 * each kind of standstill, whether it stands still with the guest. Continuity is judged by it;
 * where nothing is promised, it is reported and not judged. docs/results.md, "Policy".
 */
#ifndef HOST_POLICY_H
#define HOST_POLICY_H

#include <jansson.h>
#include "util/error.h"
#include "util/text.h"

enum promise {
	PROMISE_UNKNOWN,   /* none */
	PROMISE_FROZEN,	   /* goes on where it stood when the guest stopped */
	PROMISE_RUNNING,   /* never stopped */
	PROMISE_CAUGHT_UP, /* stood still, and was then moved on by the time that had passed */
	PROMISE_COUNT
};

enum policy_clock {
	POLICY_COUNTER,	 /* the TSC, CNTVCT_EL0 */
	POLICY_PHYSICAL, /* CNTPCT_EL0 */
	POLICY_KVMCLOCK,
	POLICY_TIMER, /* time left until a timer that is armed */
	POLICY_CLOCK_COUNT
};

enum policy_action {
	POLICY_PAUSE,
	POLICY_RESTORE, /* a new process goes on from a file */
	POLICY_MIGRATE, /* a new process goes on from a socket */
	POLICY_ACTION_COUNT
};

/* All 0: nothing is promised. */
struct policy {
	enum promise promise[POLICY_CLOCK_COUNT][POLICY_ACTION_COUNT];
};

/* All clocks of one action. */
void policy_set_action(struct policy *p, enum policy_action action, enum promise promise);

/* "CLOCK.ACTION=PROMISE", as --policy takes it. -1 with err set. */
int policy_override(struct policy *p, const char *text, struct error *err);

/* "counter-pause=frozen counter-restore=unknown …": the fields of a reply. */
void policy_append_fields(const struct policy *p, struct text *fields);

/* {"counter": {"pause": "frozen", …}, …} */
json_t *policy_to_json(const struct policy *p);

#endif
