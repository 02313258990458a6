/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event loop: file descriptors, timers, children and signals, in one thread. Callbacks may add
 * and remove sources, the one that is running included.
 */
#ifndef UTIL_LOOP_H
#define UTIL_LOOP_H

#include <sys/types.h>
#include "types.h"

struct loop;
struct loop_source;

#define LOOP_READ  1u
#define LOOP_WRITE 2u

struct loop *loop_new(void);
void loop_free(struct loop *l);

/* Runs until loop_quit() or until there is no source left. */
void loop_run(struct loop *l);
void loop_quit(struct loop *l);

/* Called while fd is readable (or at end of file or in error) or writable. fd stays the caller's. */
struct loop_source *loop_add_fd(struct loop *l, int fd, unsigned int events,
				void (*fn)(void *ctx, unsigned int events), void *ctx);
void loop_set_events(struct loop_source *s, unsigned int events);

/* Called once, after_ns from now on CLOCK_MONOTONIC; the source is gone then. */
struct loop_source *loop_add_timer(struct loop *l, u64 after_ns, void (*fn)(void *ctx), void *ctx);

/*
 * Called once when the child ended, with waitpid's status; the child has been reaped then, and the
 * source is gone.
 */
struct loop_source *loop_add_child(struct loop *l, pid_t pid, void (*fn)(void *ctx, int status),
				   void *ctx);

/* Called for the signal, which is blocked outside of the loop. */
struct loop_source *loop_add_signal(struct loop *l, int signo, void (*fn)(void *ctx, int signo),
				    void *ctx);

/* Removes and frees any source; NULL is allowed. A removed child is still reaped. */
void loop_remove(struct loop *l, struct loop_source *s);

/* CLOCK_MONOTONIC, ns. */
u64 now_ns(void);

#endif
