/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * After a run: what it says of expected/, to the user and, for --update-expected, into a file.
 */
#ifndef HOST_EXPECTED_REVIEW_H
#define HOST_EXPECTED_REVIEW_H

#include "config.h"
#include "expected.h"
#include "options.h"
#include "util/error.h"

/*
 * Reads results.json in dir, names entries that match nothing on stdout, and writes the diff where it
 * is asked for. Nothing is printed under --ktap and --stream, whose stdout is for machines. -1 with
 * err set when something cannot be read or written.
 */
int expected_review(const struct options *o, const struct config *config,
		    const struct expectations *e, const char *dir, struct error *err);

#endif
