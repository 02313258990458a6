// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads versions and ranges of them, and compares by number.
 */
#include <string.h>

#include "util/text.h"
#include "version_range.h"

/* Digits and dots at the start of s; returns what follows them, or NULL when there is no number. */
static const char *parse(const char *s, struct version *v)
{
	*v = (struct version){ 0 };
	for (;;) {
		unsigned number = 0;

		if (*s < '0' || *s > '9')
			return NULL;
		for (; *s >= '0' && *s <= '9'; s++) {
			if (number > 100000000)
				return NULL;
			number = number * 10 + (*s - '0');
		}
		if (v->nr_parts < VERSION_PARTS)
			v->parts[v->nr_parts++] = number;
		/* "6.12.y" ends after 12, and so does the first half of "6.1..6.12". */
		if (s[0] != '.' || s[1] < '0' || s[1] > '9')
			return s;
		s++;
	}
}

int version_parse(const char *s, struct version *v)
{
	return parse(s, v) ? 0 : -1;
}

/* As far as the bound has numbers; the version's missing ones are 0. */
static int compare(const struct version *v, const struct version *bound)
{
	for (unsigned i = 0; i < bound->nr_parts; i++) {
		if (v->parts[i] != bound->parts[i])
			return v->parts[i] < bound->parts[i] ? -1 : 1;
	}
	return 0;
}

static int parse_between(const char *s, struct version_range *range)
{
	s = parse(s, &range->from);
	if (!s)
		return -1;
	if (!*s) {
		range->kind = RANGE_IS;
		return 0;
	}
	if (!text_starts_with(s, ".."))
		return -1;
	s = parse(s + 2, &range->to);
	if (!s || *s)
		return -1;
	range->kind = RANGE_BETWEEN;
	return compare(&range->from, &range->to) > 0 ? -1 : 0;
}

int version_range_parse(const char *s, struct version_range *range)
{
	*range = (struct version_range){ 0 };
	if (*s != '<' && *s != '>')
		return parse_between(s, range);
	if (s[1] == '=')
		range->kind = *s == '<' ? RANGE_UP_TO : RANGE_FROM;
	else
		range->kind = *s == '<' ? RANGE_BELOW : RANGE_ABOVE;
	s += s[1] == '=' ? 2 : 1;
	s = parse(s + strspn(s, " \t"), &range->from);
	return s && !*s ? 0 : -1;
}

bool version_in_range(const struct version *v, const struct version_range *range)
{
	int from = compare(v, &range->from);

	switch (range->kind) {
	case RANGE_IS:
		return from == 0;
	case RANGE_BELOW:
		return from < 0;
	case RANGE_UP_TO:
		return from <= 0;
	case RANGE_ABOVE:
		return from > 0;
	case RANGE_FROM:
		return from >= 0;
	case RANGE_BETWEEN:
		return from >= 0 && compare(v, &range->to) <= 0;
	}
	return false;
}
