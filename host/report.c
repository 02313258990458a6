// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the views by name, makes them and puts them where they were asked for.
 */
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "record.h"
#include "util/file.h"
#include "util/memory.h"

static const struct report_format *const formats[] = {
	&report_format_ktap,
	&report_format_junit,
	&report_format_markdown,
	&report_format_html,
};

static const struct report_format *find(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (strlen(formats[i]->name) == len && !strncmp(formats[i]->name, name, len))
			return formats[i];
	}
	return NULL;
}

int reports_add(struct reports *r, const char *value, struct error *err)
{
	const char *equals = strchr(value, '=');
	size_t len = equals ? (size_t)(equals - value) : strlen(value);
	const struct report_format *format = find(value, len);
	struct text names = { 0 };

	if (format && !(equals && !equals[1])) {
		r->list = memory_resize(r->list, r->count + 1, sizeof(*r->list));
		r->list[r->count++] = (struct report){
			.format = format,
			.path = equals ? text_copy(equals + 1) : NULL,
		};
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		text_printf(&names, "%s%s", i ? ", " : "", formats[i]->name);
	error_set(err, "--report '%s': it is FORMAT or FORMAT=FILE, where FORMAT is one of: %s",
		  value, text_string(&names));
	text_free(&names);
	return -1;
}

/* Where the text goes. */
static int put(const struct report *report, const char *dir, bool quiet, const struct text *t,
	       struct error *err)
{
	char *path;
	int ret;

	if (report->path && !strcmp(report->path, "-")) {
		fwrite(text_string(t), 1, t->len, stdout);
		if (fflush(stdout))
			return error_set(err, "the %s report cannot be written to stdout: %s",
					 report->format->name, strerror(errno));
		return 0;
	}
	path = report->path ? text_copy(report->path)
			    : text_format("%s/%s", dir, report->format->file);
	ret = file_write(path, text_string(t), t->len, err);
	if (!ret && !quiet)
		printf("report: %s\n", path);
	free(path);
	return ret;
}

static int make(const struct report *report, const json_t *run, const char *dir, bool quiet,
		struct error *err)
{
	struct text t = { 0 };
	int ret = report->format->write(run, dir, &t, err);

	if (ret)
		error_prefix(err, "the %s report cannot be made", report->format->name);
	else
		ret = put(report, dir, quiet, &t, err);
	text_free(&t);
	return ret;
}

/* The directory of results that are named by their file. */
static char *results_place(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return text_copy(path);
	return slash ? text_copy_bytes(path, slash - path) : text_copy(".");
}

int reports_make(const struct reports *r, const char *dir, bool quiet, struct error *err)
{
	struct error other;
	char *place;
	json_t *run;
	int ret = 0;

	if (!r->count)
		return 0;
	run = record_load(dir, err);
	if (!run)
		return -1;
	place = results_place(dir);
	for (size_t i = 0; i < r->count; i++) {
		if (make(&r->list[i], run, place, quiet, ret ? &other : err))
			ret = -1;
	}
	free(place);
	json_decref(run);
	return ret;
}

void reports_free(struct reports *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->list[i].path);
	free(r->list);
	*r = (struct reports){ 0 };
}
