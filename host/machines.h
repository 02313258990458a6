/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --machines: the tests' machines in words of QEMU's command line, for scripts that start an image
 * without the runner.
 */
#ifndef HOST_MACHINES_H
#define HOST_MACHINES_H

#include <stdio.h>
#include "options.h"
#include "select.h"

/*
 * A line a test, fields with tabs between them: architecture, name, image file, seconds until its
 * end, the image's arguments, QEMU's arguments under TCG, those under KVM ("-" where a test is not for
 * that).
 */
void machines_print(const struct selection *s, const struct options *o, FILE *out);

#endif
