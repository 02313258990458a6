// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vCPU threads: each runs its vCPU until it is told to park, and parks until it is told to run. To
 * be told, a thread is sent KICK_SIGNAL, whose handler does nothing: KVM_RUN, or a write to a
 * console that nobody reads, returns EINTR. A signal that comes just before KVM_RUN is covered by
 * kvm_run's immediate_exit, one that comes just before write() by being sent again.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include "kvm/fault_hooks.h"
#include "util/loop.h"

#define KICK_SIGNAL	SIGUSR1
#define KICK_AGAIN_NS	10000000ULL
#define PARK_TIMEOUT_NS 10000000000ULL

static void set_immediate_exit(struct vcpu *vcpu, u8 value)
{
	__atomic_store_n(&vcpu->run->immediate_exit, value, __ATOMIC_RELEASE);
}

static bool is_stopping(struct vm *vm)
{
	return __atomic_load_n(&vm->stop, __ATOMIC_ACQUIRE);
}

/* ---- on the vCPU's thread ----------------------------------------------------------------------- */

/*
 * An exit for I/O is complete only when KVM_RUN has been called again (api.rst, "KVM_EXIT_IO"); with
 * immediate_exit it does no more than that. One instruction may want several exits.
 */
static void complete_io(struct vcpu *vcpu)
{
	set_immediate_exit(vcpu, 1);
	while (ioctl(vcpu->fd, KVM_RUN, 0) == 0)
		vcpu_handle_exit(vcpu);
	if (errno != EINTR && errno != EAGAIN)
		vcpu_error(vcpu, "KVM_RUN, to complete an exit: %s", strerror(errno));
}

/* Waits until it is to run again; false: the thread is to end. */
static bool park(struct vcpu *vcpu)
{
	struct vm *vm = vcpu->vm;
	bool go_on;

	pthread_mutex_lock(&vm->lock);
	vcpu->parked = true;
	pthread_cond_broadcast(&vm->changed);
	while (vm->stop && !vm->quit)
		pthread_cond_wait(&vm->changed, &vm->lock);
	go_on = !vm->quit;
	if (go_on) {
		vcpu->parked = false;
		set_immediate_exit(vcpu, 0);
	}
	pthread_mutex_unlock(&vm->lock);
	return go_on;
}

static void run_once(struct vcpu *vcpu)
{
	if (ioctl(vcpu->fd, KVM_RUN, 0) == 0)
		vcpu_handle_exit(vcpu);
	else if (errno == EINTR)
		vcpu->stats.kicks++;
	else if (errno == EAGAIN) /* x86: an AP that has not yet got its INIT and SIPI */
		vcpu->stats.again++;
	else
		vcpu_error(vcpu, "KVM_RUN: %s", strerror(errno));
}

static void *vcpu_thread(void *arg)
{
	struct vcpu *vcpu = arg;

	/* Also where it may run already: only in park() a vCPU is marked as running. */
	if (!park(vcpu))
		return NULL;
	for (;;) {
		run_once(vcpu);
		if (!is_stopping(vcpu->vm))
			continue;
		complete_io(vcpu);
		if (!park(vcpu))
			return NULL;
	}
}

/* ---- on the main thread, or any --------------------------------------------------------------- */

static void on_kick(int signo)
{
}

int vm_start_thread(struct vcpu *vcpu, struct error *err)
{
	sigset_t all_but_kick, old;
	int code;

	sigfillset(&all_but_kick);
	sigdelset(&all_but_kick, KICK_SIGNAL);
	pthread_sigmask(SIG_SETMASK, &all_but_kick, &old);
	code = pthread_create(&vcpu->thread, NULL, vcpu_thread, vcpu);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (code)
		return error_set(err, "no thread for vCPU %u: %s", vcpu->index, strerror(code));
	vcpu->has_thread = true;
	return 0;
}

