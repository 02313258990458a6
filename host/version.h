/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The suite's version, for where there is no git to ask.
 */
#ifndef HOST_VERSION_H
#define HOST_VERSION_H

#define SUITE_VERSION "0.1.0"

#endif
