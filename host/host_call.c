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
/* Longest that what is done to a guest may be asked to last, and most migrations in a row. */
#define LASTING_MS_MAX 3600000
#define MIGRATIONS_MAX 1000

struct host_calls {
	struct test_result *result;
	struct loop *loop;
	const struct target *target;
	struct guest *guest;
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
	guest_console_send(h->guest, line.data, line.len);
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

static void refuse(struct host_calls *h, const json_t *fields, const char *status, const char *why)
{
	const char *id = protocol_field(fields, "id");
	struct text text = { 0 };

	text_printf(&text, "text=%s", why);
	send_reply(h, id ? id : "0", status, text_string(&text));
	record(h, fields, status, text_string(&text));
	text_free(&text);
}

/* Not done: why is the text of the reply. */
static void call_refuse(struct host_call *call, const char *status, const char *why)
{
	refuse(call->owner, call->fields, status, why);
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

static void run_generation(struct host_call *call)
{
	struct text fields = { 0 };

	text_printf(&fields, "generation=%" PRIu64, call->owner->guest->generation);
	call_reply(call, text_string(&fields));
	text_free(&fields);
}

static void run_policy(struct host_call *call)
{
	const struct target *target = call->owner->target;
	struct text fields = { 0 };
	struct policy policy;

	backend_policy(target->backend, &call->owner->guest->spec, target->policy, &policy);
	policy_append_fields(&policy, &fields);
	call_reply(call, text_string(&fields));
	text_free(&fields);
}

/* ---- what is done to the guest ----------------------------------------------------------------- */

static void append_instant(struct text *fields, const char *name, const struct host_time *before,
			   const struct host_time *after)
{
	text_printf(fields,
		    " %s-before-raw-ns=%" PRIu64 " %s-after-raw-ns=%" PRIu64
		    " %s-before-realtime-ns=%" PRIu64 " %s-after-realtime-ns=%" PRIu64,
		    name, before->raw_ns, name, after->raw_ns, name, before->realtime_ns, name,
		    after->realtime_ns);
}

static void append_outcome(struct text *fields, const struct guest *guest,
			   const struct action_times *times)
{
	text_printf(fields, "generation=%" PRIu64, guest->generation);
	append_instant(fields, "stop", &times->stop_before, &times->stop_after);
	append_instant(fields, "run", &times->run_before, &times->run_after);
}

static void on_done(void *ctx, const struct error *err, const struct action_times *times)
{
	struct host_call *call = ctx;
	struct text fields = { 0 };

	if (err) {
		call_refuse(call, err->unsupported ? "unsupported" : "error", err->text);
		return;
	}
	append_outcome(&fields, call->owner->guest, times);
	call_reply(call, text_string(&fields));
	text_free(&fields);
}

/* Nobody is there to be answered: the image that asked is gone, and begins anew. */
static void on_reset(void *ctx, const struct error *err, const struct action_times *times)
{
	struct host_call *call = ctx;
	struct text fields = { 0 };

	if (err) {
		on_done(ctx, err, times);
		return;
	}
	append_outcome(&fields, call->owner->guest, times);
	record(call->owner, call->fields, "ok", text_string(&fields));
	text_free(&fields);
	call_free(call);
}

/* A field that is a number up to max, or missing and none is required. false: the call is refused. */
static bool take_number(struct host_call *call, const char *key, bool required, u64 max, u64 *value)
{
	const char *text = protocol_field(call->fields, key);
	char *why;

	if (text ? !text_to_u64(text, 0, max, value) : !required)
		return true;
	why = text_format("%s= is no number from 0 to %" PRIu64, key, max);
	call_refuse(call, "error", why);
	free(why);
	return false;
}

static bool take_ms(struct host_call *call, const char *key, bool required, u64 *ns)
{
	u64 ms = 0;

	if (!take_number(call, key, required, LASTING_MS_MAX, &ms))
		return false;
	*ns = ms * 1000000;
	return true;
}

static void run_pause(struct host_call *call)
{
	const char *virtual = protocol_field(call->fields, "virtual");
	u64 ns;

	if (!take_ms(call, "ms", true, &ns))
		return;
	if (virtual && !strcmp(virtual, "yes"))
		guest_pause_virtually(call->owner->guest, ns, on_done, call);
	else
		guest_pause(call->owner->guest, ns, on_done, call);
}

static void run_snapshot(struct host_call *call)
{
	guest_snapshot(call->owner->guest, on_done, call);
}

static void run_restore(struct host_call *call)
{
	u64 down_ns;

	if (take_ms(call, "down-ms", false, &down_ns))
		guest_restore(call->owner->guest, down_ns, on_done, call);
}

static void run_migrate(struct host_call *call)
{
	u64 count = 1;

	if (take_number(call, "count", false, MIGRATIONS_MAX, &count))
		guest_migrate(call->owner->guest, MAX(count, 1UL), on_done, call);
}

static void run_reset(struct host_call *call)
{
	guest_reset(call->owner->guest, on_reset, call);
}

static void run_plug(struct host_call *call)
{
	guest_plug(call->owner->guest, on_done, call);
}

static void run_move(struct host_call *call)
{
	u64 every_ns, for_ns;

	if (take_ms(call, "ms", true, &every_ns) && take_ms(call, "for-ms", true, &for_ns))
		guest_move(call->owner->guest, MAX(every_ns, 1000000UL), for_ns, on_done, call);
}

static void run_load(struct host_call *call)
{
	u64 for_ns;

	if (take_ms(call, "for-ms", true, &for_ns))
		guest_load(call->owner->guest, for_ns, on_done, call);
}

static const struct action actions[] = {
	{ PROTO_ACTION_STAMP, false, run_stamp },
	{ PROTO_ACTION_ECHO, false, run_echo },
	{ PROTO_ACTION_GENERATION, false, run_generation },
	{ PROTO_ACTION_POLICY, false, run_policy },
	{ PROTO_ACTION_PAUSE, true, run_pause },
	{ PROTO_ACTION_SNAPSHOT, true, run_snapshot },
	{ PROTO_ACTION_RESTORE, true, run_restore },
	{ PROTO_ACTION_MIGRATE, true, run_migrate },
	{ PROTO_ACTION_RESET, true, run_reset },
	{ PROTO_ACTION_PLUG, true, run_plug },
	{ PROTO_ACTION_MOVE, true, run_move },
	{ PROTO_ACTION_LOAD, true, run_load },
};

/* ---- calls ----------------------------------------------------------------------------------- */

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
				  const struct target *target, struct guest *guest)
{
	struct host_calls *h = memory_zalloc(sizeof(*h));

	h->result = result;
	h->loop = loop;
	h->target = target;
	h->guest = guest;
	return h;
}

void host_calls_free(struct host_calls *h)
{
	if (!h)
		return;
	while (h->waiting)
		call_free(h->waiting);
	free(h);
}
