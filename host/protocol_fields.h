/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The key=value fields of a protocol line (docs/protocol.md).
 */
#ifndef HOST_PROTOCOL_FIELDS_H
#define HOST_PROTOCOL_FIELDS_H

#include <jansson.h>
#include "types.h"

/*
 * A new object of strings, made safe to print. A word without "=" has the value "". A field named
 * "text" runs to the end of the line. Of two fields with the same name the last counts.
 */
json_t *protocol_fields_parse(const char *line);

/* The field's string, or NULL. */
const char *protocol_field(const json_t *fields, const char *name);

/* A decimal number. -1 when there is no such field or it is none. */
int protocol_field_u64(const json_t *fields, const char *name, u64 *value);

/*
 * The same fields with every value that is a number (decimal integer or fraction, with an exponent
 * or not) as a JSON number. New object.
 */
json_t *protocol_fields_to_numbers(const json_t *fields);

#endif
