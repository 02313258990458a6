// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The catalogue is a document first: what is read here are the rows of its tables, and every other
 * line of it is for people.
 */
#include "catalogue.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "util/file.h"
#include "util/memory.h"
#include "util/text.h"

#define CATALOGUE_MAX (1u << 20) /* bytes */

/* "A21": a capital letter and a number. */
static bool is_id(const char *word)
{
	u64 number;

	return isupper((unsigned char)*word) && !text_to_u64(word + 1, 1, 9999, &number);
}

/* The next cell of a row, without the blanks around it; NULL at the end. */
static char *next_cell(char **rest)
{
	char *bar = *rest ? strchr(*rest, '|') : NULL;
	char *cell = *rest;

	if (!bar)
		return NULL;
	*bar = '\0';
	*rest = bar + 1;
	return text_trim(cell);
}

static void read_row(struct catalogue *c, char *line)
{
	char *id, *title, *where;

	if (*line++ != '|')
		return;
	id = next_cell(&line);
	title = next_cell(&line);
	where = next_cell(&line);
	if (!where || !is_id(id))
		return;
	c->list = memory_resize(c->list, c->count + 1, sizeof(*c->list));
	c->list[c->count++] = (struct defect){
		.id = text_copy(id),
		.title = text_copy(title),
		.where = text_copy(where),
	};
}

int catalogue_load(const char *path, struct catalogue *c, struct error *err)
{
	struct text content = { 0 };
	char **lines;

	*c = (struct catalogue){ 0 };
	if (file_read(path, CATALOGUE_MAX, &content, err)) {
		text_free(&content);
		return -1;
	}
	lines = words_split(text_string(&content), "\n");
	for (size_t i = 0; lines[i]; i++)
		read_row(c, lines[i]);
	words_free(lines);
	text_free(&content);
	return c->count ? 0 : error_set(err, "%s: no row of a table names a defect", path);
}

void catalogue_free(struct catalogue *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->list[i].id);
		free(c->list[i].title);
		free(c->list[i].where);
	}
	free(c->list);
	*c = (struct catalogue){ 0 };
}

const struct defect *catalogue_find(const struct catalogue *c, const char *id)
{
	for (size_t i = 0; i < c->count; i++) {
		if (!strcmp(c->list[i].id, id))
			return &c->list[i];
	}
	return NULL;
}
