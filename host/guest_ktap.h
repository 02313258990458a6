/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The KTAP part of what a guest prints: blocks, plans and verdicts become checks of a result. The
 * first thing that is not as docs/protocol.md says is kept as the guest's trouble.
 */
#ifndef HOST_GUEST_KTAP_H
#define HOST_GUEST_KTAP_H

#include "result.h"

/* Most checks in one block, most blocks in one another, most "# " lines kept for one check. */
#define GUEST_PLAN_MAX	      10000
#define GUEST_DEPTH_MAX	      4
#define GUEST_DIAGNOSTICS_MAX 100

/* One KTAP block. */
struct guest_block {
	bool has_plan;
	u64 plan, done;
	size_t first_check; /* index of its first check in the result */
	char *name;	    /* from "# Subtest: NAME", or NULL */
	char **diagnostics; /* for the next verdict, NULL-terminated, or NULL */
	size_t nr_diagnostics;
};

/* All zero but for the result to begin with. */
struct guest_ktap {
	struct test_result *result;
	struct guest_block blocks[GUEST_DEPTH_MAX];
	unsigned int depth; /* open blocks */
	json_t *about;	    /* fields of a "check" line: what the next verdict is about; or NULL */
	char *skip_reason;  /* of a "1..0 # SKIP reason" plan */
	char *trouble;	    /* the first; NULL: none */
	char position[128]; /* what the guest did last: "after check 'cross-cpu'" */
};

/* Whether the line (without its indent) is one that KTAP gives a meaning. */
bool guest_ktap_is_line(const char *line);

/* Takes such a line, or the text of a "# " line; level: its indent, in blocks. */
void guest_ktap_line(struct guest_ktap *k, unsigned int level, const char *line);
void guest_ktap_diagnostic(struct guest_ktap *k, unsigned int level, const char *text);

/* Takes the fields of a "check" line, which tells more of a check whose verdict comes next. */
void guest_ktap_about(struct guest_ktap *k, json_t *fields);

/* Notes what is wrong with the guest's output; the first counts. */
void guest_ktap_trouble(struct guest_ktap *k, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Nothing more will come: ends blocks that are still open within the outermost. */
void guest_ktap_finish(struct guest_ktap *k);

/* Frees what it holds, not the result. */
void guest_ktap_free(struct guest_ktap *k);

#endif
