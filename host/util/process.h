/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starting and ending other programs: every one gets a process group of its own, dies with the
 * runner (also when that is killed), and inherits no descriptor that it was not given.
 */
#ifndef UTIL_PROCESS_H
#define UTIL_PROCESS_H

#include <sched.h>
#include <sys/types.h>
#include "types.h"
#include "util/error.h"
#include "util/text.h"

struct process_spec {
	char *const *argv; /* argv[0] is looked for in PATH */
	int stdin_fd;	   /* these three: -1 for /dev/null */
	int stdout_fd;
	int stderr_fd;
	const int *keep_fds; /* further descriptors it inherits under the same numbers */
	size_t nr_keep_fds;
	const cpu_set_t *cpus; /* that it may run on; NULL: as we may */
};

/* The child's pid, or -1 with err saying which program could not be executed and why. */
pid_t process_spawn(const struct process_spec *spec, struct error *err);

/*
 * Kills the child's process group and reaps the child. Waits at most timeout_ns for a child that
 * the kernel holds on to; false when it is still there then. status may be NULL.
 */
bool process_kill(pid_t pid, u64 timeout_ns, int *status);

/*
 * Runs a program with input on its stdin until it ends, at most timeout_ns and at most 1 MiB of
 * output. 0 when it ended by itself, its wait status in *status; -1 with err otherwise. Texts are
 * appended to. errors may be NULL: its stderr is then ours.
 */
int process_capture(char *const *argv, const char *input, u64 timeout_ns, struct text *out,
		    struct text *errors, int *status, struct error *err);

/* "ended with status 1", "was killed by signal 11 (Segmentation fault)". Malloced. */
char *process_status_text(int status);

#endif
