/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest asks of the runner (docs/protocol.md, "Host calls"). An action is a row of the table
 * in host_call.c; it may answer at once or later, from the loop.
 */
#ifndef HOST_HOST_CALL_H
#define HOST_HOST_CALL_H

#include <jansson.h>
#include "backend.h"
#include "result.h"
#include "util/loop.h"
#include "util/text.h"

/* Calls one test may make; more are refused, since each is recorded. */
#define HOST_CALLS_MAX 65536

/* The side of one test run that serves its guest's calls. */
struct host_calls;

struct host_calls *host_calls_new(struct test_result *result, struct loop *loop,
				  const struct backend *backend);

/* The machine that answers go to; set it when it has been started, NULL when it is gone. */
void host_calls_set_machine(struct host_calls *h, struct machine *machine);

/* Takes the fields of a call line and sees that it is answered. */
void host_calls_take(struct host_calls *h, const json_t *fields);

/* Drops calls that wait for their time. NULL is allowed. */
void host_calls_free(struct host_calls *h);

#endif
