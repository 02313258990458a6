/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Host actions: what the runner does to this machine when the guest asks for it (docs/protocol.md), when
 * it did it by the host's clocks, and what the VMM promises about time meanwhile.
 */
#ifndef HOSTACTION_H
#define HOSTACTION_H

#include "types.h"

/* An instant of a clock of the host, ns: not before and not after. */
struct host_instant {
	u64 before_ns;
	u64 after_ns;
};

/* One action, done or not. */
struct host_action {
	int result;	/* HOST_CALL_… */
	char why[200];	/* where it was not done */
	u64 generation; /* 1 at first boot; one more after each reset, restore and migration */
	/* When the guest stopped and when it ran again, by CLOCK_MONOTONIC_RAW. */
	struct host_instant stop, run;
};

/*
 * Asks for an action that is done after_ms from now (0: at once), with its further fields ("" for
 * none). The reply does not wake the guest.
 */
void host_action_begin(const char *action, u64 after_ms, const char *fields);

/* One look for the reply: true when it is there, or unusable, and *a is complete. */
bool host_action_poll(struct host_action *a);

/* Waits for the reply; bounded, *a tells how it went. */
void host_action_end(struct host_action *a);

/* The same in one. */
void host_action(const char *action, const char *fields, struct host_action *a);

/*
 * true where the action was done. Else false after the verdict: report_skip() where the runner or the
 * VMM cannot, report_error() where it failed.
 */
bool host_action_report(const struct host_action *a, const char *action);

/* For how long the guest did not run, at least and at most. */
u64 host_action_least_ns(const struct host_action *a);
u64 host_action_most_ns(const struct host_action *a);

/* Which incarnation this is; false with HOST_CALL_… and the reason in *a where nobody tells. */
bool host_generation(u64 *generation, struct host_action *a);

/* A way to disturb a guest, under which tests are run. */
struct host_action_kind {
	const char *name;   /* kebab-case, as in names of checks */
	const char *action; /* host call */
	const char
		*fields;  /* its fields; a "%lu" at the end is the time to hold the guest, in ms */
	const char *stop; /* whose policy it follows: "pause" or "restore" */
	bool again;	  /* done once before, so that what is disturbed is a restored guest */
};

/* Those named in the argument actions=NAME,NAME…, default all; panics at a name that is none. */
size_t host_action_kinds(const struct host_action_kind **kinds, size_t max);

/* For how long the guest is held: argument hold-ms, default 400. */
u64 host_action_hold_ms(void);

/* Begins it, after_ms from now; ends as the others do. */
void host_action_begin_kind(const struct host_action_kind *kind, u64 after_ms);

/* What a clock or timer does while the guest does not run. */
enum host_policy {
	HOST_POLICY_UNKNOWN,
	HOST_POLICY_FROZEN,    /* it stands still */
	HOST_POLICY_RUNNING,   /* it goes on */
	HOST_POLICY_CAUGHT_UP, /* it has gone on by the time that the guest looks */
};

/*
 * The VMM's policy: what is "counter", "kvmclock" or "timer", stop "pause" or "restore", or NULL for
 * no stop, in which all goes on. Unknown where nobody tells.
 */
enum host_policy host_policy(const char *what, const char *stop);

const char *host_policy_name(enum host_policy policy);

/* Whether time goes on for what has that policy. */
static inline bool host_policy_runs(enum host_policy policy)
{
	return policy == HOST_POLICY_RUNNING || policy == HOST_POLICY_CAUGHT_UP;
}

#endif
