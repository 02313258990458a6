// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cycle counters while the host acts: hostpmutest.h.
 */
#include "hostaction.h"
#include "hostpmutest.h"
#include "libcflat.h"

#define MAX_KINDS 8
/* No clock of any CPU is faster: more cycles than that in a time are no cycles. */
#define MOST_PER_NS 10

static const struct cycle_counter *(*find_counter)(void);

/* What one CPU saw. */
struct seen {
	u64 before, after, later; /* the counter: before the action, after it, and after work */
	u64 before_ticks, after_ticks;
	const char *diagnosis;
};

static struct run {
	const struct host_action_kind *kind;
	const struct cycle_counter *counter;
	struct smp_barrier barrier;
	struct host_action action;
	struct seen seen[MAX_CPUS];
} run;

/* The read after the action is the first access to the PMU since then. */
static void run_here(void *arg)
{
	const struct cycle_counter *counter = run.counter;
	struct seen *s = &run.seen[smp_id()];

	s->before_ticks = clock_ticks();
	counter->start(counter->value);
	s->before = counter->read();
	smp_barrier_wait(&run.barrier);
	if (smp_id() == 0) {
		host_action_begin_kind(run.kind, 0);
		host_action_end(&run.action);
	}
	smp_barrier_wait(&run.barrier);
	s->after = counter->read();
	s->after_ticks = clock_ticks();
	counter->work();
	s->later = counter->read();
	s->diagnosis = counter->diagnosis();
	counter->stop();
}

/* It counts what the guest runs, so no longer than that of the guest's own time. */
static void judge(int cpu)
{
	const struct cycle_counter *counter = run.counter;
	const struct seen *s = &run.seen[cpu];
	u64 counted = (s->after - s->before) & counter->mask;
	u64 work = (s->later - s->after) & counter->mask;
	u64 ns = ticks_to_ns(s->after_ticks - s->before_ticks + 1, clock_hz());
	u64 most = mul_div_u64(ns + 1, MOST_PER_NS, 1);

	report_info("CPU %d: 0x%lx before, 0x%lx after the action, %lu cycles over the work", cpu,
		    s->before, s->after, work);
	report_expect(counted <= most,
		      "CPU %d: %s was 0x%lx before the action and is 0x%lx after it: lost, or more "
		      "than the %lu cycles that there can be in %lu ns",
		      cpu, counter->name, s->before, s->after, most, ns);
	report_expect(counted > 0, "CPU %d: %s stood at 0x%lx through the action: %s", cpu,
		      counter->name, s->before, s->diagnosis);
	report_expect(work >= counter->work_least && work <= counter->mask / 2,
		      "CPU %d: %s counted %lu over work of at least %lu cycles: %s", cpu,
		      counter->name, work, counter->work_least, s->diagnosis);
}

static void check_kept(void)
{
	run = (struct run){ .kind = report_subject(), .counter = find_counter() };
	if (!run.counter)
		return;
	if (run.kind->again)
		host_action(run.kind->action, "", &run.action);
	if (!host_action_report(&run.action, run.kind->action))
		return;
	smp_barrier_init(&run.barrier, smp_count());
	on_all_cpus(run_here, NULL);
	if (!host_action_report(&run.action, run.kind->action))
		return;
	for (int cpu = 0; cpu < smp_count(); cpu++)
		judge(cpu);
}

int host_pmu_report_run(const char *image, const struct cycle_counter *(*find)(void))
{
	static const struct host_action_kind *kinds[MAX_KINDS];
	static struct check checks[MAX_KINDS];
	size_t count = host_action_kinds(kinds, MAX_KINDS);

	find_counter = find;
	for (size_t k = 0; k < count; k++)
		checks[k] = (struct check){
			.name = kinds[k]->name,
			.run = check_kept,
			.guards = "P5 P7",
			.story = "A cycle counter keeps its value and goes on counting, with "
				 "nothing "
				 "of the PMU touched",
			.subject = kinds[k],
		};
	return report_run(image, checks, count);
}
