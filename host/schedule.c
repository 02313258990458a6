// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The scheduler. A job is one repetition of one test. Jobs that measure time come after all others,
 * one at a time, so that nothing of the run is beside them.
 */
#include "schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "interrupt.h"
#include "judge.h"
#include "cost_limits.h"
#include "statistics.h"
#include "stream_report.h"
#include "test_run.h"
#include "util/memory.h"
#include "util/text.h"

struct job {
	struct schedule *owner;
	const struct test *test;
	unsigned int repetition;
	struct test_result result;
	struct test_run *run; /* while it runs */
	FILE *log;
};

struct schedule {
	const struct schedule_spec *spec;
	struct loop *loop;
	struct job *jobs;
	size_t nr_jobs;
	size_t next;	/* of the jobs that were not started yet */
	size_t running; /* at this moment */
	struct interrupt interrupt;
	struct error *err;
	bool failed;
};

size_t schedule_planned(const struct schedule_spec *spec)
{
	return spec->selection->count * spec->options->repeat;
}

static void add_jobs(struct schedule *s, bool timing)
{
	const struct selection *selection = s->spec->selection;

	for (size_t i = 0; i < selection->count; i++) {
		if (selection->tests[i]->timing != timing)
			continue;
		for (unsigned int n = 1; n <= s->spec->options->repeat; n++) {
			s->jobs[s->nr_jobs++] = (struct job){
				.owner = s,
				.test = selection->tests[i],
				.repetition = n,
			};
		}
	}
}

/*
 * Benchmarks: one boot of each test after the other, in an order that is drawn anew for each round,
 * so that what changes on the host meets all of them alike.
 */
static void add_boots(struct schedule *s)
{
	const struct selection *selection = s->spec->selection;
	size_t *order = memory_zalloc(selection->count * sizeof(*order));
	struct random random;

	random_start(&random, s->spec->options->seed);
	for (unsigned int n = 1; n <= s->spec->options->repeat; n++) {
		random_order(&random, order, selection->count);
		for (size_t i = 0; i < selection->count; i++) {
			s->jobs[s->nr_jobs++] = (struct job){
				.owner = s,
				.test = selection->tests[order[i]],
				.repetition = n,
			};
		}
	}
	free(order);
}

/* ---- recording ------------------------------------------------------------------------------- */

static void fail(struct schedule *s)
{
	s->failed = true;
	loop_quit(s->loop);
}

static void show_running(struct schedule *s)
{
	const char **keys = memory_zalloc((s->running + 1) * sizeof(*keys));
	size_t count = 0;

	for (size_t i = 0; i < s->next && count < s->running; i++) {
		if (s->jobs[i].run)
			keys[count++] = s->jobs[i].test->key;
	}
	progress_running(s->spec->progress, keys, count);
	if (s->spec->options->stream)
		stream_report_running(keys, count);
	free(keys);
}

/* The result is complete: judged, recorded, reported, freed. */
static void complete(struct job *job)
{
	struct schedule *s = job->owner;
	struct circumstances c = target_circumstances(&s->spec->targets[job->test->arch],
						      s->spec->options->outer_qemu);
	bool torn = false;

	if (job->log) {
		torn = ferror(job->log);
		torn |= fclose(job->log) != 0;
		job->log = NULL;
	}
	limits_apply(&job->result, &c);
	judge(&job->result, s->spec->expectations, &c);
	if (results_add(s->spec->results, &job->result, s->err)) {
		fail(s);
	} else if (torn) {
		error_set(s->err, "%s/%s: %s: free some space, or see -o",
			  results_dir(s->spec->results), job->result.log, strerror(ENOSPC));
		fail(s);
	}
	progress_result(s->spec->progress, &job->result);
	if (s->spec->options->stream) {
		struct results_target target =
			target_for_results(&s->spec->targets[job->test->arch]);

		stream_report_test(&job->result, &target, results_dir(s->spec->results));
	}
	test_result_free(&job->result);
}

/* ---- starting -------------------------------------------------------------------------------- */

static void start_jobs(struct schedule *s);

static void on_done(void *ctx)
{
	struct job *job = ctx;
	struct schedule *s = job->owner;

	test_run_free(job->run);
	job->run = NULL;
	s->running--;
	complete(job);
	if (!s->failed)
		start_jobs(s);
}

