// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Has scripts/fetch.sh fetch something, and reads what it answers.
 */
#include "fetch.h"

#include <stdlib.h>
#include <string.h>
#include "util/process.h"
#include "util/text.h"

/* A first fetch downloads some 100 MB. */
#define FETCH_TIMEOUT_NS (900ULL * 1000000000)
#define WORDS_MAX	 4

char **fetch(const char *root, const char *const *words, struct error *err)
{
	char *script = text_format("%s/scripts/fetch.sh", root);
	char *argv[WORDS_MAX + 2] = { script };
	struct text out = { 0 };
	char **lines = NULL;
	int status, result;

	for (size_t i = 0; i < WORDS_MAX && words[i]; i++)
		argv[i + 1] = (char *)words[i];
	result = process_capture(argv, NULL, FETCH_TIMEOUT_NS, &out, NULL, &status, err);
	if (result == 0 && status != 0)
		error_set(err, "%s %s could not be fetched, see above", words[0], words[1]);
	else if (result == 0)
		lines = words_split(text_string(&out), "\n");
	text_free(&out);
	free(script);
	return lines;
}

char *fetch_value(char *const *lines, const char *key)
{
	size_t len = strlen(key);

	for (; *lines; lines++) {
		if (strncmp(*lines, key, len) == 0 && (*lines)[len] == '=')
			return text_copy(*lines + len + 1);
	}
	return NULL;
}
