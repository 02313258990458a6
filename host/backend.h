/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runs a guest. A back end is a table of functions; a NULL entry of a host action means "this
 * VMM cannot", and a host call for it is answered "unsupported" with that reason. The machine runs
 * in a process of its own, so that its death is an event and not the runner's.
 */
#ifndef HOST_BACKEND_H
#define HOST_BACKEND_H

#include <sched.h>
#include "arch.h"
#include "kvm/clock_rule.h"
#include "policy.h"
#include "types.h"
#include "util/error.h"
#include "util/loop.h"

enum vmm_kind {
	VMM_QEMU,
	VMM_KVM,
	VMM_COUNT
};

struct machine_spec {
	enum arch arch;
	enum accel accel; /* not ACCEL_AUTO */
	const char *image;
	const char *initrd; /* or NULL; for a kernel that is itself the host of guests */
	const char *args;
	unsigned smp;
	unsigned memory_mib;
	bool el2;
	u64 counter_offset;   /* arm64: ticks by which the guest's counters lag; 0: none */
	const char *cpu;      /* or NULL: the back end's choice */
	const char *machine;  /* or NULL */
	const char *firmware; /* as found by probe(), or NULL */
	const char *vmm_path; /* the QEMU or vmm binary */
	const cpu_set_t *pin; /* the host's CPUs that the VMM is kept on, or NULL */
	char *const *faults;  /* on purpose, NULL-terminated, or NULL; our own VMM's alone */
	unsigned maxcpus;     /* vCPUs that can be there in the end, see plug(); 0: smp */

	/* A machine that goes on where another one stood, which had the same description. */
	const char *restore_path; /* a file that save() wrote, or NULL */
	int incoming_fd;	  /* the other end of migrate()'s socket, the caller's; or 0 */
	struct clock_rule restore_rule; /* our own VMM: how counters are restored */
};

/* How a machine ended by itself, before machine_kill(). */
struct machine_exit {
	enum {
		MACHINE_POWEROFF, /* the guest powered itself off */
		MACHINE_RESET,	  /* the guest reset itself (x86: triple fault included) */
		MACHINE_PANICKED, /* the VMM saw the guest crash: text says how */
		MACHINE_VMM_DIED, /* the VMM is of no use: text says why, in a sentence */
	} kind;
	const char *text; /* or NULL */
};

/* An instant on the host's clocks CLOCK_MONOTONIC_RAW and CLOCK_REALTIME. */
struct host_time {
	u64 raw_ns;
	u64 realtime_ns;
};

/*
 * When the guest stood still: "before" and "after" bracket the instant at which its last vCPU
 * stopped, and the one at which its first vCPU ran again. What an action knows nothing about is 0.
 */
struct action_times {
	struct host_time stop_before, stop_after;
	struct host_time run_before, run_after;
};

/* Now. */
struct host_time host_time_now(void);

/* Callbacks into the runner, all from the loop; none after kill(). */
struct machine_events {
	/* The vCPUs run, under the accelerator that was asked for; times has run_*. */
	void (*started)(void *ctx, const struct action_times *times);
	void (*console)(void *ctx, const char *data, size_t len);
	void (*exited)(void *ctx, const struct machine_exit *exit);
};

struct machine; /* the back end's own */

/*
 * Called once when a host action is done, from the loop or from within the call that began it; not
 * after kill(). err is NULL on success; times is NULL on failure and where the action has none, and
 * belongs to the caller. The machine may be killed in it.
 */
typedef void (*action_done)(void *ctx, const struct error *err, const struct action_times *times);

/* What a back end found out about a host, an architecture and a binary. */
struct vmm_probe {
	bool usable;
	char version[64];  /* "7.2.22" */
	char detail[256];  /* why it is not usable, or how (e.g. "-cpu max,-arch-capabilities") */
	char cpu[128];	   /* the CPU model that works under this accelerator */
	char firmware[64]; /* for machine_spec; empty: none */
	char no_counter_offset[128]; /* likewise an offset; empty: nothing is known against it */
	char no_el2[128]; /* why no guest can have EL2; empty: nothing is known against it */
};

struct backend {
	enum vmm_kind kind;
	const char *name;

	/* Can it run this arch under this accelerator here? Asks the VMM itself, bounded in time. */
	void (*probe)(enum arch arch, enum accel accel, const char *vmm_path,
		      struct vmm_probe *probe);

	/* Starts the machine; NULL with err set when not even a process came up. */
	struct machine *(*start)(const struct machine_spec *spec, struct loop *loop,
				 const struct machine_events *events, void *ctx, struct error *err);

	/* Bytes for the guest's console input; queued, never blocks. */
	void (*console_send)(struct machine *m, const char *data, size_t len);

	/* Ends the machine and frees it, whatever state it is in; its process is gone afterwards. */
	void (*kill)(struct machine *m);

	/* Texts for the report; they live as long as the machine. */
	const char *(*command)(const struct machine *m);
	const char *(*stderr_text)(const struct machine *m);

	/*
	 * Host actions; see action_done. One at a time. An action that fails leaves the machine as
	 * it was, unless it ends it: then exited() comes as well.
	 */

	/*
	 * All vCPUs stop: times has stop_*. What the guest printed before was told by console()
	 * when it is done. The same holds for migrate().
	 */
	void (*pause)(struct machine *m, action_done done, void *ctx);
	/* They go on: times has run_*. */
	void (*resume)(struct machine *m, action_done done, void *ctx);
	/* The state of a paused machine to a new file, whole and closed when it is done; no times. */
	void (*save)(struct machine *m, const char *path, action_done done, void *ctx);
	/*
	 * The state of a running machine through a connected socket, the caller's, to one that was
	 * started with incoming_fd; this one stands still for good then: times has stop_*.
	 */
	void (*migrate)(struct machine *m, int fd, action_done done, void *ctx);
	/* A running machine as at power-on, and running on: all times. */
	void (*reset)(struct machine *m, action_done done, void *ctx);
	/* A running machine gets one vCPU more, of maxcpus; no times. */
	void (*plug)(struct machine *m, action_done done, void *ctx);
	/* All vCPU threads to these CPUs of the host; no times. */
	void (*set_affinity)(struct machine *m, const cpu_set_t *cpus, action_done done, void *ctx);
	/* All counters and clocks of a paused machine move on, as if ns had passed; no times. */
	void (*shift)(struct machine *m, u64 ns, action_done done, void *ctx);

	/* What this VMM promises its guests about time when the host acts. */
	void (*policy)(const struct machine_spec *spec, struct policy *policy);
};

extern const struct backend qemu_backend;

/*
 * What a VMM promises, and the command line instead of it: overrides is as in struct options, or
 * NULL.
 */
void backend_policy(const struct backend *b, const struct machine_spec *spec, const char *overrides,
		    struct policy *policy);

/* By kind or name; NULL when this runner was built without it or there is none of that name. */
const struct backend *backend_get(enum vmm_kind kind);
const struct backend *backend_by_name(const char *name);
const char *vmm_kind_name(enum vmm_kind kind);

#endif
