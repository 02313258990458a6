/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a short program, without a shell, and keeps what it prints on stdout.
 */
#ifndef UTIL_CAPTURE_H
#define UTIL_CAPTURE_H

#include "types.h"
#include "util/error.h"
#include "util/text.h"

/*
 * Runs argv (found by PATH) until it ends or timeout_ns are over; stdin is /dev/null. Its stdout
 * goes to out (at most 1 MiB), its stderr to errors or, where that is NULL, to ours. Returns the
 * exit status, 128 + N when signal N ended it; -1 with err set when it could not be started or ran
 * too long (it is killed then). The child dies with this process.
 */
int capture(char *const argv[], u64 timeout_ns, struct text *out, struct text *errors,
	    struct error *err);

#endif
