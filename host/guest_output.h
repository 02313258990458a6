/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what a guest prints, byte by byte, believes nothing, and fills a test_result: KTAP lines
 * become checks, protocol lines become events, everything else is log. docs/protocol.md.
 */
#ifndef HOST_GUEST_OUTPUT_H
#define HOST_GUEST_OUTPUT_H

#include "result.h"

struct guest_output;

struct guest_output_events {
	void (*hello)(void *ctx);
	/* A host call: fields are the words after "call", as a JSON object of strings. */
	void (*call)(void *ctx, json_t *fields);
	/* The image is done: no byte after this counts. */
	void (*end)(void *ctx);
};

struct guest_output *guest_output_new(struct test_result *result,
				      const struct guest_output_events *events, void *ctx);

void guest_output_feed(struct guest_output *g, const char *data, size_t len);

/*
 * The guest is gone or was stopped: settles the verdict. A plan that was not fulfilled, a forged or
 * repeated verdict, a panic, a missing end line become ERROR with the reason, unless the caller has
 * set a verdict (TIMEOUT) already.
 */
void guest_output_finish(struct guest_output *g);
void guest_output_free(struct guest_output *g);

bool guest_output_ended(const struct guest_output *g);
/* What the guest did last, for the reason of a TIMEOUT: "after check 'cross-cpu'". */
const char *guest_output_position(const struct guest_output *g);

#endif
