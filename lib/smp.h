/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work on other CPUs. A CPU without work is idle (HLT, WFI), not spinning. Every wait here is
 * bounded; a CPU that does not answer ends the image with an ERROR that names it.
 */
#ifndef SMP_H
#define SMP_H

#include "spinlock.h"
#include "types.h"

#define MAX_CPUS 64

/*
 * CPUs that firmware or devicetree name and that came up; ids are 0 … smp_count() - 1. The first
 * that does not come up ends the row: those behind it are not started.
 */
int smp_count(void);

/* The CPU this runs on. Provided by the arch, from its per-CPU data. */
int smp_id(void);

/* How many CPUs were named, started or not. */
int smp_named(void);

/*
 * Starts all other CPUs but the last late-cpus=N (argument); called once by the start-up code. Returns
 * how many are up.
 */
int smp_start(void);

/*
 * Starts one of those that were left out; where there are none, one that was plugged in since. false
 * when there is none, or it does not come up.
 */
bool smp_start_late(void);

/* Runs fn(arg) on the CPU and waits for its end; on the own CPU a plain call. */
void on_cpu(int cpu, void (*fn)(void *arg), void *arg);

/*
 * Starts fn(arg) there and returns. The CPU must be idle, here and in on_cpu(), or the image ends;
 * CPU 0, which runs main(), never is.
 */
void on_cpu_async(int cpu, void (*fn)(void *arg), void *arg);

/* Waits until the CPU is idle again, at most timeout_ns. */
bool cpu_wait_idle(int cpu, u64 timeout_ns);

/*
 * Stops an idle CPU, not CPU 0, by firmware's means (PSCI CPU_OFF), and waits until firmware says
 * that it has stopped. false where it cannot be stopped: it is idle as before. A stopped CPU counts
 * for smp_count() but takes no work: start it again before anything else.
 */
bool cpu_stop(int cpu);

/* Starts a stopped CPU as it was started at first; false when it does not come up. */
bool cpu_start(int cpu);

/* Runs fn(arg) on every CPU at once and waits for all; called on CPU 0, which takes part. */
void on_all_cpus(void (*fn)(void *arg), void *arg);

/* The same on CPUs 0 … count - 1. */
void on_first_cpus(int count, void (*fn)(void *arg), void *arg);

/* A reusable barrier for a fixed number of CPUs. */
struct smp_barrier {
	u32 total;
	u32 arrived;
	u32 generation;
};

void smp_barrier_init(struct smp_barrier *b, u32 total);
void smp_barrier_wait(struct smp_barrier *b);

/*
 * For the arch's start-up code: the loop of a secondary CPU, after its own set-up; never returns.
 * The arch provides the functions below.
 */
NORETURN void smp_secondary_loop(int cpu);

/* Starts CPU id; false when firmware refused. */
bool arch_smp_start_cpu(int cpu);
/* Takes a CPU that was plugged in as id; false where there is none, as on an arch without this. */
bool arch_smp_add_cpu(int id);
/* The calling CPU stops; returns where it cannot, which is also what an arch without this does. */
void arch_smp_stop_self(void);
/* Whether that CPU has stopped: arch_smp_start_cpu() can start it again. */
bool arch_smp_has_stopped(int cpu);
/* Counts the CPUs that firmware or the devicetree names. */
int arch_smp_probe(void);
/* Wakes the CPU from arch_smp_idle(). */
void arch_smp_kick(int cpu);
/* Sleeps until kicked or interrupted, unless *work is already nonzero; no lost wake-up. */
void arch_smp_idle(const u32 *work);

#endif
