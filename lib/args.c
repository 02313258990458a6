// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The arguments of args.h: the command line, cut into words once and searched from then on.
 */
#include "args.h"
#include "panic.h"
#include "stdlib.h"
#include "string.h"

#define CMDLINE_MAX 1023

/* The words, one after another, each with its NUL. */
static char words[CMDLINE_MAX + 1];
static size_t words_len;

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Copies one word without its quotes to words[]; returns where the next may begin. */
static const char *take_word(const char *p)
{
	bool quoted = false;

	for (; *p && (quoted || !is_blank(*p)); p++) {
		if (*p == '"')
			quoted = !quoted;
		else
			words[words_len++] = *p;
	}
	if (quoted)
		panic("arguments: the last \" has no other to close it");
	words[words_len++] = '\0';
	return p;
}

void args_init(const char *cmdline)
{
	size_t len = strlen(cmdline);

	/* A word's NUL takes the place of the blank behind it, so what fits before fits after. */
	if (len > CMDLINE_MAX)
		panic("arguments: %zu bytes, at most %d are possible; give fewer or shorter ones",
		      len, CMDLINE_MAX);
	words_len = 0;
	while (*cmdline) {
		if (is_blank(*cmdline))
			cmdline++;
		else
			cmdline = take_word(cmdline);
	}
}

/* What follows the key in the last word that has it: "" or "=value". NULL without one. */
static const char *find(const char *key)
{
	const char *found = NULL;
	size_t len = strlen(key);

	for (size_t at = 0; at < words_len; at += strlen(words + at) + 1) {
		const char *rest = words + at + len;

		if (!strncmp(words + at, key, len) && (*rest == '=' || !*rest))
			found = rest;
	}
	return found;
}

bool args_has(const char *key)
{
	return find(key);
}

const char *args_str(const char *key, const char *fallback)
{
	const char *rest = find(key);

	if (!rest)
		return fallback;
	return *rest ? rest + 1 : rest;
}

u64 args_u64(const char *key, u64 fallback)
{
	const char *text = args_str(key, NULL);
	u64 value;

	if (!text)
		return fallback;
	if (!str_to_u64(text, &value))
		panic("argument %s=%s: not a number from 0 to %lu (decimal, 0x or 0 prefix)", key,
		      text, UINT64_MAX);
	return value;
}
