// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the host does to a guest, as sequences of the back end's actions. One at a time. A guest that
 * is left without a machine ends, and the action with it; in every other failure it goes on running,
 * and the action says what went wrong.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "guest.h"
#include "util/text.h"

/* ---- beginning and end ------------------------------------------------------------------------ */

static bool begin(struct guest *g, const char *name, action_done done, void *ctx)
{
	struct error err;

	if (g->current && !g->action.name) {
		g->action = (struct guest_action){ .name = name, .done = done, .ctx = ctx };
		return true;
	}
	if (g->current)
		error_set(&err, "'%s' is still under way: one action at a time", g->action.name);
	else
		error_set(&err, "the guest is gone");
	done(ctx, &err, NULL);
	return false;
}

void guest_action_clear(struct guest *g)
{
	struct guest_action *a = &g->action;

	loop_remove(g->loop, a->timer);
	free(a->next_end);
	state_file_free(a->state);
	host_load_stop(a->load);
	memset(a, 0, sizeof(*a));
}

/* err is NULL on success. */
static void end(struct guest *g, const struct error *err)
{
	struct guest_action a = g->action;

	guest_action_clear(g);
	a.done(a.ctx, err, err ? NULL : &a.times);
}

/* Takes what the back end has found out about either instant. */
static void take_times(struct guest *g, const struct action_times *times)
{
	struct action_times *t = &g->action.times;

	if (times && times->stop_after.raw_ns) {
		t->stop_before = times->stop_before;
		t->stop_after = times->stop_after;
	}
	if (times && times->run_after.raw_ns) {
		t->run_before = times->run_before;
		t->run_after = times->run_after;
	}
}

/* Whatever the guest stood still, it was after this, and before bracket_end(). */
static void bracket_begin(struct guest *g)
{
	g->action.times.stop_before = host_time_now();
	g->action.times.run_before = g->action.times.stop_before;
}

static void bracket_end(struct guest *g)
{
	g->action.times.stop_after = host_time_now();
	g->action.times.run_after = g->action.times.stop_after;
}

static bool unsupported(struct guest *g, bool can, const char *what)
{
	struct error err;

	if (!can) {
		error_unsupported(&err, "the VMM %s cannot %s", g->backend->name, what);
		end(g, &err);
	}
	return !can;
}

static void call_after(struct guest *g, u64 ns, void (*then)(void *ctx))
{
	g->action.timer = loop_add_timer(g->loop, ns, then, g);
}

/* The guest has no machine that runs any more. */
static void lose(struct guest *g, const char *text)
{
	struct machine_exit exit = { .kind = MACHINE_VMM_DIED, .text = text };

	g->events->exited(g->ctx, &exit);
}

/* ---- pause, snapshot -------------------------------------------------------------------------- */

static void on_resumed(void *ctx, const struct error *err, const struct action_times *times)
{
	struct guest *g = ctx;
	struct error failure = g->action.error;

	if (err) {
		lose(g, err->text);
		return;
	}
	take_times(g, times);
	end(g, *failure.text ? &failure : NULL);
}

static void resume(struct guest *g)
{
	g->backend->resume(g->current->machine, on_resumed, g);
}

static void on_waited(void *ctx)
{
	struct guest *g = ctx;

	g->action.timer = NULL;
	resume(g);
}

/* Of what was done to the paused guest; it goes on in either case. */
static void on_done_paused(void *ctx, const struct error *err, const struct action_times *times)
{
	struct guest *g = ctx;

	if (err)
		g->action.error = *err;
	resume(g);
}

static void on_paused(void *ctx, const struct error *err, const struct action_times *times)
{
	struct guest *g = ctx;

	if (err) {
		end(g, err);
		return;
	}
	take_times(g, times);
	call_after(g, g->action.wait_ns, on_waited);
}

void guest_pause(struct guest *g, u64 for_ns, action_done done, void *ctx)
{
	const struct backend *b = g->backend;

	if (!begin(g, "pause", done, ctx) || unsupported(g, b->pause && b->resume, "pause a guest"))
		return;
	g->action.wait_ns = for_ns;
	b->pause(g->current->machine, on_paused, g);
}

static void on_paused_to_shift(void *ctx, const struct error *err, const struct action_times *times)
{
	struct guest *g = ctx;

	if (err) {
		end(g, err);
		return;
	}
	take_times(g, times);
	g->backend->shift(g->current->machine, g->action.wait_ns, on_done_paused, g);
}

