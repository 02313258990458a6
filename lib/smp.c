// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Work on other CPUs. Every CPU has a mailbox; a CPU with nothing in it sleeps, and whoever posts
 * work kicks it and waits, bounded, for the answer.
 */
#include "args.h"
#include "muldiv.h"
#include "panic.h"
#include "report.h"
#include "smp.h"
#include "spin.h"
#include "stdio.h"

#define START_TIMEOUT_NS (10 * NSEC_PER_SEC)
/* From posting to beginning, and for a barrier's others: what only a dead CPU exceeds. */
#define ANSWER_TIMEOUT_NS (30 * NSEC_PER_SEC)
#define KICK_INTERVAL_NS  NSEC_PER_MSEC

/* struct mailbox's work: arch_smp_idle() sleeps only while it is 0. */
enum {
	WORK_NONE,
	WORK_CLAIMED,
	WORK_POSTED,
	WORK_RUNNING
};

static struct mailbox {
	u32 work;
	u32 up; /* the CPU has reached its loop */
	void (*fn)(void *arg);
	void *arg;
} __attribute__((aligned(64))) mailboxes[MAX_CPUS] = {
	/* CPU 0 runs main() and serves no mailbox. */
	[0] = { .work = WORK_RUNNING, .up = 1 },
};

static int nr_named = 1, nr_up = 1;

