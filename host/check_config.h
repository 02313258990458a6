/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unittests.cfg against the images that there are.
 */
#ifndef HOST_CHECK_CONFIG_H
#define HOST_CHECK_CONFIG_H

#include "config.h"

/*
 * Every image (root/x86/NAME.c, root/arm/NAME.c) has a test, and every test an image. -1: what is
 * missing was printed to stderr. An architecture without a directory of images is left out.
 */
int check_config(const struct config *config, const char *root);

/* The same with what is missing added to a list instead of printed. */
int check_config_read(const struct config *config, const char *root, struct mistakes *m);

#endif
