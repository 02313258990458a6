/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what a guest prints, byte by byte, believes nothing, and fills a test_result: KTAP lines
 * become checks, protocol lines become events, everything else is log. docs/protocol.md.
 */
#ifndef HOST_GUEST_OUTPUT_H
#define HOST_GUEST_OUTPUT_H

#include "result.h"

/* Longest line that is looked at, '\n' not counted; a longer one is log. */
#define GUEST_LINE_MAX 4095
struct guest_output;

struct guest_output_events {
	void (*hello)(void *ctx);
	/* A host call: fields are the words after "call", as a JSON object of strings. */
	void (*call)(void *ctx, json_t *fields);
	/*
	 * The image gave up. backtrace: its backtrace has been read as well, so nothing more is
	 * worth waiting for; called a second time with it where it follows the panic line.
	 */
	void (*panic)(void *ctx, bool backtrace);
	/* The image is done: no byte after this counts. */
	void (*end)(void *ctx);
};

struct guest_output *guest_output_new(struct test_result *result,
				      const struct guest_output_events *events, void *ctx);

/* Callbacks may not free g. */
void guest_output_feed(struct guest_output *g, const char *data, size_t len);

/*
 * The runner resets the guest, so that a second hello is as it should be, unless a plan came before
 * it; or (false) it did not after all. What is left of a line from before is dropped with it.
 */
void guest_output_expect_reset(struct guest_output *g, bool expected);

/*
 * The guest is gone or was stopped: settles what the test itself suffered. A plan that was not
 * fulfilled, a forged or repeated verdict, a panic, a missing hello or end line become ERROR with
 * the reason; so does "why", where the caller knows why the guest is gone (or NULL). A verdict that
 * the caller has set already (TIMEOUT) gives way only to what the guest did wrong before.
 */
void guest_output_finish(struct guest_output *g, const char *why);
void guest_output_free(struct guest_output *g);

bool guest_output_ended(const struct guest_output *g);
bool guest_output_said_hello(const struct guest_output *g);

/* What the guest did last, for a reason: "after check 'cross-cpu'", "before its hello line". */
const char *guest_output_position(const struct guest_output *g);

/* Addresses of the last backtrace, innermost first; *count is 0 when there was none. */
const u64 *guest_output_backtrace(const struct guest_output *g, size_t *count);

#endif