static u32 load(const u32 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void store(u32 *word, u32 value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

int smp_count(void)
{
	return nr_up;
}

int smp_named(void)
{
	return nr_named;
}

static bool start_next(void)
{
	int cpu = nr_up;
	bool accepted = arch_smp_start_cpu(cpu);

	if (accepted && spin_until(load(&mailboxes[cpu].up), START_TIMEOUT_NS)) {
		nr_up = cpu + 1;
		return true;
	}
	printf("# CPU %d of %d: %s\n", cpu, nr_named,
	       accepted ? "did not come up in time" : "firmware refused to start it");
	return false;
}

int smp_start(void)
{
	int late = MIN(args_u64("late-cpus", 0), MAX_CPUS);

	nr_named = arch_smp_probe();
	/* Ids have no holes: those behind one that does not come stay unused. selftest judges that. */
	while (nr_up < MIN(nr_named - late, MAX_CPUS) && start_next())
		;
	return nr_up;
}

__attribute__((weak)) bool arch_smp_add_cpu(int id)
{
	return false;
}

bool smp_start_late(void)
{
	if (nr_up == MAX_CPUS)
		return false;
	if (nr_up == nr_named) {
		if (!arch_smp_add_cpu(nr_named))
			return false;
		nr_named++;
	}
	return start_next();
}

void smp_secondary_loop(int cpu)
{
	struct mailbox *m = &mailboxes[cpu];

	store(&m->up, 1);
	for (;;) {
		while (load(&m->work) != WORK_POSTED) {
			/* Claimed: about to be posted. */
			if (load(&m->work) != WORK_NONE)
				cpu_relax();
			else
				arch_smp_idle(&m->work);
		}
		store(&m->work, WORK_RUNNING);
		m->fn(m->arg);
		store(&m->work, WORK_NONE);
	}
}

static bool claim(struct mailbox *m)
{
	u32 expected = WORK_NONE;

	return __atomic_compare_exchange_n(&m->work, &expected, WORK_CLAIMED, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void check_cpu(int cpu, const char *caller)
{
	if (cpu < 0 || cpu >= nr_up)
		panic("%s: there is no CPU %d, CPUs 0 to %d are up", caller, cpu, nr_up - 1);
}

static void post(int cpu, void (*fn)(void *arg), void *arg, const char *caller)
{
	struct mailbox *m = &mailboxes[cpu];

	if (!claim(m))
		panic("%s: CPU %d is %s", caller, cpu,
		      cpu ? "not idle: wait with cpu_wait_idle()" : "the one that runs main()");
	m->fn = fn;
	m->arg = arg;
	store(&m->work, WORK_POSTED);
	arch_smp_kick(cpu);
}

/*
 * Waits until the work in the mailbox is no longer in the given state or an earlier one. A sleeper
 * is kicked again every millisecond while the work has not begun: QEMU 7.2's SVM without icount
 * loses the STI shadow, so an interrupt can be taken between STI and HLT and the CPU then sleeps
 * although it was kicked.
 */
static bool wait_while(int cpu, u32 first, u32 last, u64 timeout_ns)
{
	struct mailbox *m = &mailboxes[cpu];
	struct spin_bound all, kick;
	u32 work;

	spin_start(&all, timeout_ns);
	spin_start(&kick, KICK_INTERVAL_NS);
	while ((work = load(&m->work)), work >= first && work <= last) {
		if (!spin_poll(&all))
			return work = load(&m->work), work < first || work > last;
		if (work != WORK_POSTED || spin_poll(&kick))
			continue;
		arch_smp_kick(cpu);
		spin_start(&kick, KICK_INTERVAL_NS);
	}
	return true;
}

bool cpu_wait_idle(int cpu, u64 timeout_ns)
{
	check_cpu(cpu, "cpu_wait_idle");
	return wait_while(cpu, WORK_CLAIMED, WORK_RUNNING, timeout_ns);
}

static void finish(int cpu, const char *caller)
{
	/* A check's own work may take its budget several times over; the runner's limit is above. */
	u64 work_ns = mul_div_u64(report_budget_ns(), 4, 1);

	if (!wait_while(cpu, WORK_CLAIMED, WORK_POSTED, ANSWER_TIMEOUT_NS))
		panic("%s: CPU %d has not begun its work within %lu s", caller, cpu,
		      ANSWER_TIMEOUT_NS / NSEC_PER_SEC);
	work_ns =
		work_ns > UINT64_MAX - ANSWER_TIMEOUT_NS ? UINT64_MAX : work_ns + ANSWER_TIMEOUT_NS;
	if (!cpu_wait_idle(cpu, work_ns))
		panic("%s: CPU %d has not ended its work within %lu s", caller, cpu,
		      work_ns / NSEC_PER_SEC);
}

void on_cpu_async(int cpu, void (*fn)(void *arg), void *arg)
{
	check_cpu(cpu, "on_cpu_async");
	post(cpu, fn, arg, "on_cpu_async");
}

void on_cpu(int cpu, void (*fn)(void *arg), void *arg)
{
	check_cpu(cpu, "on_cpu");
	if (cpu == smp_id()) {
		fn(arg);
		return;
	}
	post(cpu, fn, arg, "on_cpu");
	finish(cpu, "on_cpu");
}

void on_first_cpus(int count, void (*fn)(void *arg), void *arg)
{
	check_cpu(count - 1, "on_first_cpus");
	if (smp_id())
		panic("on_first_cpus: called on CPU %d, it is CPU 0's to call", smp_id());
	for (int cpu = 1; cpu < count; cpu++)
		post(cpu, fn, arg, "on_first_cpus");
	fn(arg);
	for (int cpu = 1; cpu < count; cpu++)
		finish(cpu, "on_first_cpus");
}

void on_all_cpus(void (*fn)(void *arg), void *arg)
{
	on_first_cpus(nr_up, fn, arg);
}

__attribute__((weak)) void arch_smp_stop_self(void)
{
}

__attribute__((weak)) bool arch_smp_has_stopped(int cpu)
{
	return false;
}

static void stop_self(void *refused)
{
	arch_smp_stop_self();
	store(refused, 1);
}

/* The work that stops a CPU does not end: until the CPU is started again its mailbox is taken. */
bool cpu_stop(int cpu)
{
	struct mailbox *m = &mailboxes[cpu];
	u32 refused = 0;

	check_cpu(cpu, "cpu_stop");
	post(cpu, stop_self, &refused, "cpu_stop");
	spin_until_or_die(load(&refused) || arch_smp_has_stopped(cpu), ANSWER_TIMEOUT_NS,
			  "cpu_stop: the CPU neither stops nor says that it cannot");
	if (load(&refused)) {
		finish(cpu, "cpu_stop");
		return false;
	}
	store(&m->up, 0);
	return true;
}

bool cpu_start(int cpu)
{
	struct mailbox *m = &mailboxes[cpu];

	check_cpu(cpu, "cpu_start");
	if (load(&m->up))
		panic("cpu_start: CPU %d has not been stopped", cpu);
	store(&m->work, WORK_NONE);
	if (arch_smp_start_cpu(cpu) && spin_until(load(&m->up), START_TIMEOUT_NS))
		return true;
	store(&m->work, WORK_CLAIMED);
	return false;
}

void smp_barrier_init(struct smp_barrier *b, u32 total)
{
	*b = (struct smp_barrier){ .total = total };
}

void smp_barrier_wait(struct smp_barrier *b)
{
	u32 generation = load(&b->generation);

	if (__atomic_add_fetch(&b->arrived, 1, __ATOMIC_ACQ_REL) == b->total) {
		/* Nobody arrives for the next generation before it has begun. */
		store(&b->arrived, 0);
		store(&b->generation, generation + 1);
		return;
	}
	spin_until_or_die(load(&b->generation) != generation, ANSWER_TIMEOUT_NS,
			  "smp_barrier_wait: the other CPUs did not arrive");
}
