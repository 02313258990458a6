/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The views of results.json that --report makes: which there are, where they go.
 * docs/reports.md describes them for their readers.
 */
#ifndef HOST_REPORT_H
#define HOST_REPORT_H

#include <jansson.h>
#include "types.h"
#include "util/error.h"
#include "util/text.h"

struct report_format {
	const char *name;
	const char *file; /* its name in the run's directory, where the user gives none */
	/*
	 * Appends the view of a run that record_load() likes. dir: the run's directory, where its
	 * logs are. -1 with err set where the view cannot be made.
	 */
	int (*write)(const json_t *run, const char *dir, struct text *out, struct error *err);
};

/* The views, each in a file of its own. */
extern const struct report_format report_format_ktap;
extern const struct report_format report_format_junit;
extern const struct report_format report_format_markdown;
extern const struct report_format report_format_html;

/* One that was asked for. */
struct report {
	const struct report_format *format;
	char *path; /* "-": stdout; NULL: format->file in the run's directory */
};

struct reports {
	struct report *list;
	size_t count;
};

/* Adds FORMAT[=FILE] of a command line. -1 with err saying what formats there are. */
int reports_add(struct reports *r, const char *value, struct error *err);

/*
 * Makes all of them of the results in dir (or of a results.json by its name), and says on stdout
 * which file has which (except where quiet, or for what goes to stdout itself). -1 with err set for
 * the first that could not be made or written; the others are made nevertheless.
 */
int reports_make(const struct reports *r, const char *dir, bool quiet, struct error *err);
void reports_free(struct reports *r);

#endif