int vm_start_threads(struct vm *vm, struct error *err)
{
	struct sigaction kick = { .sa_handler = on_kick };

	sigaction(KICK_SIGNAL, &kick, NULL);
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		if (vm_start_thread(&vm->vcpus[i], err))
			return -1;
	}
	return 0;
}

int vm_set_affinity(struct vm *vm, const cpu_set_t *cpus, struct error *err)
{
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		int code = pthread_setaffinity_np(vm->vcpus[i].thread, sizeof(*cpus), cpus);

		if (code)
			return error_set(err, "vCPU %u's thread does not go to these CPUs: %s", i,
					 strerror(code));
	}
	return 0;
}

void vm_resume(struct vm *vm)
{
	pthread_mutex_lock(&vm->lock);
	if (!vm->first_run_ns)
		vm->first_run_ns = now_ns();
	if (!vm->end.kind)
		__atomic_store_n(&vm->stop, false, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&vm->changed);
	pthread_mutex_unlock(&vm->lock);
}

/* With vm->lock held: every vCPU that is not yet parked. */
static unsigned int kick_all(struct vm *vm)
{
	unsigned int running = 0;

	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		struct vcpu *vcpu = &vm->vcpus[i];

		if (!vcpu->has_thread || vcpu->parked)
			continue;
		set_immediate_exit(vcpu, 1);
		pthread_kill(vcpu->thread, KICK_SIGNAL);
		running++;
	}
	return running;
}

static struct timespec after_ns(u64 ns)
{
	u64 when = now_ns() + ns;

	return (struct timespec){ when / 1000000000, when % 1000000000 };
}

int vm_pause(struct vm *vm, struct error *err)
{
	u64 deadline_ns = now_ns() + PARK_TIMEOUT_NS;
	unsigned int running;

	pthread_mutex_lock(&vm->lock);
	__atomic_store_n(&vm->stop, true, __ATOMIC_RELEASE);
	while ((running = kick_all(vm)) && now_ns() < deadline_ns) {
		struct timespec again = after_ns(KICK_AGAIN_NS);

		pthread_cond_timedwait(&vm->changed, &vm->lock, &again);
	}
	pthread_mutex_unlock(&vm->lock);
	if (running)
		return error_set(err, "%u of %u vCPUs did not stop within %llu s", running,
				 vm->nr_vcpus, PARK_TIMEOUT_NS / 1000000000);
	return 0;
}

int vm_stop(struct vm *vm, struct error *err)
{
	if (vm_pause(vm, err))
		return -1;
	fault_stopped(vm);
	state_free(&vm->at_pause);
	if (state_save_clocks(vm, &vm->at_pause, err))
		return -1;
	arch_paused(vm);
	console_drain(vm);
	return 0;
}

void vm_go_on(struct vm *vm)
{
	state_free(&vm->at_pause);
	fault_going_on(vm);
	vm_resume(vm);
}

int vm_stop_threads(struct vm *vm, struct error *err)
{
	if (vm_pause(vm, err))
		return -1;
	pthread_mutex_lock(&vm->lock);
	vm->quit = true;
	pthread_cond_broadcast(&vm->changed);
	pthread_mutex_unlock(&vm->lock);
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		if (vm->vcpus[i].has_thread)
			pthread_join(vm->vcpus[i].thread, NULL);
		vm->vcpus[i].has_thread = false;
	}
	return 0;
}

void vm_ended(struct vm *vm, enum vm_end_kind kind, int status, const char *fmt, ...)
{
	va_list args;

	pthread_mutex_lock(&vm->lock);
	if (!vm->end.kind) {
		vm->end.kind = kind;
		vm->end.status = status;
		va_start(args, fmt);
		vsnprintf(vm->end.text, sizeof(vm->end.text), fmt, args);
		va_end(args);
		vm->end_ns = now_ns();
		eventfd_write(vm->end_fd, 1);
	}
	__atomic_store_n(&vm->stop, true, __ATOMIC_RELEASE);
	kick_all(vm);
	pthread_mutex_unlock(&vm->lock);
}
