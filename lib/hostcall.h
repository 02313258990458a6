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

/*
 * Stamps the host's clocks between two reads of the guest's: the first just before the call's last
 * byte is sent, the second when the reply's first byte is there. false when the check has got its
 * verdict and should return: report_skip() where the runner cannot, report_error() where it did not
 * answer or answered nonsense.
 */
bool host_stamp(struct host_stamp *s);

/* The same without a verdict: HOST_CALL_OK, or another of these with the reason in text. */
int host_stamp_try(struct host_stamp *s, char *text, size_t size);

#define HOST_CALL_OK	      0
#define HOST_CALL_NO_ANSWER   (-1)
#define HOST_CALL_UNSUPPORTED (-2) /* the runner cannot; reply has text= with the reason */
#define HOST_CALL_ERROR	      (-3) /* it failed, or its answer is malformed; reply has text= */

/*
 * One call that the guest waits for: action and further fields ("" for none) in, the reply's fields
 * behind "status=… " out, cut to reply_size. Waits for at most timeout_ns by the guest's clock.
 */
int host_call(const char *action, const char *fields, char *reply, size_t reply_size,
	      u64 timeout_ns);

/*
 * The same in two parts, for a call that is done later: when is "now" or "after-ms=N". Between the
 * two the guest may do what it likes, but for another call.
 */
void host_call_begin(const char *action, const char *when, const char *fields);
int host_call_end(char *reply, size_t reply_size, u64 timeout_ns);

/* One look in place of the wait: true when the reply is there, and *result is what end() returns. */
bool host_call_poll(char *reply, size_t reply_size, int *result);

/*
 * The value of a field in a reply, cut to size; "text" runs to the end of the line. false where it
 * is missing.
 */
bool host_field(const char *reply, const char *key, char *value, size_t size);

/* The same for a number; false also where it is none. */
bool host_field_u64(const char *reply, const char *key, u64 *value);

#endif
