/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest asks of the runner (docs/protocol.md, "Host calls"). An action is a row of the table
 * in host_call.c; it may answer at once or later, from the loop.
 */
#ifndef HOST_HOST_CALL_H
#define HOST_HOST_CALL_H

#include <jansson.h>
#include "guest.h"
#include "result.h"
#include "target.h"
#include "util/loop.h"
#include "util/text.h"

/* Calls one test may make; more are refused, since each is recorded. */
#define HOST_CALLS_MAX 65536

/* The side of one test run that serves its guest's calls. */
struct host_calls;

/* All that is passed has to hold as long as the calls. */
struct host_calls *host_calls_new(struct test_result *result, struct loop *loop,
				  const struct target *target, struct guest *guest);

/* Takes the fields of a call line and sees that it is answered. */
void host_calls_take(struct host_calls *h, const json_t *fields);

/* Drops calls that wait for their time; the guest has been killed. NULL is allowed. */
void host_calls_free(struct host_calls *h);

#endif
