/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory of one run as a place on disk: made for this run alone, its files replaced whole.
 */
#ifndef HOST_RESULTS_DIR_H
#define HOST_RESULTS_DIR_H

#include <stdio.h>
#include "types.h"
#include "util/error.h"
#include "util/text.h"

struct results_dir {
	char *path;
	int lock_fd; /* the directory itself, locked as long as the run goes on */
};

/* See results_open(). -1 with err set; results_dir_close() it in both cases. */
int results_dir_open(struct results_dir *d, const char *path, struct error *err);
void results_dir_close(struct results_dir *d);

/* Replaces a file by this content, or leaves it as it was: -1 with err set. */
int results_dir_write(const struct results_dir *d, const char *name, const struct text *content,
		      struct error *err);

/* Opens a new file for writing, its directories made; NULL with err set. */
FILE *results_dir_open_file(const struct results_dir *d, const char *name, struct error *err);

#endif
