// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Error texts in a buffer of the caller; a text too long is cut at the end.
 */
#include <stdarg.h>
#include <stdio.h>

#include "util/error.h"
#include "util/text.h"

int error_set(struct error *err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	err->unsupported = false;
	va_end(args);
	return -1;
}

int error_unsupported(struct error *err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	err->unsupported = true;
	return -1;
}

int error_prefix(struct error *err, const char *fmt, ...)
{
	struct text t = { 0 };
	va_list args;

	va_start(args, fmt);
	text_vprintf(&t, fmt, args);
	va_end(args);
	text_printf(&t, ": %s", err->text);
	snprintf(err->text, sizeof(err->text), "%s", t.data);
	text_free(&t);
	return -1;
}
