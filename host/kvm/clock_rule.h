/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a restored machine gets its counters and clocks: by which of KVM's interfaces, and how much of
 * the time between save and restore the guest is to see.
 */
#ifndef KVM_CLOCK_RULE_H
#define KVM_CLOCK_RULE_H

#include "arch.h"
#include "types.h"
#include "util/error.h"

enum restore_method {
	RESTORE_DEFAULT,  /* the architecture's, see clock_rule_complete() */
	RESTORE_VALUE,	  /* the counters' values; stale by the time it takes to write them */
	RESTORE_OFFSET,	  /* the offset from the host's counter, as it was saved: same host only */
	RESTORE_SEQUENCE, /* an offset computed from pairs of a host's clock and counter */
};

enum restore_account {
	ACCOUNT_DEFAULT,  /* frozen by value, realtime by offset: what the method gives unasked */
	ACCOUNT_FROZEN,	  /* the guest sees nothing of the stop */
	ACCOUNT_REALTIME, /* all of it */
	ACCOUNT_LIMIT,	  /* all of it up to limit_ns */
};

struct clock_rule {
	enum restore_method method;
	enum restore_account account;
	u64 limit_ns;
	u64 preempt_us; /* sleep between computing a clock's new state and setting it */
};

/* "value", "offset" or "sequence"; -1 with err. */
int clock_rule_set_method(struct clock_rule *rule, const char *word, struct error *err);

/* "realtime", "frozen" or "limit=MS"; -1 with err. */
int clock_rule_set_account(struct clock_rule *rule, const char *word, struct error *err);

/* "value", ...; "default" where none is set */
const char *restore_method_name(enum restore_method method);

/* What clock_rule_set_account() takes. Malloced; NULL where none is set. */
char *clock_rule_account_text(const struct clock_rule *rule);

/*
 * The rule with the defaults filled in. x86_64 restores by offset. arm64 restores by value: the other
 * methods need a machine that was made with a VM-wide offset, which those that nobody asks are not,
 * since it would hide what KVM does by itself.
 */
struct clock_rule clock_rule_complete(const struct clock_rule *rule, enum arch arch);

/* How much of a stop of elapsed (in any unit) the guest sees; limit in the same unit. */
u64 clock_rule_visible(const struct clock_rule *rule, u64 elapsed, u64 limit);

/* Sleeps for preempt_us: as if the host had run something else in the VMM's place. */
void clock_rule_preempt(const struct clock_rule *rule);

#endif
