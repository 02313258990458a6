/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client of QEMU's machine protocol (QEMU's docs/interop/qmp-spec): JSON objects, one a line,
 * over a connected socket. Commands are queued and answered in order; the handshake is done by
 * itself and costs no turn, since QEMU reads ahead.
 */
#ifndef QEMU_QMP_H
#define QEMU_QMP_H

#include <jansson.h>
#include "types.h"
#include "util/loop.h"

/* Longest line taken from QEMU. */
#define QMP_LINE_MAX (1u << 20)

struct qmp;

struct qmp_events {
	/* name: "SHUTDOWN"; data may be NULL. */
	void (*event)(void *ctx, const char *name, const json_t *data);
	/* No more answers will come: QEMU closed the connection, or spoke no QMP (why says). */
	void (*closed)(void *ctx, const char *why);
};

/*
 * The answer to one command: the value of "return", or NULL with the error's text. Commands that
 * are still unanswered when the connection ends get an error as well.
 */
typedef void (*qmp_done)(void *ctx, const json_t *value, const char *error);

/* Takes fd over. */
struct qmp *qmp_new(struct loop *l, int fd, const struct qmp_events *events, void *ctx);

/* arguments (or NULL) are taken over; done may be NULL. */
void qmp_execute(struct qmp *q, const char *command, json_t *arguments, qmp_done done, void *ctx);

/*
 * The same with a descriptor that QEMU gets a copy of (SCM_RIGHTS), as getfd wants it. The caller may
 * close its own at once. One such command at a time: the next only when this one was answered.
 */
void qmp_execute_fd(struct qmp *q, const char *command, json_t *arguments, int fd, qmp_done done,
		    void *ctx);

/* Handles all that QEMU has sent so far, as the loop would. */
void qmp_drain(struct qmp *q);

/* false when no more commands will be answered. */
bool qmp_open(const struct qmp *q);

/* Whether QEMU has greeted. */
bool qmp_greeted(const struct qmp *q);

/* "7.2.22" from the greeting; "" before it. */
const char *qmp_version(const struct qmp *q);

/* Closes without calling anything. NULL is allowed. */
void qmp_free(struct qmp *q);

#endif
