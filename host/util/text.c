// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The growing buffer, and the string helpers of all host programs.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/text.h"

static void text_reserve(struct text *t, size_t more)
{
	size_t need = t->len + more + 1;

	if (need <= t->cap)
		return;
	t->cap = MAX(need, t->cap + t->cap / 2 + 32);
	t->data = memory_resize(t->data, t->cap, 1);
}

void text_append_bytes(struct text *t, const void *data, size_t len)
{
	text_reserve(t, len);
	if (len)
		memcpy(t->data + t->len, data, len);
	t->len += len;
	t->data[t->len] = '\0';
}

void text_append(struct text *t, const char *s)
{
	text_append_bytes(t, s, strlen(s));
}

void text_append_char(struct text *t, char c)
{
	text_append_bytes(t, &c, 1);
}

void text_vprintf(struct text *t, const char *fmt, va_list args)
{
	va_list again;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, fmt, args);
	if (len >= 0) {
		text_reserve(t, len);
		vsnprintf(t->data + t->len, len + 1, fmt, again);
		t->len += len;
	}
	va_end(again);
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	text_vprintf(t, fmt, args);
	va_end(args);
}

void text_append_quoted(struct text *t, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=:,./@%^";

	if (*word && strspn(word, plain) == strlen(word)) {
		text_append(t, word);
		return;
	}
	text_append_char(t, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			text_append(t, "'\\''");
		else
			text_append_char(t, *word);
	}
	text_append_char(t, '\'');
}

void text_append_command(struct text *t, char *const argv[])
{
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			text_append_char(t, ' ');
		text_append_quoted(t, argv[i]);
	}
}

/* Bytes of the UTF-8 character at s, 0 when there is none (RFC 3629, section 4). */
static size_t utf8_length(const unsigned char *s, size_t len)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t count;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		count = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		count = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		count = 4;
	else
		return 0;
	if (len < count)
		return 0;
	/* No overlong forms, no surrogates, nothing above U+10FFFF. */
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < count; i++) {
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	}
	return count;
}

void text_append_utf8(struct text *t, const char *data, size_t len)
{
	const unsigned char *s = (const unsigned char *)data;
	size_t i = 0;

	while (i < len) {
		size_t count = s[i] ? utf8_length(s + i, len - i) : 0;

		if (count)
			text_append_bytes(t, s + i, count);
		else
			text_printf(t, "\\x%02x", s[i]);
		i += count ? count : 1;
	}
}

char *text_take(struct text *t)
{
	char *s = t->data ? t->data : text_copy("");

	*t = (struct text){ 0 };
	return s;
}

const char *text_string(const struct text *t)
{
	return t->data ? t->data : "";
}

void text_clear(struct text *t)
{
	t->len = 0;
	if (t->data)
		t->data[0] = '\0';
}

void text_free(struct text *t)
{
	free(t->data);
	*t = (struct text){ 0 };
}

char *text_format(const char *fmt, ...)
{
	struct text t = { 0 };
	va_list args;

	va_start(args, fmt);
	text_vprintf(&t, fmt, args);
	va_end(args);
	return text_take(&t);
}

char *text_copy_bytes(const char *s, size_t len)
{
	char *copy = memory_zalloc(len + 1);

	if (len)
		memcpy(copy, s, len);
	return copy;
}

char *text_copy(const char *s)
{
	return s ? text_copy_bytes(s, strlen(s)) : NULL;
}

char **words_split(const char *s, const char *separators)
{
	char **words = memory_zalloc(sizeof(*words));
	size_t count = 0;

	for (;;) {
		size_t len;

		s += strspn(s, separators);
		len = strcspn(s, separators);
		if (!len)
			return words;
		words = memory_resize(words, count + 2, sizeof(*words));
		words[count++] = text_copy_bytes(s, len);
		words[count] = NULL;
		s += len;
	}
}

void words_free(char **words)
{
	if (!words)
		return;
	for (size_t i = 0; words[i]; i++)
		free(words[i]);
	free(words);
}

size_t words_count(char *const *words)
{
	size_t count = 0;

	while (words && words[count])
		count++;
	return count;
}

bool words_any(const char *s, const char *separators)
{
	return s[strspn(s, separators)] != '\0';
}

char **words_copy(char *const *words)
{
	size_t count = words_count(words);
	char **copy = memory_zalloc((count + 1) * sizeof(*copy));

	for (size_t i = 0; i < count; i++)
		copy[i] = text_copy(words[i]);
	return copy;
}

bool words_have(char *const *words, const char *word)
{
	for (size_t i = 0; words && words[i]; i++) {
		if (!strcmp(words[i], word))
			return true;
	}
	return false;
}

char **words_unique(char *const *words)
{
	char **unique = memory_zalloc((words_count(words) + 1) * sizeof(*unique));
	size_t count = 0;

	for (size_t i = 0; words[i]; i++) {
		if (!words_have(unique, words[i]))
			unique[count++] = text_copy(words[i]);
	}
	return unique;
}

char *words_join(char *const *words, const char *separator)
{
	struct text t = { 0 };

	for (size_t i = 0; words && words[i]; i++) {
		if (i)
			text_append(&t, separator);
		text_append(&t, words[i]);
	}
	return text_take(&t);
}

char *text_trim(char *s)
{
	size_t len;

	while (isspace((unsigned char)*s))
		s++;
	len = strlen(s);
	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	s[len] = '\0';
	return s;
}

bool text_starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool text_ends_with(const char *s, const char *suffix)
{
	size_t len = strlen(s), suffix_len = strlen(suffix);

	return len >= suffix_len && !strcmp(s + len - suffix_len, suffix);
}

int text_to_u64(const char *s, u64 min, u64 max, u64 *value)
{
	u64 n = 0;

	if (!*s)
		return -1;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (u64)(*s - '0'), &n))
			return -1;
	}
	if (n < min || n > max)
		return -1;
	*value = n;
	return 0;
}

#define NEAREST_MAX 63

/* Levenshtein's distance with one row; both words are at most NEAREST_MAX long. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[NEAREST_MAX + 1];
	size_t len_b = strlen(b);

	for (size_t j = 0; j <= len_b; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < len_b; j++) {
			size_t change = diagonal + (a[i] != b[j]);
			size_t add_or_drop = MIN(row[j], row[j + 1]) + 1;

			diagonal = row[j + 1];
			row[j + 1] = MIN(change, add_or_drop);
		}
	}
	return row[len_b];
}

const char *text_nearest(const char *word, const char *const *names)
{
	size_t best = SIZE_MAX;
	const char *nearest = NULL;

	if (strlen(word) > NEAREST_MAX)
		return NULL;
	for (size_t i = 0; names[i]; i++) {
		size_t distance;

		if (strlen(names[i]) > NEAREST_MAX)
			continue;
		distance = edit_distance(word, names[i]);
		if (distance < best && distance * 3 <= strlen(names[i])) {
			best = distance;
			nearest = names[i];
		}
	}
	return nearest;
}
