/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file for a machine's state that is gone with the runner, however that ends: it has no name but the
 * one that /proc gives to its descriptor. It lies in TMPDIR where that is set, else in /dev/shm, else in
 * /tmp.
 */
#ifndef HOST_STATE_FILE_H
#define HOST_STATE_FILE_H

#include "util/error.h"

struct state_file;

/* NULL with err set. */
struct state_file *state_file_new(struct error *err);

/* A path for other programs; it holds as long as the file. */
const char *state_file_path(const struct state_file *f);

/* NULL is allowed. */
void state_file_free(struct state_file *f);

#endif
