// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What git-bisect(1), "Bisect run", wants to be told.
 */
#include "bisect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "record.h"
#include "util/text.h"

#define EXIT_REGRESSION 2

/* What the trees of the kernel want; new options of a later commit get their defaults. */
static char *default_command(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return text_format("make olddefconfig && make -j%ld", cpus > 0 ? cpus : 1);
}

int bisect_build(const struct options *o)
{
	char *command = o->bisect_build ? text_copy(o->bisect_build) : default_command();
	struct text line = { 0 };
	int status;

	/* Its output goes to stderr: stdout is the report's. */
	text_append(&line, "exec 1>&2; cd ");
	text_append_quoted(&line, o->kernel);
	text_printf(&line, " && { %s\n}", command);
	fflush(NULL);
	status = system(text_string(&line));
	text_free(&line);
	free(command);
	if (status != -1 && WIFSIGNALED(status))
		return BISECT_STOP + WTERMSIG(status);
	/* A shell whose command was killed by a signal says 128 and its number. */
	if (status != -1 && WEXITSTATUS(status) > BISECT_STOP)
		return WEXITSTATUS(status);
	return status ? BISECT_SKIP : BISECT_GOOD;
}

/* Whether every kernel of the run came up and began with its tests (docs/results.md). */
static bool kernels_ran(const json_t *run)
{
	const json_t *targets = json_object_get(run, "targets");
	const json_t *booted = json_object_get(json_object_get(run, "environment"), "kernel_mode");

	for (size_t i = 0; i < json_array_size(targets); i++) {
		if (!json_object_get(booted, record_string(json_array_get(targets, i), "arch")))
			return false;
	}
	return json_array_size(targets) > 0;
}

int bisect_status(int status, int signo, const json_t *run)
{
	if (signo)
		return BISECT_STOP + signo;
	if (!kernels_ran(run))
		return BISECT_SKIP;
	switch (status) {
	case 0:
		return BISECT_GOOD;
	case 1:
	case EXIT_REGRESSION:
		return BISECT_BAD;
	default:
		return BISECT_SKIP;
	}
}
