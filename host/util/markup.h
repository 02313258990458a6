/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text from guests and other programs inside of XML, HTML and Markdown: nothing in it is markup.
 */
#ifndef UTIL_MARKUP_H
#define UTIL_MARKUP_H

#include "util/text.h"

/*
 * As the text or the attribute's value (in double quotes) of an XML 1.0 or HTML document. s is
 * UTF-8; a character that XML forbids (section 2.2) becomes "\xNN", or U+FFFD.
 */
void text_append_xml(struct text *t, const char *s);

/* As the text of a cell of a GitHub-flavoured Markdown table: on one line, no markup, no HTML. */
void text_append_markdown(struct text *t, const char *s);

#endif
