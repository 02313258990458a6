/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The virtual machine: what every file of the VMM works on. The main thread builds it, starts,
 * pauses and ends it, and sets and gets state while it is paused; each vCPU has a thread that does
 * nothing but run it and handle its exits.
 *
 * Locks: vm->lock covers who runs, who is parked and how the machine ended; vm->device_lock covers
 * the devices. A thread that holds the second may take the first.
 */
#ifndef KVM_VM_H
#define KVM_VM_H

#include <pthread.h>
#include <sched.h>
#include "kvm/bulk_console.h"
#include "kvm/bus.h"
#include "kvm/clock_rule.h"
#include "kvm/console.h"
#include "kvm/fault.h"
#include "kvm/host_clock.h"
#include "kvm/kvm_compat.h"
#include "kvm/state.h"
#include "types.h"
#include "util/error.h"
#include "util/text.h"

#if defined(__x86_64__)
#include "kvm/x86/arch.h"
#define NATIVE_ARCH ARCH_X86_64
#elif defined(__aarch64__)
#include "kvm/arm64/arch.h"
#define NATIVE_ARCH ARCH_ARM64
#else
#error "this VMM knows x86_64 and arm64"
#endif

#define VCPUS_MAX	   64
#define MEMORY_REGIONS_MAX 4
/* Exit reasons that are counted one by one; the highest known to Linux 6.12 is 39. */
#define EXIT_REASONS_MAX 64

struct machine_options {
	const char *image;
	const char *append; /* never NULL */
	unsigned int smp;
	unsigned int maxcpus; /* vCPUs there can be in the end; below smp: smp */
	unsigned int memory_mib;
	bool el2;
	bool hv_time, hv_stimer;
	bool no_bulk_console;
	struct clock_rule clock_rule; /* not of the machine, but of how it is restored */
	u64 counter_offset; /* arm64: ticks that the counters lag behind the host's; 0: as KVM has it */
	const struct fault_set *faults; /* on purpose: fault.h; NULL: none */
};

/* A piece of guest-physical memory, backed by host memory that is all ours. */
struct memory_region {
	u64 base;
	u64 size;
	u8 *host;
	bool is_ram; /* else a VMM's own page, such as stolen time */
};

enum vm_end_kind {
	VM_RUNNING,
	VM_POWEROFF, /* the guest powered itself off */
	VM_RESET,    /* the guest reset itself, or shut down by a triple fault */
	VM_PANICKED, /* the guest said that it crashed, by a device or by a call for it */
	VM_ERROR,    /* the VMM cannot go on with it */
};

struct vm_end {
	enum vm_end_kind kind;
	char text[4096]; /* why, with registers where it was the guest; "" where kind says it all */
	int status;	 /* what the guest handed to the debug-exit port; 0 without */
};

struct vcpu_stats {
	u64 exits[EXIT_REASONS_MAX];
	u64 other_exits;
	u64 kicks; /* KVM_RUN left for a signal */
	u64 again; /* KVM_RUN had nothing to run */
};

struct vcpu {
	struct vm *vm;
	unsigned int index;
	int fd;
	struct kvm_run *run;
	pthread_t thread;
	bool has_thread;
	bool parked; /* vm->lock */
	struct vcpu_stats stats;
	struct vcpu_arch arch;
};

struct vm {
	const struct machine_options *options;
	int kvm_fd;
	int fd;
	size_t run_size; /* of struct kvm_run's mapping */
	struct memory_region regions[MEMORY_REGIONS_MAX];
	size_t nr_regions;
	struct vcpu *vcpus;
	unsigned int nr_vcpus;
	unsigned int max_vcpus; /* what vcpus has room for */

	pthread_mutex_t lock;
	pthread_cond_t changed; /* of what vm->lock covers; waits on CLOCK_MONOTONIC */
	bool stop;		/* vCPUs are to park */
	bool quit;		/* and their threads to end */
	struct vm_end end;
	int end_fd;	/* eventfd, readable once the machine has ended by itself */
	bool resetting; /* vm_reset() is at work: for steps that are not to see a restore in it */
	u64 first_run_ns, end_ns; /* CLOCK_MONOTONIC; 0 before */

	pthread_mutex_t device_lock;
	struct bus ports; /* x86 only */
	struct bus mmio;
	struct console console;
	struct bulk_console bulk;
	struct state power_on; /* of everything but memory, before the image was loaded */

	struct state at_pause;	       /* counters and clocks as they were when the vCPUs stopped */
	struct host_clock saved_host;  /* the host's clocks when what is restored was saved */
	struct stamp clocks_at;	       /* before the guest's clocks were made, or restored */
	struct fault_data *fault_data; /* fault.c; NULL without faults */
	struct vm_arch arch;
};

