/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls to the runner over the console. One at a time, from CPU 0.
 */
#ifndef HOSTCALL_H
#define HOSTCALL_H

#include "types.h"

/* The host's clocks when the runner handled the call, and the guest's clock before and after. */
struct host_stamp {
	u64 before_ticks;
	u64 after_ticks;
	u64 raw_ns;	 /* CLOCK_MONOTONIC_RAW */
	u64 realtime_ns; /* CLOCK_REALTIME */
};

/* false with a report_error() when the runner did not answer; with why in *unsupported if it
 * cannot (no runner on the console). */
bool host_stamp(struct host_stamp *s);

/*
 * One call: action and further fields in, the reply's fields (after "status=ok ") out. Returns 0,
 * -1 on no answer, -2 when the runner says unsupported.
 */
int host_call(const char *action, const char *fields, char *reply, size_t reply_size,
	      u64 timeout_ns);

#endif
