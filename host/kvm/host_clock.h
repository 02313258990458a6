/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host's own clocks at one instant. A snapshot has those of its making, for restores that go by
 * time or by the host's counter.
 */
#ifndef KVM_HOST_CLOCK_H
#define KVM_HOST_CLOCK_H

#include <time.h>
#include "types.h"
#include "util/error.h"

struct vm;
struct vcpu;
struct state;
struct state_item;

struct stamp {
	u64 raw_ns;	 /* CLOCK_MONOTONIC_RAW */
	u64 realtime_ns; /* CLOCK_REALTIME */
};

struct stamp stamp_now(void);

/* One instant by the host's counter (host_counter() of arch.h) and by its wall clock. */
struct counter_pair {
	u64 counter;
	u64 realtime_ns;
	u64 width; /* the wall clock was read within so many ticks of counter */
};

/* Of some readings the one with the least between its parts. */
struct counter_pair counter_pair_now(void);

struct host_clock {
	char boot_id[40]; /* of the host's boot, whose counter it is; "" where not known */
	struct counter_pair pair;
};

void host_clock_read(struct host_clock *h);

/* Still the same boot of the same host, so that its counter has run on? */
bool host_clock_same_boot(const struct host_clock *h);

/* CLOCK_REALTIME's ns since then; 0 where it was set back. */
u64 host_clock_elapsed_ns(const struct host_clock *h, u64 realtime_ns);

/* A step of state.h: into vm->saved_host. */
int host_clock_save(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
		    struct error *err);
int host_clock_restore(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
		       struct error *err);

/* value * multiplier / divisor, rounded towards zero. */
static inline s64 scale(s64 value, u64 multiplier, u64 divisor)
{
	return (s128)value * multiplier / (s128)divisor;
}

#endif