void guest_pause_virtually(struct guest *g, u64 for_ns, action_done done, void *ctx)
{
	const struct backend *b = g->backend;

	if (!begin(g, "pause", done, ctx) ||
	    unsupported(g, b->pause && b->resume && b->shift, "move a guest's time"))
		return;
	g->action.wait_ns = for_ns;
	b->pause(g->current->machine, on_paused_to_shift, g);
}

/* Pauses the guest with a file for its state. */
static void pause_to_save(struct guest *g, action_done paused)
{
	struct error err;

	g->action.state = state_file_new(&err);
	if (g->action.state)
		g->backend->pause(g->current->machine, paused, g);
	else
		end(g, &err);
}

static void on_paused_for_snapshot(void *ctx, const struct error *err,
				   const struct action_times *times)
{
	struct guest *g = ctx;

	if (err) {
		end(g, err);
		return;
	}
	take_times(g, times);
	g->backend->save(g->current->machine, state_file_path(g->action.state), on_done_paused, g);
}

void guest_snapshot(struct guest *g, action_done done, void *ctx)
{
	const struct backend *b = g->backend;

	if (begin(g, "snapshot", done, ctx) &&
	    !unsupported(g, b->pause && b->resume && b->save, "save a guest"))
		pause_to_save(g, on_paused_for_snapshot);
}

/* ---- restore ---------------------------------------------------------------------------------- */

static void on_down(void *ctx)
{
	struct guest *g = ctx;
	struct machine_spec spec = g->spec;
	struct error err;

	g->action.timer = NULL;
	spec.restore_path = state_file_path(g->action.state);
	g->current = guest_incarnate(g, &spec, &err);
	if (!g->current)
		lose(g, err.text);
}

static void on_saved(void *ctx, const struct error *err, const struct action_times *times)
{
	struct guest *g = ctx;

	if (err) {
		on_done_paused(g, err, times);
		return;
	}
	guest_discard(g, g->current);
	g->current = NULL;
	call_after(g, g->action.wait_ns, on_down);
}

static void on_paused_for_restore(void *ctx, const struct error *err,
				  const struct action_times *times)
{
	struct guest *g = ctx;

	if (err) {
		end(g, err);
		return;
	}
	take_times(g, times);
	g->backend->save(g->current->machine, state_file_path(g->action.state), on_saved, g);
}

void guest_restore(struct guest *g, u64 down_ns, action_done done, void *ctx)
{
	const struct backend *b = g->backend;

	if (!begin(g, "restore", done, ctx) ||
	    unsupported(g, b->pause && b->resume && b->save, "save and restore a guest"))
		return;
	g->action.wait_ns = down_ns;
	pause_to_save(g, on_paused_for_restore);
}

/* ---- migrate ---------------------------------------------------------------------------------- */

static void migrate_once(struct guest *g);

/* The guest runs on in the new machine, and in that alone. The last call: g may be gone after it. */
static void end_migration(struct guest *g)
{
	struct text held = g->current->held;

	memset(&g->current->held, 0, sizeof(held));
	g->generation++;
	if (--g->action.count)
		migrate_once(g);
	else
		end(g, NULL);
	if (held.len)
		g->events->console(g->ctx, held.data, held.len);
	text_free(&held);
}

/* The last instants of several migrations, since the first of them. */
static void take_migration_times(struct guest *g, const struct action_times *times)
{
	struct action_times first = g->action.times;

	take_times(g, times);
	if (first.stop_before.raw_ns)
		g->action.times.stop_before = first.stop_before;
	if (first.run_before.raw_ns)
		g->action.times.run_before = first.run_before;
}

static void on_migrated(void *ctx, const struct error *err, const struct action_times *times)
{
	struct guest *g = ctx;
	struct incarnation *old = g->current;
	struct error both;

	if (err) {
		both = *err;
		if (g->action.next_end)
			error_set(&both, "%s; the new machine: %s", err->text, g->action.next_end);
		guest_discard(g, g->next);
		g->next = NULL;
		end(g, &both);
		return;
	}
	if (!g->next) {
		lose(g, g->action.next_end);
		return;
	}
	take_migration_times(g, times);
	g->current = g->next;
	g->next = NULL;
	guest_discard(g, old);
	g->action.migrated = true;
	if (g->action.started)
		end_migration(g);
}

/* Both machines hold their ends of a socket afterwards, and nobody else does. */
static void migrate_once(struct guest *g)
{
	struct machine_spec spec = g->spec;
	struct error err;
	int ends[2];

	g->action.migrated = false;
	g->action.started = false;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		error_set(&err, "no socket between two machines: %s", strerror(errno));
		end(g, &err);
		return;
	}
	spec.incoming_fd = ends[1];
	g->next = guest_incarnate(g, &spec, &err);
	close(ends[1]);
	if (g->next)
		g->backend->migrate(g->current->machine, ends[0], on_migrated, g);
	else
		end(g, &err);
	close(ends[0]);
}

