/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the HTML page. Each appends whole elements; all text from a run goes through
 * text_append_xml().
 */
#ifndef HOST_REPORT_HTML_H
#define HOST_REPORT_HTML_H

#include <jansson.h>
#include "util/text.h"
#include "verdict.h"

extern const char report_html_style[];

/* The verdict as a coloured word. */
void html_add_verdict(struct text *out, enum verdict verdict);

/* <tag>text</tag>; nothing where text is NULL or empty. */
void html_add_element(struct text *out, const char *tag, const char *text);

/* What failed, each with a link to its test. */
void html_add_failures(struct text *out, const json_t *run);

/* A fold for every test: checks, figures, command, log. dir: where the logs are. */
void html_add_tests(struct text *out, const json_t *run, const char *dir);

/* Benchmarks, their distributions, and restore drift: nothing where nothing was measured. */
void html_add_figures(struct text *out, const json_t *run);

#endif
