// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Splits protocol lines into fields, and tells numbers from words.
 */
#include "protocol_fields.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "util/printable.h"
#include "util/text.h"

static void set_field(json_t *fields, const char *key, size_t key_len, const char *value,
		      size_t value_len)
{
	struct text k = { 0 }, v = { 0 };

	text_append_printable(&k, key, key_len, false);
	text_append_printable(&v, value, value_len, false);
	json_object_set_new(fields, text_string(&k), json_string(text_string(&v)));
	text_free(&k);
	text_free(&v);
}

json_t *protocol_fields_parse(const char *line)
{
	json_t *fields = json_object();

	for (;;) {
		size_t len, key_len;

		line += strspn(line, " ");
		if (!*line)
			return fields;
		if (text_starts_with(line, "text=")) {
			set_field(fields, line, 4, line + 5, strlen(line + 5));
			return fields;
		}
		len = strcspn(line, " ");
		key_len = strcspn(line, "= ");
		if (key_len < len)
			set_field(fields, line, key_len, line + key_len + 1, len - key_len - 1);
		else
			set_field(fields, line, len, "", 0);
		line += len;
	}
}

const char *protocol_field(const json_t *fields, const char *name)
{
	return json_string_value(json_object_get(fields, name));
}

int protocol_field_u64(const json_t *fields, const char *name, u64 *value)
{
	const char *s = protocol_field(fields, name);

	return s ? text_to_u64(s, 0, UINT64_MAX, value) : -1;
}

/* NULL: not a number as JSON knows it. */
static json_t *to_number(const char *s)
{
	long long integer;
	double real;
	char *end;

	/* No hex, no "inf", no blanks, all of which strtod() takes. */
	if (!*s || s[strspn(s, "0123456789+-.eE")] || !strpbrk(s, "0123456789"))
		return NULL;
	errno = 0;
	integer = strtoll(s, &end, 10);
	if (!*end && !errno)
		return json_integer(integer);
	errno = 0;
	real = strtod(s, &end);
	if (*end || !isfinite(real))
		return NULL;
	return json_real(real);
}

json_t *protocol_fields_to_numbers(const json_t *fields)
{
	json_t *result = json_object(), *value;
	const char *key;

	json_object_foreach((json_t *)fields, key, value) {
		json_t *number = to_number(json_string_value(value));

		if (number)
			json_object_set_new(result, key, number);
		else
			json_object_set(result, key, value);
	}
	return result;
}
