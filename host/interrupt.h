/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGINT, SIGTERM and SIGHUP: the first ends the run in order, from then on a second one has its
 * usual effect.
 */
#ifndef HOST_INTERRUPT_H
#define HOST_INTERRUPT_H

#include "util/loop.h"

struct interrupt {
	struct loop *loop;
	struct loop_source *sources[3];
	int signo; /* the one that came, else 0 */
};

/* When one comes, signo is set and the loop quits. */
void interrupt_watch(struct interrupt *i, struct loop *loop);
void interrupt_unwatch(struct interrupt *i);

#endif
