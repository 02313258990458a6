// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Host calls: one protocol line out, one reply line in. Whatever else comes in (echo, noise, a late
 * reply to an earlier call) is dropped, and every wait ends.
 */
#include "args.h"
#include "clock.h"
#include "console.h"
#include "hostcall.h"
#include "muldiv.h"
#include "panic.h"
#include "protocol.h"
#include "report.h"
#include "smp.h"
#include "spin.h"
#include "stdio.h"
#include "stdlib.h"
#include "string.h"

#define STAMP_TIMEOUT_NS (10 * NSEC_PER_SEC)

/* A line of input as it comes in. */
struct input {
	char line[PROTO_LINE_MAX + 1];
	size_t len;
	bool unusable;	   /* too long, or with a NUL in it */
	u64 arrived_ticks; /* when its first byte was there */
};

/* The call that is under way. */
static struct {
	bool under_way;
	u64 id;
	struct input in;
} open_call;

static void input_reset(struct input *in)
{
	in->len = 0;
	in->unusable = false;
}

/* Takes what is there; true when a line is complete. */
static bool input_line(struct input *in)
{
	int c;

	while ((c = console_read()) >= 0) {
		if (!in->len && !in->unusable)
			in->arrived_ticks = clock_ticks();
		if (c == '\n') {
			if (in->len && in->line[in->len - 1] == '\r')
				in->len--;
			in->line[in->len] = '\0';
			return true;
		}
		if (!c || in->len == PROTO_LINE_MAX)
			in->unusable = true;
		else
			in->line[in->len++] = (char)c;
		/* What never ends a line must not keep us here: the caller counts. */
		if (in->unusable)
			return false;
	}
	return false;
}

bool host_field(const char *reply, const char *key, char *value, size_t size)
{
	size_t len = strlen(key);

	while (*reply) {
		size_t word = strcspn(reply, " ");
		bool found = !strncmp(reply, key, len) && reply[len] == '=';

		/* "text" is the last field: what looks like fields behind it is its value. */
		if (!strncmp(reply, "text=", 5))
			word = strlen(reply);
		if (found) {
			size_t n = MIN(word - len - 1, size - 1);

			memcpy(value, reply + len + 1, n);
			value[n] = '\0';
			return true;
		}
		reply += word;
		reply += strspn(reply, " ");
	}
	return false;
}

bool host_field_u64(const char *reply, const char *key, u64 *value)
{
	char text[24];

	return host_field(reply, key, text, sizeof(text)) && str_to_u64(text, value);
}

/* The fields of the line if it is the reply to call id, else NULL. */
static const char *reply_fields(const char *line, u64 id)
{
	static const char start[] = PROTO_PREFIX PROTO_REPLY " ";
	u64 reply_id;

	if (strncmp(line, start, sizeof(start) - 1))
		return NULL;
	line += sizeof(start) - 1;
	return host_field_u64(line, "id", &reply_id) && reply_id == id ? line : NULL;
}

/* Gives out what follows the status, and the status as a result. */
static int take_reply(const char *fields, char *reply, size_t reply_size)
{
	const char *status = strstr(fields, "status=");
	char word[16] = "";

	host_field(fields, "status", word, sizeof(word));
	if (!status || !*word) {
		snprintf(reply, reply_size, "text=the reply has no status: %s", fields);
		return HOST_CALL_ERROR;
	}
	status += strcspn(status, " ");
	snprintf(reply, reply_size, "%s", status + strspn(status, " "));
	if (!strcmp(word, "ok"))
		return HOST_CALL_OK;
	return strcmp(word, "unsupported") ? HOST_CALL_ERROR : HOST_CALL_UNSUPPORTED;
}

/*
 * The argument of an image that was started by hand, on real hardware perhaps: nobody answers, so
 * nobody is asked.
 */
static bool is_alone(void)
{
	return args_has("alone");
}

