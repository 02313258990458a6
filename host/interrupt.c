// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signals that end a run in order.
 */
#include "interrupt.h"

#include <signal.h>

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

_Static_assert(ARRAY_SIZE(signals) == ARRAY_SIZE(((struct interrupt *)0)->sources), "one each");

static void on_signal(void *ctx, int signo)
{
	struct interrupt *i = ctx;

	i->signo = signo;
	interrupt_unwatch(i);
	loop_quit(i->loop);
}

void interrupt_watch(struct interrupt *i, struct loop *loop)
{
	i->loop = loop;
	i->signo = 0;
	for (size_t n = 0; n < ARRAY_SIZE(signals); n++)
		i->sources[n] = loop_add_signal(loop, signals[n], on_signal, i);
}

void interrupt_unwatch(struct interrupt *i)
{
	for (size_t n = 0; n < ARRAY_SIZE(signals); n++) {
		loop_remove(i->loop, i->sources[n]);
		i->sources[n] = NULL;
	}
}
