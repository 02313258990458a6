/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest of a test: one machine after another, since a guest that is restored or migrated goes on
 * in a new one; and what the host does to it, made of the back end's actions.
 */
#ifndef HOST_GUEST_H
#define HOST_GUEST_H

#include "backend.h"
#include "host_load.h"
#include "state_file.h"

/* From the loop alone; the guest may be freed in each of them. */
struct guest_events {
	/* The vCPUs run for the first time. */
	void (*started)(void *ctx);
	void (*console)(void *ctx, const char *data, size_t len);
	/* The guest is gone, not by guest_kill(). */
	void (*exited)(void *ctx, const struct machine_exit *exit);
	/* true: a reset begins, so the image will begin anew. false: it failed. Not to free it in. */
	void (*reset)(void *ctx, bool begins);
};

/* One of its machines. */
struct incarnation {
	struct guest *guest;
	struct machine *machine;
	struct text held; /* on its console, while the one before may still have something to say */
};

/* The action under way. */
struct guest_action {
	const char *name; /* NULL: none */
	action_done done;
	void *ctx;
	struct action_times times;
	struct error error; /* why it fails, while the guest is made to run again */
	u64 wait_ns;	    /* what lasts that long is the action's business */
	u64 every_ns, end_ns;
	u64 count; /* how often yet */
	struct loop_source *timer;
	struct state_file *state;
	struct host_load *load;
	char *next_end;		/* how the machine that it is migrated to ended, or NULL */
	bool migrated, started; /* of a migration: the old machine is done, the new one runs */
	int cpu;		/* of a move */
	cpu_set_t cpus;
};

struct guest {
	const struct backend *backend;
	struct loop *loop;
	struct machine_spec spec;
	const struct guest_events *events;
	void *ctx;
	struct incarnation *current; /* where it runs; NULL: nowhere */
	struct incarnation *next;    /* where it is migrated to */
	u64 generation;		     /* 1 at first; one more after a reset, restore or migration */
	struct guest_action action;
};

/* What the spec points to has to hold as long as the guest. */
struct guest *guest_new(const struct backend *backend, struct loop *loop,
			const struct machine_spec *spec, const struct guest_events *events,
			void *ctx);

/* -1 with err set: it is not there. */
int guest_start(struct guest *g, struct error *err);

/* No event and no answer to an action comes any more; no process, file or thread is left. */
void guest_kill(struct guest *g);
void guest_free(struct guest *g); /* NULL is allowed */

void guest_console_send(struct guest *g, const char *data, size_t len);

/* Texts for the report, of its present machine; "" where there is none. */
const char *guest_command(const struct guest *g);
const char *guest_stderr_text(const struct guest *g);

/* Name of the action under way, or NULL. */
const char *guest_action_name(const struct guest *g);

/*
 * The actions. Each is answered once by done, unless the guest ends in it. Where the VMM cannot, err
 * says so (err->unsupported); times brackets all of it where the guest is not stopped for good.
 */
void guest_pause(struct guest *g, u64 for_ns, action_done done, void *ctx);
/* The guest's time goes on by for_ns, and the host's does not. */
void guest_pause_virtually(struct guest *g, u64 for_ns, action_done done, void *ctx);
void guest_snapshot(struct guest *g, action_done done, void *ctx);
/* down_ns: from the end of the old machine to the start of the new one. */
void guest_restore(struct guest *g, u64 down_ns, action_done done, void *ctx);
void guest_migrate(struct guest *g, u64 count, action_done done, void *ctx);
void guest_reset(struct guest *g, action_done done, void *ctx);
void guest_plug(struct guest *g, action_done done, void *ctx);
/* Its vCPUs share one CPU of the host, another one every_ns, for for_ns. */
void guest_move(struct guest *g, u64 every_ns, u64 for_ns, action_done done, void *ctx);
void guest_load(struct guest *g, u64 for_ns, action_done done, void *ctx);

/* ---- between guest.c and guest_action.c ------------------------------------------------------- */

/* NULL with err set. */
struct incarnation *guest_incarnate(struct guest *g, const struct machine_spec *spec,
				    struct error *err);
/* Ends it; NULL is allowed. */
void guest_discard(struct guest *g, struct incarnation *i);
/* The vCPUs of i run; i ended. The latter is true where the action has taken care of it, and of i. */
void guest_action_started(struct guest *g, const struct action_times *times);
bool guest_action_exited(struct guest *g, struct incarnation *i, const char *text);
/* Forgets the action, and what it holds. */
void guest_action_clear(struct guest *g);

#endif