static void set_result(struct job *job, enum verdict verdict, char *reason)
{
	job->result.verdict = verdict;
	job->result.raw = verdict;
	job->result.reason = reason;
}

/* true when the job has its result without being run. */
static bool is_settled(struct job *job, const struct target *target)
{
	const struct test *test = job->test;

	if (!(test->vmms & BIT(target->backend->kind))) {
		set_result(job, VERDICT_SKIP,
			   text_format("not for the VMM %s (key vmm in the config)",
				       target->backend->name));
		return true;
	}
	if (test->faults && target->backend->kind != VMM_KVM) {
		set_result(job, VERDICT_SKIP,
			   text_format("%s has no faults on purpose (key fault in the config)",
				       target->backend->name));
		return true;
	}
	if (!target->usable) {
		set_result(job, VERDICT_ERROR,
			   text_format("%s cannot run %s guests under %s here: %s",
				       target->backend->name, arch_to_name(target->arch),
				       accel_to_name(target->accel), target->accel_reason));
		return true;
	}
	if (test->el2 && *target->probe.no_el2) {
		set_result(job, VERDICT_SKIP, text_copy(target->probe.no_el2));
		return true;
	}
	if (test->counter_offset && *target->probe.no_counter_offset) {
		set_result(job, VERDICT_SKIP, text_copy(target->probe.no_counter_offset));
		return true;
	}
	if (!(test->accels & BIT(target->accel))) {
		set_result(job, VERDICT_SKIP,
			   text_format("not under the accelerator %s (key accel in the config)",
				       accel_to_name(target->accel)));
		return true;
	}
	return false;
}

static void start(struct job *job)
{
	struct schedule *s = job->owner;
	const struct options *o = s->spec->options;
	struct test_run_spec spec = {
		.loop = s->loop,
		.target = &s->spec->targets[job->test->arch],
		.result = &job->result,
		.images = o->images,
		.append = o->append,
		.outer_qemu = o->outer_qemu,
		.pin = options_pin(o),
		.timeout_s = o->timeout_s,
	};

	test_result_init(&job->result, job->test, job->repetition);
	job->result.start_ns = now_ns() - s->spec->run_start_ns;
	if (is_settled(job, spec.target)) {
		complete(job);
		return;
	}
	job->log = results_open_log(s->spec->results, &job->result, s->err);
	if (!job->log) {
		test_result_free(&job->result);
		fail(s);
		return;
	}
	setvbuf(job->log, NULL, _IOLBF, BUFSIZ); /* for whoever follows it while it grows */
	spec.log = job->log;
	job->run = test_run_start(&spec, on_done, job);
	s->running++;
}

static void start_jobs(struct schedule *s)
{
	while (s->next < s->nr_jobs && !s->failed && !s->interrupt.signo) {
		struct job *job = &s->jobs[s->next];
		bool alone = job->test->timing || s->spec->options->bench;
		size_t limit = alone ? 1 : s->spec->options->jobs;

		if (s->running >= limit)
			break;
		s->next++;
		start(job);
	}
	show_running(s);
	if (!s->running)
		loop_quit(s->loop);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Ends what still runs, without a result. */
static void stop_jobs(struct schedule *s)
{
	for (size_t i = 0; i < s->next; i++) {
		struct job *job = &s->jobs[i];

		if (!job->run)
			continue;
		test_run_free(job->run);
		job->run = NULL;
		fclose(job->log);
		test_result_free(&job->result);
	}
	s->running = 0;
	show_running(s);
}

int schedule_run(const struct schedule_spec *spec, int *signo, struct error *err)
{
	struct schedule s = { .spec = spec, .err = err, .loop = loop_new() };

	s.jobs = memory_zalloc((schedule_planned(spec) + 1) * sizeof(*s.jobs));
	if (spec->options->bench) {
		add_boots(&s);
	} else {
		add_jobs(&s, false);
		add_jobs(&s, true);
	}
	interrupt_watch(&s.interrupt, s.loop);
	start_jobs(&s);
	if (s.running && !s.failed)
		loop_run(s.loop);
	stop_jobs(&s);
	interrupt_unwatch(&s.interrupt);
	loop_free(s.loop);
	free(s.jobs);
	*signo = s.interrupt.signo;
	return s.failed ? -1 : 0;
}
