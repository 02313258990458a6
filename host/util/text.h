/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text: a buffer that grows, words, numbers, quoting, and the nearest of some names to a mistyped
 * one. Nothing here fails for want of memory (util/memory.h).
 */
#ifndef UTIL_TEXT_H
#define UTIL_TEXT_H

#include <stdarg.h>
#include "types.h"

/* All zero is an empty text. data is NULL or ends in a NUL that len does not count. */
struct text {
	char *data;
	size_t len;
	size_t cap;
};

void text_append(struct text *t, const char *s);
/* len bytes, NULs included. */
void text_append_bytes(struct text *t, const void *data, size_t len);
void text_append_char(struct text *t, char c);
void text_printf(struct text *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
void text_vprintf(struct text *t, const char *fmt, va_list args) PRINTF_LIKE(2, 0);

/* The word as a POSIX shell reads it back: quoted only where it has to be. */
void text_append_quoted(struct text *t, const char *word);

/* "a b 'c d'": a NULL-terminated argument vector for the reader to paste. */
void text_append_command(struct text *t, char *const argv[]);

/*
 * The bytes as valid UTF-8 without NULs: every byte that belongs to no character of UTF-8 (RFC
 * 3629), and every NUL, becomes "\xNN".
 */
void text_append_utf8(struct text *t, const char *data, size_t len);

/* The content as a string of its own ("" when empty) to be freed; t is empty afterwards. */
char *text_take(struct text *t);
/* The content as a string that holds until the next change of t. */
const char *text_string(const struct text *t);
/* Empties it and keeps the memory; empties it and frees the memory. */
void text_clear(struct text *t);
void text_free(struct text *t);

/* A malloced string. */
char *text_format(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* A copy; NULL gives NULL. */
char *text_copy(const char *s);
char *text_copy_bytes(const char *s, size_t len);

/* Words between any of the separators, none of them empty; NULL-terminated, words_free() it. */
char **words_split(const char *s, const char *separators);
void words_free(char **words);
size_t words_count(char *const *words);
/* Is there any word in s? */
bool words_any(const char *s, const char *separators);
char **words_copy(char *const *words);
bool words_have(char *const *words, const char *word);
/* Each word once, in the order of their first places; words_free() it. */
char **words_unique(char *const *words);

/* The words (NULL-terminated) with the separator between them: "a, b, c". Malloced. */
char *words_join(char *const *words, const char *separator);

/* Without blanks at both ends, in place; returns the new start. */
char *text_trim(char *s);
bool text_starts_with(const char *s, const char *prefix);
bool text_ends_with(const char *s, const char *suffix);

/*
 * A decimal number and nothing else (no sign, no blanks). 0, or -1 when it is none or is outside
 * of min to max; *value is then unchanged.
 */
int text_to_u64(const char *s, u64 min, u64 max, u64 *value);

/*
 * The name (of a NULL-terminated list) that was most likely meant by a mistyped word: at most a
 * third of its letters wrong. NULL when none is near.
 */
const char *text_nearest(const char *word, const char *const *names);

#endif
