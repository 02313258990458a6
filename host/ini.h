/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dialect of unittests.cfg and of the files in expected/: "[section]" lines, "key = value"
 * lines, and comments, which begin with a '#' at the start of a line or after a blank. A value runs
 * to the end of its line. What sections and keys mean is their reader's business; its mistakes and
 * the dialect's own are collected in one list, so that all are told, in the file's order.
 */
#ifndef HOST_INI_H
#define HOST_INI_H

#include "types.h"
#include "util/text.h"

/* Longest line in bytes, and largest file. */
#define INI_LINE_MAX 4095
#define INI_FILE_MAX (1024 * 1024)

struct ini_key {
	char *name;
	char *value; /* "" where there is none */
	unsigned line;
};

struct ini_section {
	char *name;
	unsigned line;
	struct ini_key *keys;
	size_t nr_keys;
};

struct ini {
	struct ini_section *sections; /* a name may stand more than once */
	size_t nr_sections;
};

struct mistake {
	char *file;
	unsigned line; /* 0: the file as a whole */
	char *text;
};

struct mistakes {
	struct mistake *list;
	size_t count;
};

void mistake_add(struct mistakes *m, const char *file, unsigned line, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* "FILE:LINE: TEXT" lines; by line within a file, files in the order in which they came. */
void mistakes_print(struct mistakes *m, struct text *out);
/* The same to stderr. */
void mistakes_tell(struct mistakes *m);
void mistakes_free(struct mistakes *m);

/*
 * Reads a file, and keeps of it what is well-formed; its mistakes are added to m. Returns 0 when
 * there was none, else -1. ini is to be freed in both cases.
 */
int ini_read(const char *path, struct ini *ini, struct mistakes *m);

/* The same for a text; file is only its name in messages. */
int ini_parse(const char *file, const char *data, size_t len, struct ini *ini, struct mistakes *m);
void ini_free(struct ini *ini);

#endif