/* Sends the line; returns the guest's clock just before its last byte. */
static u64 send(const char *line, size_t len)
{
	u64 before_ticks;

	/* The runner cannot act before it has the line's end, however slow the rest was. */
	console_lock();
	console_write_unlocked(line, len);
	before_ticks = clock_ticks();
	console_write_unlocked("\n", 1);
	console_unlock();
	return before_ticks;
}

/* Returns the guest's clock just before the call's last byte. */
static u64 begin(const char *action, const char *when, const char *fields)
{
	char line[PROTO_LINE_MAX + 1];
	int len;

	if (smp_id() || open_call.under_way)
		panic("host_call(%s) on CPU %d%s: one at a time, from CPU 0", action, smp_id(),
		      open_call.under_way ? " during another" : "");
	open_call.under_way = true;
	open_call.id++;
	input_reset(&open_call.in);
	len = snprintf(line, sizeof(line), PROTO_PREFIX PROTO_CALL " id=%lu action=%s when=%s%s%s",
		       open_call.id, action, when, *fields ? " " : "", fields);
	if (len >= (int)sizeof(line) || strchr(line, '\n'))
		panic("host_call(%s): the call is longer than a line of %d bytes, or has a line "
		      "end in it",
		      action, PROTO_LINE_MAX);
	return is_alone() ? clock_ticks() : send(line, len);
}

bool host_call_poll(char *reply, size_t reply_size, int *result)
{
	struct input *in = &open_call.in;
	const char *fields;

	if (is_alone()) {
		snprintf(reply, reply_size, "text=there is no runner (argument alone)");
		*result = HOST_CALL_UNSUPPORTED;
		open_call.under_way = false;
		return true;
	}
	if (!input_line(in))
		return false;
	fields = in->unusable ? NULL : reply_fields(in->line, open_call.id);
	if (!fields) {
		input_reset(in);
		return false;
	}
	*result = take_reply(fields, reply, reply_size);
	open_call.under_way = false;
	return true;
}

void host_call_begin(const char *action, const char *when, const char *fields)
{
	begin(action, when, fields);
}

int host_call_end(char *reply, size_t reply_size, u64 timeout_ns)
{
	struct spin_bound bound;
	int result;

	spin_start(&bound, timeout_ns);
	do {
		if (host_call_poll(reply, reply_size, &result))
			return result;
	} while (spin_poll(&bound));
	open_call.under_way = false;
	snprintf(reply, reply_size, "text=no answer within %lu ms%s", timeout_ns / NSEC_PER_MSEC,
		 bound.clock_stuck ? ", and the guest's clock stood still" : "");
	return HOST_CALL_NO_ANSWER;
}

int host_call(const char *action, const char *fields, char *reply, size_t reply_size,
	      u64 timeout_ns)
{
	host_call_begin(action, "now", fields);
	return host_call_end(reply, reply_size, timeout_ns);
}

int host_stamp_try(struct host_stamp *s, char *text, size_t size)
{
	char reply[256];
	int result;

	s->before_ticks = begin(PROTO_ACTION_STAMP, "now", "");
	result = host_call_end(reply, sizeof(reply), STAMP_TIMEOUT_NS);
	s->after_ticks = open_call.in.arrived_ticks;
	if (result == HOST_CALL_OK && !(host_field_u64(reply, "raw-ns", &s->raw_ns) &&
					host_field_u64(reply, "realtime-ns", &s->realtime_ns))) {
		snprintf(text, size, "no raw-ns and realtime-ns in the reply: %s", reply);
		return HOST_CALL_ERROR;
	}
	if (result != HOST_CALL_OK && !host_field(reply, "text", text, size))
		snprintf(text, size, "no reason given");
	return result;
}

bool host_stamp(struct host_stamp *s)
{
	char text[300];
	int result = host_stamp_try(s, text, sizeof(text));

	if (result == HOST_CALL_UNSUPPORTED)
		report_skip("host stamp: the runner cannot: %s", text);
	else if (result != HOST_CALL_OK)
		report_error("host stamp: %s", text);
	return result == HOST_CALL_OK;
}
