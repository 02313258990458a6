// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Escapes for XML, HTML and Markdown.
 */
#include "util/markup.h"

#include <ctype.h>
#include <string.h>

/* U+FFFE and U+FFFF in UTF-8, which are no characters; U+FFFD stands for them. */
static bool is_noncharacter(const char *s)
{
	return !strncmp(s, "\xef\xbf\xbe", 3) || !strncmp(s, "\xef\xbf\xbf", 3);
}

void text_append_xml(struct text *t, const char *s)
{
	for (; *s; s++) {
		unsigned char c = *s;

		if (c == '&')
			text_append(t, "&amp;");
		else if (c == '<')
			text_append(t, "&lt;");
		else if (c == '>')
			text_append(t, "&gt;");
		else if (c == '"')
			text_append(t, "&quot;");
		else if ((c < ' ' && c != '\t' && c != '\n') || c == 0x7f)
			text_printf(t, "\\x%02x", c);
		else if (is_noncharacter(s)) {
			text_append(t, "\xef\xbf\xbd");
			s += 2;
		} else
			text_append_char(t, c);
	}
}

/*
 * CommonMark lets every ASCII punctuation be escaped; these begin something inside of a cell. But
 * for '_' within a word (6.2), which names are full of.
 */
void text_append_markdown(struct text *t, const char *s)
{
	bool in_word = false;

	for (; *s; in_word = isalnum((unsigned char)*s), s++) {
		unsigned char c = *s;

		if (c == '\n' || c == '\t')
			text_append_char(t, ' ');
		else if (c < ' ' || c == 0x7f)
			text_printf(t, "\\\\x%02x", c);
		else if (c == '<')
			text_append(t, "&lt;");
		else if (c == '&')
			text_append(t, "&amp;");
		else if (c == '_' && in_word && isalnum((unsigned char)s[1]))
			text_append_char(t, c);
		else if (strchr("\\`*_[]|~#!@>", c))
			text_printf(t, "\\%c", c);
		else
			text_append_char(t, c);
	}
}
