// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the INI dialect, line by line; a line that is wrong is reported and left out.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ini.h"
#include "util/memory.h"

void mistake_add(struct mistakes *m, const char *file, unsigned line, const char *fmt, ...)
{
	struct text t = { 0 };
	va_list args;

	va_start(args, fmt);
	text_vprintf(&t, fmt, args);
	va_end(args);
	m->list = memory_resize(m->list, m->count + 1, sizeof(*m->list));
	m->list[m->count++] = (struct mistake){ text_copy(file), line, text_take(&t) };
}

/* Insertion: the list is short, and mistakes of one line keep the order in which they were found. */
static void mistakes_sort(struct mistakes *m)
{
	for (size_t i = 1; i < m->count; i++) {
		struct mistake moved = m->list[i];
		size_t j = i;

		while (j && !strcmp(m->list[j - 1].file, moved.file) &&
		       m->list[j - 1].line > moved.line) {
			m->list[j] = m->list[j - 1];
			j--;
		}
		m->list[j] = moved;
	}
}

void mistakes_print(struct mistakes *m, struct text *out)
{
	mistakes_sort(m);
	for (size_t i = 0; i < m->count; i++) {
		const struct mistake *mistake = &m->list[i];

		text_append(out, mistake->file);
		if (mistake->line)
			text_printf(out, ":%u", mistake->line);
		text_append(out, ": ");
		text_append_utf8(out, mistake->text, strlen(mistake->text));
		text_append_char(out, '\n');
	}
}

void mistakes_tell(struct mistakes *m)
{
	struct text t = { 0 };

	mistakes_print(m, &t);
	fputs(text_string(&t), stderr);
	text_free(&t);
}

void mistakes_free(struct mistakes *m)
{
	for (size_t i = 0; i < m->count; i++) {
		free(m->list[i].file);
		free(m->list[i].text);
	}
	free(m->list);
	*m = (struct mistakes){ 0 };
}

struct reader {
	const char *file;
	unsigned line;
	struct ini *ini;
	struct mistakes *mistakes;
	/* A section header was wrong: its keys are left out without a word each. */
	bool section_lost;
};

#define mistake(r, ...) mistake_add((r)->mistakes, (r)->file, (r)->line, __VA_ARGS__)

/* Cuts a comment off: '#' first or after a blank, so that "page#part" stays whole. */
static void strip_comment(char *s)
{
	for (char *p = s; *p; p++) {
		if (*p == '#' && (p == s || p[-1] == ' ' || p[-1] == '\t')) {
			*p = '\0';
			return;
		}
	}
}

static void read_section(struct reader *r, char *s)
{
	size_t len = strlen(s);
	struct ini *ini = r->ini;
	char *name;

	r->section_lost = true;
	if (s[len - 1] != ']') {
		/* A name may itself hold brackets (a wildcard), so the last one closes. */
		if (strchr(s, ']'))
			mistake(r, "text after the section's closing ']'");
		else
			mistake(r, "a section begins with '[' but has no closing ']'");
		return;
	}
	s[len - 1] = '\0';
	name = text_trim(s + 1);
	if (!*name) {
		mistake(r, "a section without a name: write [name]");
		return;
	}
	r->section_lost = false;
	ini->sections = memory_resize(ini->sections, ini->nr_sections + 1, sizeof(*ini->sections));
	ini->sections[ini->nr_sections++] = (struct ini_section){
		.name = text_copy(name),
		.line = r->line,
	};
}

static const struct ini_key *find_key(const struct ini_section *section, const char *name)
{
	for (size_t i = 0; i < section->nr_keys; i++) {
		if (!strcmp(section->keys[i].name, name))
			return &section->keys[i];
	}
	return NULL;
}

