/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runner's side of scripts/fetch.sh: a distribution's kernels and QEMUs, by name.
 */
#ifndef HOST_FETCH_H
#define HOST_FETCH_H

#include "util/error.h"

/* How names begin that mean a distribution's: "debian:6.12", "debian:trixie". */
#define FETCH_PREFIX "debian:"

/*
 * Runs the script of the suite in root with these words (NULL-terminated); what takes it long it
 * says on our stderr. Returns its lines, for words_free(); NULL with err set.
 */
char **fetch(const char *root, const char *const *words, struct error *err);

/* The value of "key=value" among the lines, malloced, or NULL. */
char *fetch_value(char *const *lines, const char *key);

#endif
