// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The event loop on ppoll(2): few sources, rebuilt into one array a round, no state in the kernel
 * that could go stale. A child is waited for by its pidfd (Linux 5.3), a signal by its signalfd, so
 * that every kind of source but a timer is a file descriptor.
 */
#include "util/loop.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "util/memory.h"

enum kind {
	SOURCE_FD,
	SOURCE_TIMER,
	SOURCE_CHILD,
	SOURCE_SIGNAL,
};

struct loop_source {
	struct loop_source *next;
	enum kind kind;
	bool dead; /* removed; freed between two rounds, since a round holds pointers */
	int fd;	   /* polled; -1 for a timer */
	unsigned int events;
	u64 deadline_ns;
	pid_t pid;
	int signo;
	bool was_blocked; /* the signal, before it was added */
	union {
		void (*fd)(void *ctx, unsigned int events);
		void (*timer)(void *ctx);
		void (*number)(void *ctx, int number); /* child: wait status; signal: signo */
	} fn;
	void *ctx;
};

struct loop {
	struct loop_source *sources;
	struct pollfd *polled;
	struct loop_source **polled_source;
	size_t polled_cap;
	bool quit;
};

u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

struct loop *loop_new(void)
{
	return memory_zalloc(sizeof(struct loop));
}

static struct loop_source *add(struct loop *l, enum kind kind, int fd, void *ctx)
{
	struct loop_source *s = memory_zalloc(sizeof(*s));

	s->kind = kind;
	s->fd = fd;
	s->events = LOOP_READ;
	s->ctx = ctx;
	s->next = l->sources;
	l->sources = s;
	return s;
}

struct loop_source *loop_add_fd(struct loop *l, int fd, unsigned int events,
				void (*fn)(void *ctx, unsigned int events), void *ctx)
{
	struct loop_source *s = add(l, SOURCE_FD, fd, ctx);

	s->events = events;
	s->fn.fd = fn;
	return s;
}

void loop_set_events(struct loop_source *s, unsigned int events)
{
	s->events = events;
}

struct loop_source *loop_add_timer(struct loop *l, u64 after_ns, void (*fn)(void *ctx), void *ctx)
{
	struct loop_source *s = add(l, SOURCE_TIMER, -1, ctx);
	u64 now = now_ns();

	s->deadline_ns = after_ns > UINT64_MAX - now ? UINT64_MAX : now + after_ns;
	s->fn.timer = fn;
	return s;
}

/* Without pidfds or descriptors nothing that the loop promises can be kept. */
static int must(int fd, const char *what)
{
	if (fd < 0) {
		fprintf(stderr, "runner: %s: %s\n", what, strerror(errno));
		exit(3);
	}
	return fd;
}

struct loop_source *loop_add_child(struct loop *l, pid_t pid, void (*fn)(void *ctx, int status),
				   void *ctx)
{
	/* Close-on-exec by itself: pidfd_open(2). */
	int fd = must(syscall(SYS_pidfd_open, pid, 0), "pidfd_open (needs Linux 5.3 or newer)");
	struct loop_source *s = add(l, SOURCE_CHILD, fd, ctx);

	s->pid = pid;
	s->fn.number = fn;
	return s;
}

struct loop_source *loop_add_signal(struct loop *l, int signo, void (*fn)(void *ctx, int signo),
				    void *ctx)
{
	struct loop_source *s;
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, signo);
	sigprocmask(SIG_BLOCK, &set, &old);
	s = add(l, SOURCE_SIGNAL, must(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"),
		ctx);
	s->signo = signo;
	s->was_blocked = sigismember(&old, signo);
	s->fn.number = fn;
	return s;
}

