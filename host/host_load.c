// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads that keep the host's CPUs from others.
 */
#include "host_load.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "types.h"
#include "util/memory.h"

struct host_load {
	bool stop;
	unsigned int count;
	pthread_t threads[CPU_SETSIZE];
};

static void *run(void *arg)
{
	struct host_load *l = arg;

	while (!__atomic_load_n(&l->stop, __ATOMIC_RELAXED))
		;
	return NULL;
}

/* The thread is bound to the CPU before it runs. */
static int start_on(struct host_load *l, int cpu)
{
	pthread_attr_t attr;
	cpu_set_t cpus;
	int error;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(cpus), &cpus);
	error = pthread_create(&l->threads[l->count], &attr, run, l);
	pthread_attr_destroy(&attr);
	l->count += !error;
	return error;
}

struct host_load *host_load_start(struct error *err)
{
	struct host_load *l = memory_zalloc(sizeof(*l));
	cpu_set_t cpus;
	int error;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		CPU_ZERO(&cpus);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		error = CPU_ISSET(cpu, &cpus) ? start_on(l, cpu) : 0;
		if (error) {
			error_set(err, "no thread to load CPU %d with: %s", cpu, strerror(error));
			host_load_stop(l);
			return NULL;
		}
	}
	return l;
}

void host_load_stop(struct host_load *l)
{
	if (!l)
		return;
	__atomic_store_n(&l->stop, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < l->count; i++)
		pthread_join(l->threads[i], NULL);
	free(l);
}
