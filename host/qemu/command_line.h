/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a machine's description to QEMU's arguments.
 */
#ifndef QEMU_COMMAND_LINE_H
#define QEMU_COMMAND_LINE_H

#include "backend.h"

/*
 * Arguments for a guest that waits for "cont", with its console and its monitor on these inherited,
 * connected sockets. words_free() it.
 */
char **qemu_command_line(const struct machine_spec *spec, int console_fd, int qmp_fd);

/*
 * Arguments for a machine without a guest that never runs, its monitor on stdin and stdout: whether
 * QEMU comes up with this accelerator, CPU and firmware. words_free() it.
 */
char **qemu_trial_command_line(const struct machine_spec *spec);

/* Of these, what the machine is: without QEMU's name, console, monitor and image. words_free() it. */
char **qemu_machine_words(const struct machine_spec *spec);

#endif