static void unblock_signal(const struct loop_source *s)
{
	sigset_t set;

	if (s->was_blocked)
		return;
	sigemptyset(&set);
	sigaddset(&set, s->signo);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void loop_remove(struct loop *l, struct loop_source *s)
{
	if (!s || s->dead)
		return;
	if (s->kind == SOURCE_CHILD) {
		s->fn.number = NULL; /* stays to reap it */
		return;
	}
	s->dead = true;
	if (s->kind == SOURCE_SIGNAL) {
		close(s->fd);
		unblock_signal(s);
	}
}

static void free_dead(struct loop *l)
{
	struct loop_source **link = &l->sources;

	while (*link) {
		struct loop_source *s = *link;

		if (!s->dead) {
			link = &s->next;
			continue;
		}
		*link = s->next;
		free(s);
	}
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	for (struct loop_source *s = l->sources; s; s = s->next) {
		loop_remove(l, s);
		if (s->kind == SOURCE_CHILD && !s->dead) {
			close(s->fd);
			s->dead = true;
		}
	}
	free_dead(l);
	free(l->polled);
	free(l->polled_source);
	free(l);
}

static bool has_work(const struct loop *l)
{
	for (const struct loop_source *s = l->sources; s; s = s->next) {
		/* A child that is only to be reaped holds nobody up. */
		if (!s->dead && !(s->kind == SOURCE_CHILD && !s->fn.number))
			return true;
	}
	return false;
}

/* Fills the poll array; returns its length, and the next deadline (UINT64_MAX: none). */
static size_t collect(struct loop *l, u64 *deadline_ns)
{
	size_t n = 0;

	*deadline_ns = UINT64_MAX;
	for (struct loop_source *s = l->sources; s; s = s->next) {
		if (s->kind == SOURCE_TIMER) {
			*deadline_ns = MIN(*deadline_ns, s->deadline_ns);
			continue;
		}
		if (!s->events)
			continue;
		if (n == l->polled_cap) {
			l->polled_cap = n * 2 + 16;
			l->polled = memory_resize(l->polled, l->polled_cap, sizeof(*l->polled));
			l->polled_source = memory_resize(l->polled_source, l->polled_cap,
							 sizeof(*l->polled_source));
		}
		l->polled[n] = (struct pollfd){
			.fd = s->fd,
			.events = (s->events & LOOP_READ ? POLLIN : 0) |
				  (s->events & LOOP_WRITE ? POLLOUT : 0),
		};
		l->polled_source[n++] = s;
	}
	return n;
}

static void dispatch_child(struct loop_source *s)
{
	int status;
	pid_t pid = waitpid(s->pid, &status, WNOHANG);

	if (pid == 0)
		return;
	close(s->fd);
	s->dead = true;
	/* Somebody else may have reaped it after its source was removed. */
	if (s->fn.number && pid > 0)
		s->fn.number(s->ctx, status);
}

static void dispatch_signal(struct loop_source *s)
{
	struct signalfd_siginfo info;

	if (read(s->fd, &info, sizeof(info)) == sizeof(info))
		s->fn.number(s->ctx, info.ssi_signo);
}

static void dispatch_fd(struct loop_source *s, short revents)
{
	unsigned int events = 0;

	/* End of file and errors are for whoever reads or writes to find out. */
	if (revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL))
		events |= LOOP_READ;
	if (revents & (POLLOUT | POLLERR | POLLNVAL))
		events |= LOOP_WRITE;
	events &= s->events;
	if (!events && (revents & POLLHUP))
		events = s->events;
	if (events)
		s->fn.fd(s->ctx, events);
}

static void dispatch_timers(struct loop *l)
{
	u64 now = now_ns();

	/* New sources go to the front: those added by a callback wait for the next round. */
	for (struct loop_source *s = l->sources; s && !l->quit; s = s->next) {
		if (s->kind != SOURCE_TIMER || s->dead || s->deadline_ns > now)
			continue;
		s->dead = true;
		s->fn.timer(s->ctx);
	}
}

static void run_once(struct loop *l)
{
	struct timespec timeout, *bound = NULL;
	u64 deadline_ns, now;
	size_t n = collect(l, &deadline_ns);

	if (deadline_ns != UINT64_MAX) {
		now = now_ns();
		now = deadline_ns > now ? deadline_ns - now : 0;
		timeout.tv_sec = now / 1000000000;
		timeout.tv_nsec = now % 1000000000;
		bound = &timeout;
	}
	if (ppoll(l->polled, n, bound, NULL) < 0) {
		if (errno != EINTR)
			must(-1, "ppoll");
		return;
	}
	for (size_t i = 0; i < n && !l->quit; i++) {
		struct loop_source *s = l->polled_source[i];

		if (!l->polled[i].revents || s->dead)
			continue;
		if (s->kind == SOURCE_CHILD)
			dispatch_child(s);
		else if (s->kind == SOURCE_SIGNAL)
			dispatch_signal(s);
		else
			dispatch_fd(s, l->polled[i].revents);
	}
	dispatch_timers(l);
}

void loop_run(struct loop *l)
{
	l->quit = false;
	while (!l->quit && has_work(l)) {
		run_once(l);
		free_dead(l);
	}
}

void loop_quit(struct loop *l)
{
	l->quit = true;
}
