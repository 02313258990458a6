/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the runner in kernel mode's machine tells the outer runner what happens, over the console:
 * one line a record, "@ktr N CRC {json}". N counts from 1 and CRC is the CRC-32 of the JSON text in
 * hex, so that a record that was torn by a kernel's message or lost is noticed. Other lines are the
 * kernel's.
 *
 * Records are objects with one member: "begin", "started", "test", "end" (from the runner) and
 * "exit" (from PID 1, N = 0, always the last). docs/results.md has their content.
 */
#ifndef HOST_STREAM_H
#define HOST_STREAM_H

#include <jansson.h>
#include "types.h"
#include "util/error.h"

#define STREAM_PREFIX "@ktr "

/* Writes one record {kind: content}; content is taken over. */
void stream_write(int fd, const char *kind, json_t *content);

/* PID 1's last record, with the wait status of the runner (-1: it could not be started). */
void stream_exit(int fd, int wait_status);

/* What a line was. */
enum stream_line {
	STREAM_OTHER,  /* no record */
	STREAM_RECORD, /* *kind (inside *record) and *record are set; json_decref() it */
	STREAM_TORN,   /* a record that is damaged or out of sequence: err says how */
};

struct stream_reader {
	u64 next; /* the number that the next record has; starts as 1 */
};

enum stream_line stream_read(struct stream_reader *r, const char *line, size_t len, json_t **record,
			     const char **kind, struct error *err);

#endif
