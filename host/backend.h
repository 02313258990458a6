/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runs a guest. A back end is a table of functions; a NULL entry of a host action means "this
 * VMM cannot", and a host call for it is answered "unsupported" with that reason. The machine runs
 * in a process of its own, so that its death is an event and not the runner's.
 */
#ifndef HOST_BACKEND_H
#define HOST_BACKEND_H

#include "arch.h"
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
	const char *cpu;      /* or NULL: the back end's choice */
	const char *machine;  /* or NULL */
	const char *firmware; /* as found by probe(), or NULL */
	const char *vmm_path; /* the QEMU or vmm binary */
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

/* Callbacks into the runner, all from the loop; none after machine_kill(). */
struct machine_events {
	void (*started)(void *ctx); /* the vCPUs run, under the accelerator that was asked for */
	void (*console)(void *ctx, const char *data, size_t len);
	void (*exited)(void *ctx, const struct machine_exit *exit);
};

struct machine; /* the back end's own */

/* Called once when an asynchronous host action is done; err is NULL on success. */
typedef void (*action_done)(void *ctx, const struct error *err);

/* What a back end found out about a host, an architecture and a binary. */
struct vmm_probe {
	bool usable;
	char version[64];  /* "7.2.22" */
	char detail[256];  /* why it is not usable, or how (e.g. "-cpu max,-arch-capabilities") */
	char cpu[128];	   /* the CPU model that works under this accelerator */
	char firmware[64]; /* for machine_spec; empty: none */
	char no_el2[128];  /* why no guest can have EL2; empty: nothing is known against it */
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

	/* Host actions; see action_done. */
	void (*pause)(struct machine *m, action_done done, void *ctx);
	void (*resume)(struct machine *m, action_done done, void *ctx);
	void (*save)(struct machine *m, const char *path, action_done done, void *ctx);
	void (*restore)(struct machine *m, const char *path, action_done done, void *ctx);
	void (*reset)(struct machine *m, action_done done, void *ctx);
};

extern const struct backend qemu_backend;

/* By kind or name; NULL when this runner was built without it or there is none of that name. */
const struct backend *backend_get(enum vmm_kind kind);
const struct backend *backend_by_name(const char *name);
const char *vmm_kind_name(enum vmm_kind kind);

#endif
