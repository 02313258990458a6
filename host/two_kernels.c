// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes turns: A B, B A, A B, …
 */
#include "two_kernels.h"

/* One turn of one kernel: "count" boots of every test, which are numbered from "done" on. */
static int run_turn(const struct kernel_mode_spec *spec, unsigned int done, unsigned int count,
		    int *signo, struct error *err)
{
	struct options options = *spec->options;
	struct kernel_mode_spec turn = *spec;

	options.repeat = count;
	options.seed += done; /* another order in every turn, the same for both kernels */
	turn.options = &options;
	turn.repetitions_before = done;
	return kernel_mode_run(&turn, signo, err);
}

int two_kernels_run(const struct kernel_mode_spec *first, const struct kernel_mode_spec *second,
		    bool exact, int *signo, struct error *err)
{
	unsigned int boots = first->options->repeat, count = exact ? boots : 1;
	int result = 0;

	*signo = 0;
	for (unsigned int done = 0; done < boots && !result && !*signo; done += count) {
		bool swap = done / count % 2;

		result = run_turn(swap ? second : first, done, count, signo, err);
		if (!result && !*signo)
			result = run_turn(swap ? first : second, done, count, signo, err);
	}
	return result;
}
