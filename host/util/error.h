/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Error texts: what happened, to which file, test or option, and what to do next. A function that
 * can fail returns -1 or NULL and fills the struct error its caller passed.
 */
#ifndef UTIL_ERROR_H
#define UTIL_ERROR_H

#include "types.h"

struct error {
	char text[1024];
	bool unsupported; /* no failure: it cannot be done here at all */
};

/* Sets the text; returns -1, so that "return error_set(err, …);" reads well. */
int error_set(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The same where what was asked for cannot be done here at all. */
int error_unsupported(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Puts "what: " before the text. Returns -1. */
int error_prefix(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
