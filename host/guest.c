// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The life of a guest, over all of its machines.
 */
#include "guest.h"

#include <stdlib.h>
#include <string.h>
#include "util/memory.h"
#include "util/text.h"

/* ---- its machines ---------------------------------------------------------------------------- */

static void on_started(void *ctx, const struct action_times *times)
{
	struct incarnation *i = ctx;
	struct guest *g = i->guest;

	if (g->action.name)
		guest_action_started(g, times);
	else
		g->events->started(g->ctx);
}

static void on_console(void *ctx, const char *data, size_t len)
{
	struct incarnation *i = ctx;
	struct guest *g = i->guest;

	if (i == g->next)
		text_append_bytes(&i->held, data, len);
	else
		g->events->console(g->ctx, data, len);
}

static const char *exit_text(const struct machine_exit *exit)
{
	if (exit->text)
		return exit->text;
	return exit->kind == MACHINE_POWEROFF ? "it was switched off" : "it was reset";
}

static void on_exited(void *ctx, const struct machine_exit *exit)
{
	struct incarnation *i = ctx;
	struct guest *g = i->guest;

	if (!guest_action_exited(g, i, exit_text(exit)))
		g->events->exited(g->ctx, exit);
}

static const struct machine_events machine_events = {
	.started = on_started,
	.console = on_console,
	.exited = on_exited,
};

struct incarnation *guest_incarnate(struct guest *g, const struct machine_spec *spec,
				    struct error *err)
{
	struct incarnation *i = memory_zalloc(sizeof(*i));

	i->guest = g;
	i->machine = g->backend->start(spec, g->loop, &machine_events, i, err);
	if (i->machine)
		return i;
	free(i);
	return NULL;
}

void guest_discard(struct guest *g, struct incarnation *i)
{
	if (!i)
		return;
	g->backend->kill(i->machine);
	text_free(&i->held);
	free(i);
}

/* ---- the guest -------------------------------------------------------------------------------- */

struct guest *guest_new(const struct backend *backend, struct loop *loop,
			const struct machine_spec *spec, const struct guest_events *events,
			void *ctx)
{
	struct guest *g = memory_zalloc(sizeof(*g));

	g->backend = backend;
	g->loop = loop;
	g->spec = *spec;
	g->events = events;
	g->ctx = ctx;
	return g;
}

int guest_start(struct guest *g, struct error *err)
{
	g->current = guest_incarnate(g, &g->spec, err);
	if (!g->current)
		return -1;
	g->generation = 1;
	return 0;
}

void guest_kill(struct guest *g)
{
	guest_action_clear(g);
	guest_discard(g, g->next);
	guest_discard(g, g->current);
	g->next = NULL;
	g->current = NULL;
}

void guest_free(struct guest *g)
{
	if (!g)
		return;
	guest_kill(g);
	free(g);
}

void guest_console_send(struct guest *g, const char *data, size_t len)
{
	if (g->current)
		g->backend->console_send(g->current->machine, data, len);
}

const char *guest_command(const struct guest *g)
{
	return g->current ? g->backend->command(g->current->machine) : "";
}

const char *guest_stderr_text(const struct guest *g)
{
	return g->current ? g->backend->stderr_text(g->current->machine) : "";
}

const char *guest_action_name(const struct guest *g)
{
	return g->action.name;
}
