/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the unit tests of the host programs share: cmocka, a scratch directory, files in it, and a
 * seeded generator.
 */
#ifndef HOST_SUPPORT_H
#define HOST_SUPPORT_H

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "types.h"
#include "util/text.h"

static char scratch_dir[64];

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

/* For setup: a new directory, and the process in it. */
static inline int scratch_enter(void **state)
{
	strcpy(scratch_dir, "/tmp/unit.XXXXXX");
	return mkdtemp(scratch_dir) && !chdir(scratch_dir) ? 0 : -1;
}

static inline int scratch_leave(void **state)
{
	return chdir("/") || nftw(scratch_dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void write_bytes(const char *path, const void *data, size_t len)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static inline void write_string(const char *path, const char *s)
{
	write_bytes(path, s, strlen(s));
}

/* The whole file as a string; the caller frees. */
static inline char *read_string(const char *path)
{
	FILE *file = fopen(path, "r");
	struct text t = { 0 };
	char buf[4096];
	size_t got;

	if (!file)
		fail_msg("%s cannot be opened", path);
	while ((got = fread(buf, 1, sizeof(buf), file)))
		text_append_bytes(&t, buf, got);
	fclose(file);
	return text_take(&t);
}

static inline bool contains(const char *s, const char *part)
{
	return strstr(s, part) != NULL;
}

/* Fails with both texts where part is not in s. */
static inline void expect_contains(const char *s, const char *part)
{
	if (!contains(s, part))
		fail_msg("no '%s' in: %s", part, s);
}

/* xorshift64: the same numbers on every machine. */
static inline u64 random_next(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Changes, drops, doubles or cuts some bytes of a text; the seed says which. */
static inline void mutate(struct text *t, u64 *seed)
{
	static const char interesting[] = "[]=#\n\r\t .,-0123456789\0\xff\xc3;<>*";
	unsigned changes = 1 + random_next(seed) % 8;

	while (changes-- && t->len) {
		size_t at = random_next(seed) % t->len;
		size_t len = random_next(seed) % 40;

		switch (random_next(seed) % 5) {
		case 0:
			t->data[at] = interesting[random_next(seed) % (sizeof(interesting) - 1)];
			break;
		case 1:
			t->data[at] ^= 1 << random_next(seed) % 8;
			break;
		case 2:
			len = MIN(len, t->len - at);
			memmove(t->data + at, t->data + at + len, t->len - at - len);
			t->len -= len;
			t->data[t->len] = '\0';
			break;
		case 3: {
			char *copy = text_copy_bytes(t->data + at, MIN(len, t->len - at));

			text_append_bytes(t, copy, MIN(len, t->len - at));
			free(copy);
			break;
		}
		case 4:
			t->len = at;
			t->data[at] = '\0';
			break;
		}
	}
}

#endif