static void read_key(struct reader *r, char *s)
{
	char *equals = strchr(s, '=');
	struct ini_section *section;
	const struct ini_key *first;
	char *name, *value;

	if (!equals) {
		mistake(r, "'%s' is neither [section] nor key = value", s);
		return;
	}
	*equals = '\0';
	name = text_trim(s);
	value = text_trim(equals + 1);
	if (!*name) {
		mistake(r, "a value without a key before the '='");
		return;
	}
	if (r->section_lost)
		return;
	if (!r->ini->nr_sections) {
		mistake(r, "key '%s' stands before the first [section]", name);
		return;
	}
	section = &r->ini->sections[r->ini->nr_sections - 1];
	first = find_key(section, name);
	if (first) {
		mistake(r, "key '%s' is given twice in [%s]; the first is in line %u", name,
			section->name, first->line);
		return;
	}
	section->keys = memory_resize(section->keys, section->nr_keys + 1, sizeof(*section->keys));
	section->keys[section->nr_keys++] = (struct ini_key){
		.name = text_copy(name),
		.value = text_copy(value),
		.line = r->line,
	};
}

/* s is NUL-terminated at len and may be changed. */
static void read_line(struct reader *r, char *s, size_t len)
{
	if (len > INI_LINE_MAX) {
		mistake(r, "the line has %zu bytes, more than %d", len, INI_LINE_MAX);
		return;
	}
	if (len && s[len - 1] == '\r')
		s[--len] = '\0';
	for (size_t i = 0; i < len; i++) {
		if (!s[i]) {
			mistake(r, "a NUL byte in column %zu: this is not a text file", i + 1);
			return;
		}
		if (iscntrl((unsigned char)s[i]) && s[i] != '\t') {
			mistake(r, "control character 0x%02x in column %zu", (unsigned char)s[i],
				i + 1);
			return;
		}
	}
	strip_comment(s);
	s = text_trim(s);
	if (*s == '[')
		read_section(r, s);
	else if (*s)
		read_key(r, s);
}

int ini_parse(const char *file, const char *data, size_t len, struct ini *ini, struct mistakes *m)
{
	struct reader r = { .file = file, .ini = ini, .mistakes = m };
	size_t mistakes_before = m->count;

	*ini = (struct ini){ 0 };
	while (len) {
		const char *end = memchr(data, '\n', len);
		size_t line_len = end ? (size_t)(end - data) : len;
		char *line = text_copy_bytes(data, line_len);

		r.line++;
		read_line(&r, line, line_len);
		free(line);
		line_len += end ? 1 : 0;
		data += line_len;
		len -= line_len;
	}
	return m->count == mistakes_before ? 0 : -1;
}

/* The whole file into t; 0, or an errno value with t undefined. */
static int read_file(int fd, struct text *t)
{
	char buf[16384];
	ssize_t got;

	for (;;) {
		got = read(fd, buf, sizeof(buf));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		if (!got)
			return 0;
		text_append_bytes(t, buf, got);
		if (t->len > INI_FILE_MAX)
			return EFBIG;
	}
}

int ini_read(const char *path, struct ini *ini, struct mistakes *m)
{
	struct text t = { 0 };
	struct stat st;
	int fd, ret = -1;

	*ini = (struct ini){ 0 };
	/* Not blocking: a FIFO without a writer is refused below, not waited for. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		mistake_add(m, path, 0, "cannot be opened: %s", strerror(errno));
		return -1;
	}
	if (fstat(fd, &st) < 0) {
		mistake_add(m, path, 0, "cannot be read: %s", strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		mistake_add(m, path, 0, "is %s, not a file",
			    S_ISDIR(st.st_mode) ? "a directory" : "a device or pipe");
	} else {
		int failure = read_file(fd, &t);

		if (failure == EFBIG)
			mistake_add(m, path, 0, "has more than %d bytes", INI_FILE_MAX);
		else if (failure)
			mistake_add(m, path, 0, "cannot be read: %s", strerror(failure));
		else
			ret = ini_parse(path, text_string(&t), t.len, ini, m);
	}
	close(fd);
	text_free(&t);
	return ret;
}

void ini_free(struct ini *ini)
{
	for (size_t i = 0; i < ini->nr_sections; i++) {
		struct ini_section *section = &ini->sections[i];

		for (size_t j = 0; j < section->nr_keys; j++) {
			free(section->keys[j].name);
			free(section->keys[j].value);
		}
		free(section->keys);
		free(section->name);
	}
	free(ini->sections);
	*ini = (struct ini){ 0 };
}
