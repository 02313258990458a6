// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Faults that both architectures have, and those that come while the guest runs: at random instants
 * all vCPUs are stopped, the fault strikes, and they go on. The guest is not told.
 */
#include <stdlib.h>
#include <time.h>
#include "kvm/fault_hooks.h"
#include "util/memory.h"

struct fault_event_run {
	struct vm *vm;
	struct loop *loop;
	struct fault_run run;
	const struct fault_event *kind;
	u64 random;
};

static void sleep_ns(u64 ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&t, NULL);
}

static void strike_paused(struct vm *vm, s64 ms, struct fault_run *run)
{
	sleep_ns(ms * 1000000);
}

static const struct fault_event events_of_both[] = {
	{ FAULT_PAUSED, 100000000, strike_paused },
};

/* ---- while the guest runs ----------------------------------------------------------------------- */

static void on_due(void *ctx);

/* xorshift64 (Marsaglia 2003): from half of the period to one and a half. */
static void arm(struct fault_event_run *e)
{
	e->random ^= e->random << 13;
	e->random ^= e->random >> 7;
	e->random ^= e->random << 17;
	loop_add_timer(e->loop, e->kind->period_ns / 2 + e->random % e->kind->period_ns, on_due, e);
}

static bool is_stopped(struct vm *vm)
{
	bool stopped;

	pthread_mutex_lock(&vm->lock);
	stopped = vm->stop;
	pthread_mutex_unlock(&vm->lock);
	return stopped;
}

static void strike(struct fault_event_run *e)
{
	if (!e->run.strikes)
		e->run.first_counter = host_counter();
	e->kind->strike(e->vm, fault_arg(e->vm, e->kind->id), &e->run);
	e->run.strikes++;
}

/* A machine that somebody else has stopped is left alone. */
static void on_due(void *ctx)
{
	struct fault_event_run *e = ctx;
	struct error err;

	if (!is_stopped(e->vm)) {
		if (vm_pause(e->vm, &err)) {
			vm_ended(e->vm, VM_ERROR, 0, "fault %s: %s", faults[e->kind->id].name,
				 err.text);
			return;
		}
		strike(e);
		vm_resume(e->vm);
	}
	arm(e);
}

static void start_event(struct vm *vm, struct loop *loop, const struct fault_event *kind)
{
	struct fault_data *data = vm->fault_data;
	struct fault_event_run *e;

	if (!fault_is_on(vm, kind->id))
		return;
	data->events = memory_resize(data->events, data->nr_events + 1, sizeof(*data->events));
	e = memory_zalloc(sizeof(*e));
	data->events[data->nr_events++] = e;
	*e = (struct fault_event_run){
		.vm = vm, .loop = loop, .kind = kind, .random = now_ns() | 1
	};
	arm(e);
}

/* What a restore left out, once. */
static void on_late(void *ctx)
{
	struct vm *vm = ctx;
	struct error err;

	if (vm_pause(vm, &err) || fault_restore_late(vm, &err))
		vm_ended(vm, VM_ERROR, 0, "fault, a late restore: %s", err.text);
	vm_resume(vm);
}

void fault_start(struct vm *vm, struct loop *loop)
{
	for (size_t i = 0; i < ARRAY_SIZE(events_of_both); i++)
		start_event(vm, loop, &events_of_both[i]);
	for (size_t i = 0; i < fault_arch_nr_events; i++)
		start_event(vm, loop, &fault_arch_events[i]);
	if (vm->fault_data && vm->fault_data->late.nr_items)
		loop_add_timer(loop, fault_arg(vm, fault_arch_late.id) * 1000000, on_late, vm);
}

int fault_make_vm(struct vm *vm, struct error *err)
{
	vm->fault_data = memory_zalloc(sizeof(*vm->fault_data));
	return fault_arch_make_vm(vm, err);
}

void fault_free(struct vm *vm)
{
	struct fault_data *data = vm->fault_data;

	if (!data)
		return;
	for (size_t i = 0; i < data->nr_events; i++)
		free(data->events[i]);
	free(data->events);
	state_free(&data->late);
	free(data);
}

/* ---- exits -------------------------------------------------------------------------------------- */

void fault_at_exit(struct vcpu *vcpu)
{
	u64 until_ns = now_ns();

	fault_arch_at_exit(vcpu);
	if (!fault_is_on(vcpu->vm, FAULT_EXIT_SLOW))
		return;
	until_ns += fault_arg(vcpu->vm, FAULT_EXIT_SLOW);
	while (now_ns() < until_ns)
		;
}
