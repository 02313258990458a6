// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Escapes what a terminal would act upon.
 */
#include "util/printable.h"

#include <string.h>

void text_append_printable(struct text *t, const char *data, size_t len, bool keep_newlines)
{
	struct text valid = { 0 };
	const unsigned char *s;

	text_append_utf8(&valid, data, len);
	s = (const unsigned char *)text_string(&valid);
	for (size_t i = 0; i < valid.len; i++) {
		if (s[i] == '\t' || (s[i] == '\n' && keep_newlines)) {
			text_append_char(t, s[i]);
		} else if (s[i] < 0x20 || s[i] == 0x7f) {
			text_printf(t, "\\x%02x", s[i]);
		} else if (s[i] == 0xc2 && s[i + 1] < 0xa0) {
			/* U+0080 to U+009F: some terminals take them for escape sequences. */
			text_printf(t, "\\x%02x\\x%02x", s[i], s[i + 1]);
			i++;
		} else {
			text_append_char(t, s[i]);
		}
	}
	text_free(&valid);
}

char *printable(const char *s)
{
	struct text t = { 0 };

	if (!s)
		return NULL;
	text_append_printable(&t, s, strlen(s), false);
	return text_take(&t);
}
