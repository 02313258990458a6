/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text from guests and other programs for a terminal: nothing in it may move the cursor, change
 * colours or end a line.
 */
#ifndef UTIL_PRINTABLE_H
#define UTIL_PRINTABLE_H

#include "util/text.h"

/*
 * The bytes as valid UTF-8 with every control character (C0 but the tab, DEL, C1) and every byte
 * that belongs to no character as "\xNN". Newlines stay where keep_newlines is set.
 */
void text_append_printable(struct text *t, const char *data, size_t len, bool keep_newlines);

/* The same of a whole string, malloced, on one line. NULL gives NULL. */
char *printable(const char *s);

#endif
