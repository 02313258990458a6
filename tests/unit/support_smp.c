// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUs that are threads. A sleeping CPU waits on a condition variable, and a kick can be lost.
 */
#include <pthread.h>
#include <sched.h>

#include "support.h"

int unit_cpus_named = 1, unit_cpu_refused, unit_cpu_silent, unit_cpu_unstoppable;
u32 unit_kicks_to_lose, unit_kicks;

static __thread int id;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t kicked = PTHREAD_COND_INITIALIZER;
static u32 pending[MAX_CPUS];
static bool asleep[MAX_CPUS];
static bool stopped[MAX_CPUS];

int smp_id(void)
{
	return id;
}

int arch_smp_probe(void)
{
	return unit_cpus_named;
}

static void *cpu_thread(void *arg)
{
	id = (int)(intptr_t)arg;
	smp_secondary_loop(id);
}

bool arch_smp_start_cpu(int cpu)
{
	pthread_t thread;

	if (cpu == unit_cpu_refused)
		return false;
	if (cpu == unit_cpu_silent)
		return true;
	__atomic_store_n(&stopped[cpu], false, __ATOMIC_RELEASE);
	return !pthread_create(&thread, NULL, cpu_thread, (void *)(intptr_t)cpu) &&
	       !pthread_detach(thread);
}

void arch_smp_stop_self(void)
{
	if (id == unit_cpu_unstoppable)
		return;
	__atomic_store_n(&stopped[id], true, __ATOMIC_RELEASE);
	pthread_exit(NULL);
}

bool arch_smp_has_stopped(int cpu)
{
	return __atomic_load_n(&stopped[cpu], __ATOMIC_ACQUIRE);
}

void arch_smp_kick(int cpu)
{
	pthread_mutex_lock(&mutex);
	unit_kicks++;
	if (unit_kicks_to_lose) {
		unit_kicks_to_lose--;
	} else {
		pending[cpu] = 1;
		pthread_cond_broadcast(&kicked);
	}
	pthread_mutex_unlock(&mutex);
}

/* Sleeps until a kick that was not lost, as a CPU does that missed its wake-up. */
void arch_smp_idle(const u32 *work)
{
	if (__atomic_load_n(work, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&mutex);
	asleep[id] = true;
	while (!pending[id])
		pthread_cond_wait(&kicked, &mutex);
	asleep[id] = false;
	pending[id] = 0;
	pthread_mutex_unlock(&mutex);
}

void unit_wait_asleep(int cpu)
{
	bool is_asleep;

	do {
		sched_yield();
		pthread_mutex_lock(&mutex);
		is_asleep = asleep[cpu] && !pending[cpu];
		pthread_mutex_unlock(&mutex);
	} while (!is_asleep);
}