void guest_migrate(struct guest *g, u64 count, action_done done, void *ctx)
{
	if (!begin(g, "migrate", done, ctx) ||
	    unsupported(g, g->backend->migrate, "migrate a guest"))
		return;
	g->action.count = count;
	migrate_once(g);
}

/* ---- a new machine ---------------------------------------------------------------------------- */

void guest_action_started(struct guest *g, const struct action_times *times)
{
	/* Restored: there is no other machine to wait for. */
	if (!g->action.count) {
		take_times(g, times);
		g->generation++;
		end(g, NULL);
		return;
	}
	take_migration_times(g, times);
	g->action.started = true;
	if (g->action.migrated)
		end_migration(g);
}

bool guest_action_exited(struct guest *g, struct incarnation *i, const char *text)
{
	/*
	 * What that means is told by the one that the guest runs in, which finds out when nobody
	 * holds the other end of its socket any more.
	 */
	if (i != g->next)
		return false;
	g->action.next_end = text_copy(text);
	guest_discard(g, i);
	g->next = NULL;
	return true;
}

/* ---- reset, plug ------------------------------------------------------------------------------- */

static void on_reset(void *ctx, const struct error *err, const struct action_times *times)
{
	struct guest *g = ctx;

	take_times(g, times);
	if (err) {
		g->generation--;
		g->events->reset(g->ctx, false);
	}
	end(g, err);
}

/* The image may ask for its generation before the VMM has answered. */
void guest_reset(struct guest *g, action_done done, void *ctx)
{
	if (!begin(g, "reset", done, ctx) || unsupported(g, g->backend->reset, "reset a guest"))
		return;
	g->generation++;
	g->events->reset(g->ctx, true);
	g->backend->reset(g->current->machine, on_reset, g);
}

static void on_bracketed(void *ctx, const struct error *err, const struct action_times *times)
{
	struct guest *g = ctx;

	bracket_end(g);
	end(g, err);
}

void guest_plug(struct guest *g, action_done done, void *ctx)
{
	if (!begin(g, "plug", done, ctx) ||
	    unsupported(g, g->backend->plug, "add a vCPU to a guest that runs"))
		return;
	bracket_begin(g);
	g->backend->plug(g->current->machine, on_bracketed, g);
}

/* ---- move, load -------------------------------------------------------------------------------- */

static void on_moved(void *ctx, const struct error *err, const struct action_times *times);

static void move(void *ctx)
{
	struct guest *g = ctx;
	cpu_set_t one;

	g->action.timer = NULL;
	if (now_ns() >= g->action.end_ns) {
		g->backend->set_affinity(g->current->machine, &g->action.cpus, on_bracketed, g);
		return;
	}
	do
		g->action.cpu = (g->action.cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(g->action.cpu, &g->action.cpus));
	CPU_ZERO(&one);
	CPU_SET(g->action.cpu, &one);
	g->backend->set_affinity(g->current->machine, &one, on_moved, g);
}

static void on_moved(void *ctx, const struct error *err, const struct action_times *times)
{
	struct guest *g = ctx;

	if (err)
		end(g, err);
	else
		call_after(g, g->action.every_ns, move);
}

void guest_move(struct guest *g, u64 every_ns, u64 for_ns, action_done done, void *ctx)
{
	struct guest_action *a = &g->action;
	struct error err;

	if (!begin(g, "move", done, ctx) ||
	    unsupported(g, g->backend->set_affinity, "move a guest's vCPUs"))
		return;
	if (sched_getaffinity(0, sizeof(a->cpus), &a->cpus) < 0 || CPU_COUNT(&a->cpus) < 2) {
		error_unsupported(&err, "the runner has one CPU of this host: nowhere to move to");
		end(g, &err);
		return;
	}
	a->every_ns = every_ns;
	a->end_ns = now_ns() + for_ns;
	bracket_begin(g);
	move(g);
}

static void on_load_over(void *ctx)
{
	struct guest *g = ctx;

	g->action.timer = NULL;
	host_load_stop(g->action.load);
	g->action.load = NULL;
	bracket_end(g);
	end(g, NULL);
}

void guest_load(struct guest *g, u64 for_ns, action_done done, void *ctx)
{
	struct error err;

	if (!begin(g, "load", done, ctx))
		return;
	bracket_begin(g);
	g->action.load = host_load_start(&err);
	if (g->action.load)
		call_after(g, for_ns, on_load_over);
	else
		end(g, &err);
}
