// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Serves host calls: checks what the guest asked for, waits where it asked for "after-ms", has the
 * action done, replies and records.
 */
#include "host_call.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "protocol.h"
#include "protocol_fields.h"
#include "util/memory.h"

/* Longest that a call may lie ahead. */
#define AFTER_MS_MAX 3600000

struct host_calls {
	struct test_result *result;
	struct loop *loop;
	const struct backend *backend;
	struct machine *machine;
	struct host_call *waiting;
	size_t nr_calls;
};

/* One call, from its line to its reply. */
struct host_call {
	struct host_calls *owner;
	struct host_call *next; /* of those that wait */
	const struct action *action;
	json_t *fields;
	const char *id;
	struct loop_source *timer;
};

/*
 * run() answers with call_reply() or call_refuse(), at once or later; either frees the call.
 * deferrable: "after-ms" makes sense for it.
 */
struct action {
	const char *name;
	bool deferrable;
	void (*run)(struct host_call *call);
};

/* ---- replies --------------------------------------------------------------------------------- */

static void call_free(struct host_call *call)
{
	struct host_call **link = &call->owner->waiting;

	while (*link && *link != call)
		link = &(*link)->next;
	if (*link)
		*link = call->next;
	loop_remove(call->owner->loop, call->timer);
	json_decref(call->fields);
	free(call);
}

static void send_reply(struct host_calls *h, const char *id, const char *status, const char *fields)
{
	struct text line = { 0 };

	text_printf(&line, "%s%s id=%s status=%s%s%s\n", PROTO_PREFIX, PROTO_REPLY, id, status,
		    *fields ? " " : "", fields);
	if (h->machine)
		h->backend->console_send(h->machine, line.data, line.len);
	text_free(&line);
}

/* Adds what was asked and what was answered to the result. */
static void record(struct host_calls *h, const json_t *fields, const char *status,
		   const char *answer)
{
	json_t *entry = protocol_fields_to_numbers(fields);
	json_t *parsed = protocol_fields_parse(answer);

	json_object_set_new(entry, "status", json_string(status));
	if (*answer)
		json_object_set_new(entry, "reply", protocol_fields_to_numbers(parsed));
	json_array_append_new(h->result->calls, entry);
	json_decref(parsed);
}

/* Done: fields are what the reply carries besides id and status. */
static void call_reply(struct host_call *call, const char *fields)
{
	send_reply(call->owner, call->id, "ok", fields);
	record(call->owner, call->fields, "ok", fields);
	call_free(call);
}

/* ---- actions --------------------------------------------------------------------------------- */

static void run_stamp(struct host_call *call)
{
	struct host_time now = host_time_now();
	struct text fields = { 0 };

	text_printf(&fields, "raw-ns=%" PRIu64 " realtime-ns=%" PRIu64, now.raw_ns,
		    now.realtime_ns);
	call_reply(call, text_string(&fields));
	text_free(&fields);
}

static void run_echo(struct host_call *call)
{
	const char *text = protocol_field(call->fields, "text");
	struct text fields = { 0 };

	text_printf(&fields, "text=%s", text ? text : "");
	call_reply(call, text_string(&fields));
	text_free(&fields);
}

static const struct action actions[] = {
	{ PROTO_ACTION_STAMP, false, run_stamp },
	{ PROTO_ACTION_ECHO, false, run_echo },
};

/* ---- calls ----------------------------------------------------------------------------------- */

static void refuse(struct host_calls *h, const json_t *fields, const char *status, const char *why)
{
	const char *id = protocol_field(fields, "id");
	struct text text = { 0 };

	text_printf(&text, "text=%s", why);
	send_reply(h, id ? id : "0", status, text_string(&text));
	record(h, fields, status, text_string(&text));
	text_free(&text);
}

static const struct action *find_action(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(actions); i++) {
		if (!strcmp(actions[i].name, name))
			return &actions[i];
	}
	return NULL;
}

/* "when=now", or "when=after-ms=N" and "after-ms=N" for short. -1: neither. */
static int read_when(const json_t *fields, bool *now, u64 *after_ms)
{
	const char *when = protocol_field(fields, "when");
	const char *after = protocol_field(fields, "after-ms");

	if (!after && when && text_starts_with(when, "after-ms="))
		after = when + strlen("after-ms=");
	*now = !after;
	if (after)
		return text_to_u64(after, 0, AFTER_MS_MAX, after_ms);
	return !when || !strcmp(when, "now") ? 0 : -1;
}

static void on_time(void *ctx)
{
	struct host_call *call = ctx;

	call->timer = NULL;
	call->action->run(call);
}

void host_calls_take(struct host_calls *h, const json_t *fields)
{
	const char *name = protocol_field(fields, "action");
	const struct action *action = find_action(name);
	struct host_call *call;
	u64 id, after_ms = 0;
	bool now = true;

	if (++h->nr_calls > HOST_CALLS_MAX)
		return;
	if (protocol_field_u64(fields, "id", &id)) {
		refuse(h, fields, "error", "a call needs a number as its id");
		return;
	}
	if (!action) {
		refuse(h, fields, "unsupported", "this runner knows no such action");
		return;
	}
	if (read_when(fields, &now, &after_ms)) {
		refuse(h, fields, "error", "when= is neither now nor after-ms=N");
		return;
	}
	if (!now && !action->deferrable) {
		refuse(h, fields, "unsupported", "this action is done at once or not at all");
		return;
	}
	call = memory_zalloc(sizeof(*call));
	call->owner = h;
	call->action = action;
	call->fields = json_deep_copy(fields);
	call->id = protocol_field(call->fields, "id");
	call->next = h->waiting;
	h->waiting = call;
	if (now)
		action->run(call);
	else
		call->timer = loop_add_timer(h->loop, after_ms * 1000000, on_time, call);
}

struct host_calls *host_calls_new(struct test_result *result, struct loop *loop,
				  const struct backend *backend)
{
	struct host_calls *h = memory_zalloc(sizeof(*h));

	h->result = result;
	h->loop = loop;
	h->backend = backend;
	return h;
}

void host_calls_set_machine(struct host_calls *h, struct machine *machine)
{
	h->machine = machine;
}

void host_calls_free(struct host_calls *h)
{
	if (!h)
		return;
	while (h->waiting)
		call_free(h->waiting);
	free(h);
}