/* ---- vm.c: the machine as a thing --------------------------------------------------------------- */

/* The rule for a restore that is under way: as told, and a reset begins all clocks anew. */
struct clock_rule vm_clock_rule(const struct vm *vm);

/* Opens /dev/kvm. -1 with err when there is none that this VMM can use. */
int kvm_open(struct error *err);

/* KVM_CHECK_EXTENSION on the VM where there is one, else on /dev/kvm; 0 for "no". */
int vm_capability(const struct vm *vm, int capability);

/* Builds the machine with vCPUs and devices, without a guest in it. */
int vm_create(struct vm *vm, const struct machine_options *options, struct error *err);
void vm_destroy(struct vm *vm);

/* KVM's vCPU of that index, behind the last one; counted only when all of it succeeded. */
int vm_create_vcpu(struct vm *vm, unsigned int index, struct error *err);

/* Adds memory to the machine; the host's side is zeroed memory. */
int vm_add_memory(struct vm *vm, u64 base, u64 size, bool is_ram, struct error *err);

/*
 * len bytes of guest memory for the host to read and write, or NULL where the guest has no memory
 * there or it does not lie within one region. Every address that comes from a guest or a file goes
 * through here.
 */
void *vm_memory(const struct vm *vm, u64 address, u64 len);

/* What the guest has left in all memory is forgotten: it reads as zero. */
int vm_clear_memory(struct vm *vm, struct error *err);

/* The image again from its file, memory zeroed, devices and vCPUs as after power-on. Paused. */
int vm_reset(struct vm *vm, struct error *err);

/* ---- run.c: vCPU threads ------------------------------------------------------------------------ */

/* Threads come up parked. */
int vm_start_threads(struct vm *vm, struct error *err);
/* One of a vCPU that was added while the others were parked. */
int vm_start_thread(struct vcpu *vcpu, struct error *err);
/* All vCPUs' threads to these CPUs of the host. */
int vm_set_affinity(struct vm *vm, const cpu_set_t *cpus, struct error *err);
void vm_resume(struct vm *vm);

/*
 * Returns when every vCPU is parked, with its pending I/O completed; -1 when one did not get there
 * in 10 s.
 */
int vm_pause(struct vm *vm, struct error *err);

/*
 * The same for a stop that the guest is to know of: its clocks are noted for a snapshot, and it is
 * told where there is a way. vm_go_on() ends it.
 */
int vm_stop(struct vm *vm, struct error *err);
void vm_go_on(struct vm *vm);

/* Ends the threads, bounded like vm_pause(). */
int vm_stop_threads(struct vm *vm, struct error *err);

/* The machine ends; the first end counts. Callable from any thread. */
void vm_ended(struct vm *vm, enum vm_end_kind kind, int status, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* ---- exits.c ------------------------------------------------------------------------------------ */

/* Handles what KVM_RUN returned for. */
void vcpu_handle_exit(struct vcpu *vcpu);

/* The machine ends in error: what happened, where the vCPU was, its registers. */
void vcpu_error(struct vcpu *vcpu, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* "MMIO (6)". */
const char *exit_reason_name(u32 reason);

/* ---- the architecture's side: host/kvm/<arch>/ -------------------------------------------------- */

/* Memory, interrupt controllers and devices, before the first vCPU. */
int arch_create_vm(struct vm *vm, struct error *err);
int arch_create_vcpu(struct vcpu *vcpu, struct error *err);
/* What wants all vCPUs to exist. */
int arch_finish_vm(struct vm *vm, struct error *err);
void arch_destroy_vm(struct vm *vm);

/* Loads the image and sets up the boot vCPU to enter it. */
int arch_boot(struct vm *vm, struct error *err);

/* An exit that exits.c does not know. false: nor is it the architecture's. */
bool arch_handle_exit(struct vcpu *vcpu);

/* All vCPUs have been parked: tell the guest that it was not its fault, where there is a way. */
void arch_paused(struct vm *vm);

/* Another vCPU, that was not there at the start. -1 with err: also where there is no such thing. */
int arch_plug(struct vm *vm, struct error *err);

/* All counters and clocks of the paused machine move on by ns; -1 with err where they cannot. */
int arch_shift_clocks(struct vm *vm, u64 ns, struct error *err);

/*
 * Whether the paused machine can be restored by the rule that it was told, which is better known
 * before it is done away with. -1 with err, "unsupported", where it cannot.
 */
int arch_check_restorable(struct vm *vm, struct error *err);

/* What KVM says of counters and clocks and their offsets, one line each. */
void arch_dump_clocks(struct vm *vm, struct text *out);

/* Registers that tell where a guest is and why, one line each. */
void arch_dump_registers(struct vcpu *vcpu, struct text *out);

#endif
