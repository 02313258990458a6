// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of requests, and one function for each.
 */
#include "kvm/request.h"

#include <string.h>
#include "kvm/control_names.h"
#include "kvm/snapshot.h"
#include "kvm/stats.h"

#define SHIFT_NS_MAX (1000000000ULL * 86400 * 366)

/* ---- stopping and going on ---------------------------------------------------------------------- */

static int stop(struct request_target *t, struct error *err)
{
	if (!t->running)
		return 0;
	t->running = false;
	return vm_stop(t->vm, err);
}

static int go_on(struct request_target *t, struct error *err)
{
	if (t->vm->end.kind)
		return error_set(err, "the machine has ended");
	t->running = true;
	vm_go_on(t->vm);
	return 0;
}

static int do_pause(struct request_target *t, const char *argument, struct text *out,
		    struct error *err)
{
	return stop(t, err);
}

static int do_resume(struct request_target *t, const char *argument, struct text *out,
		     struct error *err)
{
	return go_on(t, err);
}

static int do_save(struct request_target *t, const char *argument, struct text *out,
		   struct error *err)
{
	bool was_running = t->running;
	struct error ignored;
	int result;

	if (!*argument)
		return error_set(err, "save: a path is wanted");
	if (stop(t, err))
		return -1;
	result = snapshot_save(t->vm, argument, err);
	if (was_running)
		go_on(t, &ignored);
	return result;
}

static int do_reset(struct request_target *t, const char *argument, struct text *out,
		    struct error *err)
{
	bool was_running = t->running;

	if (stop(t, err) || vm_reset(t->vm, err))
		return -1;
	return was_running ? go_on(t, err) : 0;
}

/* ---- the host's side of it ---------------------------------------------------------------------- */

/* No stop that the guest would be told of: a CPU that is plugged in does not halt the others. */
static int do_plug(struct request_target *t, const char *argument, struct text *out,
		   struct error *err)
{
	struct vm *vm = t->vm;
	int result;

	if (vm->nr_vcpus == vm->max_vcpus)
		return error_unsupported(err, "all %u vCPUs that this machine can have are there",
					 vm->max_vcpus);
	if (vm_pause(vm, err))
		return -1;
	result = arch_plug(vm, err);
	if (t->running)
		vm_resume(vm);
	return result;
}

static int parse_cpus(const char *list, cpu_set_t *cpus, struct error *err)
{
	char **words = words_split(list, ",");
	int result = words[0] ? 0 : error_set(err, "affinity: CPUs are wanted: \"0,2\"");
	u64 cpu;

	CPU_ZERO(cpus);
	for (size_t i = 0; words[i] && !result; i++) {
		if (text_to_u64(words[i], 0, CPU_SETSIZE - 1, &cpu))
			result = error_set(err, "affinity: \"%s\" is no CPU", words[i]);
		else
			CPU_SET(cpu, cpus);
	}
	words_free(words);
	return result;
}

static int do_affinity(struct request_target *t, const char *argument, struct text *out,
		       struct error *err)
{
	cpu_set_t cpus;

	return parse_cpus(argument, &cpus, err) ? -1 : vm_set_affinity(t->vm, &cpus, err);
}

static int do_shift(struct request_target *t, const char *argument, struct text *out,
		    struct error *err)
{
	u64 ns;

	if (text_to_u64(argument, 0, SHIFT_NS_MAX, &ns))
		return error_set(err, "shift: \"%s\": ns up to a year are wanted", argument);
	if (t->running)
		return error_set(err, "shift: the machine is to be paused for it");
	if (arch_shift_clocks(t->vm, ns, err))
		return -1;
	state_free(&t->vm->at_pause);
	return state_save_clocks(t->vm, &t->vm->at_pause, err);
}

/* ---- looking ------------------------------------------------------------------------------------ */

static int do_clocks(struct request_target *t, const char *argument, struct text *out,
		     struct error *err)
{
	if (vm_pause(t->vm, err))
		return -1;
	arch_dump_clocks(t->vm, out);
	if (t->running)
		vm_resume(t->vm);
	return 0;
}

/* The counters are the vCPUs' own, so they are read while those stand still. */
static int do_stats(struct request_target *t, const char *argument, struct text *out,
		    struct error *err)
{
	if (vm_pause(t->vm, err))
		return -1;
	stats_print(t->vm, t->started_ns, out);
	if (t->running)
		vm_resume(t->vm);
	return 0;
}

/* Where a guest hangs that does not say it. */
static int do_registers(struct request_target *t, const char *argument, struct text *out,
			struct error *err)
{
	if (vm_pause(t->vm, err))
		return -1;
	for (unsigned int i = 0; i < t->vm->nr_vcpus; i++) {
		text_printf(out, "vCPU %u\n", i);
		arch_dump_registers(&t->vm->vcpus[i], out);
	}
	if (t->running)
		vm_resume(t->vm);
	return 0;
}

static const struct request {
	const char *word;
	int (*act)(struct request_target *t, const char *argument, struct text *out,
		   struct error *err);
} requests[] = {
	{ CONTROL_PAUSE, do_pause }, { CONTROL_RESUME, do_resume },
	{ CONTROL_SAVE, do_save },   { CONTROL_RESET_IT, do_reset },
	{ CONTROL_PLUG, do_plug },   { CONTROL_AFFINITY, do_affinity },
	{ CONTROL_SHIFT, do_shift }, { CONTROL_CLOCKS, do_clocks },
	{ CONTROL_STATS, do_stats }, { CONTROL_REGISTERS, do_registers },
};

int request_act(struct request_target *t, const char *word, const char *argument, struct text *out,
		struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		if (!strcmp(requests[i].word, word))
			return requests[i].act(t, argument, out, err);
	}
	return error_set(err, "there is no request \"%s\"", word);
}
