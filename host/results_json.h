/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of results.json as JSON values. docs/results.md is their schema.
 */
#ifndef HOST_RESULTS_JSON_H
#define HOST_RESULTS_JSON_H

#include <jansson.h>
#include "results.h"

/* Any bytes as a JSON string: what is not UTF-8 becomes "\xNN". */
json_t *json_text(const char *s);

/* Milliseconds with three digits after the point. */
json_t *json_ms(u64 ns);

json_t *results_target_json(const struct results_target *target);

/* Is it an object with all that every record of a test has? err says what is wrong. */
int results_record_check(const json_t *record, struct error *err);

/* One line; the caller frees. Numbers with a fraction have at most 15 digits. */
char *json_line(const json_t *value);

#endif
