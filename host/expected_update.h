/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run says of expected/: entries that match nothing any more, and, for --update-expected, the
 * change that would make the run one with nothing unexpected.
 */
#ifndef HOST_EXPECTED_UPDATE_H
#define HOST_EXPECTED_UPDATE_H

#include <jansson.h>
#include "expected.h"
#include "util/text.h"

struct expected_update {
	const struct expectations *expectations;
	const struct config *config;
	const char *root;  /* of the suite: names in the diff are below it */
	const char *dir;   /* of the entries: "expected" */
	const json_t *run; /* results.json, as record_load() has it */
};

/*
 * A line for each entry whose test is in no configuration, or whose check none of its tests has. Only
 * what the run has shown whole is judged: all tests that the entry may be about, with all their
 * checks. Returns the number of lines.
 */
size_t expected_unmatched(const struct expected_update *u, struct text *out);

/*
 * A unified diff, for "git apply" in the suite's directory: an entry for every check or test that
 * failed unexpectedly, conditions as in this run, and entries away that only passed. Empty where there
 * is nothing to change. -1 with err set when a file of expected/ cannot be read.
 */
int expected_diff(const struct expected_update *u, struct text *out, struct error *err);

#endif
