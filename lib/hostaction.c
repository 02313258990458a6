// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Host actions by host calls.
 */
#include "args.h"
#include "hostaction.h"
#include "hostcall.h"
#include "muldiv.h"
#include "panic.h"
#include "report.h"
#include "spin.h"
#include "stdio.h"
#include "string.h"

/* What a host that copies a machine's memory needs at most, and what call fields have room for. */
#define ACTION_TIMEOUT_NS (20 * NSEC_PER_SEC)
#define POLICY_TIMEOUT_NS (10 * NSEC_PER_SEC)
#define REPLY_MAX	  1024

void host_action_begin(const char *action, u64 after_ms, const char *fields)
{
	char when[32] = "now";

	if (after_ms)
		snprintf(when, sizeof(when), "after-ms=%lu", after_ms);
	host_call_begin(action, when, fields);
}

static bool take_instant(const char *reply, const char *what, struct host_instant *instant)
{
	char key[32];
	bool found;

	snprintf(key, sizeof(key), "%s-before-raw-ns", what);
	found = host_field_u64(reply, key, &instant->before_ns);
	snprintf(key, sizeof(key), "%s-after-raw-ns", what);
	return found && host_field_u64(reply, key, &instant->after_ns) &&
	       instant->before_ns <= instant->after_ns;
}

static void take_reply(struct host_action *a, int result, const char *reply)
{
	*a = (struct host_action){ .result = result };
	if (result != HOST_CALL_OK) {
		if (!host_field(reply, "text", a->why, sizeof(a->why)))
			snprintf(a->why, sizeof(a->why), "no reason given");
		return;
	}
	if (host_field_u64(reply, "generation", &a->generation) &&
	    take_instant(reply, "stop", &a->stop) && take_instant(reply, "run", &a->run) &&
	    a->stop.before_ns <= a->run.after_ns)
		return;
	a->result = HOST_CALL_ERROR;
	snprintf(a->why, sizeof(a->why), "no generation, stop and run in the reply: %s", reply);
}

bool host_action_poll(struct host_action *a)
{
	char reply[REPLY_MAX];
	int result;

	if (!host_call_poll(reply, sizeof(reply), &result))
		return false;
	take_reply(a, result, reply);
	return true;
}

void host_action_end(struct host_action *a)
{
	char reply[REPLY_MAX];
	int result = host_call_end(reply, sizeof(reply), ACTION_TIMEOUT_NS);

	take_reply(a, result, reply);
}

void host_action(const char *action, const char *fields, struct host_action *a)
{
	host_action_begin(action, 0, fields);
	host_action_end(a);
}

bool host_action_report(const struct host_action *a, const char *action)
{
	if (a->result == HOST_CALL_UNSUPPORTED)
		report_skip("%s: %s", action, a->why);
	else if (a->result != HOST_CALL_OK)
		report_error("%s: %s", action, a->why);
	return a->result == HOST_CALL_OK;
}

u64 host_action_least_ns(const struct host_action *a)
{
	return a->run.before_ns > a->stop.after_ns ? a->run.before_ns - a->stop.after_ns : 0;
}

u64 host_action_most_ns(const struct host_action *a)
{
	return a->run.after_ns - a->stop.before_ns;
}

bool host_generation(u64 *generation, struct host_action *a)
{
	char reply[REPLY_MAX];
	int result = host_call("generation", "", reply, sizeof(reply), POLICY_TIMEOUT_NS);

	*a = (struct host_action){ .result = result };
	if (result == HOST_CALL_OK && host_field_u64(reply, "generation", generation))
		return true;
	if (result == HOST_CALL_OK)
		a->result = HOST_CALL_ERROR;
	if (!host_field(reply, "text", a->why, sizeof(a->why)))
		snprintf(a->why, sizeof(a->why), "no generation in the reply: %s", reply);
	return false;
}

/* ---- kinds ------------------------------------------------------------------------------------- */

#define HOLD_MS_DEFAULT 400

/* A guest is the younger the earlier: restore, which has failed for young guests, is first. */
static const struct host_action_kind all_kinds[] = {
	{ "restore", "restore", "down-ms=%lu", "restore" },
	{ "restore-twice", "restore", "down-ms=%lu", "restore", .again = true },
	{ "pause", "pause", "ms=%lu", "pause" },
	{ "snapshot", "snapshot", "", "pause" },
	{ "migrate", "migrate", "count=1", "restore" },
	{ "move", "move", "ms=10 for-ms=%lu", NULL },
	{ "load", "load", "for-ms=%lu", NULL },
};

static const struct host_action_kind *find_kind(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(all_kinds); i++) {
		if (strlen(all_kinds[i].name) == len && !strncmp(all_kinds[i].name, name, len))
			return &all_kinds[i];
	}
	panic("argument actions: '%s' begins with the name of no action", name);
}

size_t host_action_kinds(const struct host_action_kind **kinds, size_t max)
{
	const char *names = args_str("actions", NULL);
	size_t count = 0;

	if (!names) {
		for (; count < MIN(ARRAY_SIZE(all_kinds), max); count++)
			kinds[count] = &all_kinds[count];
		return count;
	}
	while (*names && count < max) {
		size_t len = strcspn(names, ",");

		kinds[count++] = find_kind(names, len);
		names += len;
		names += *names == ',';
	}
	return count;
}

u64 host_action_hold_ms(void)
{
	return args_u64("hold-ms", HOLD_MS_DEFAULT);
}

void host_action_begin_kind(const struct host_action_kind *kind, u64 after_ms)
{
	char fields[64];
	const char *number = strstr(kind->fields, "%lu");

	if (number)
		snprintf(fields, sizeof(fields), "%.*s%lu", (int)(number - kind->fields),
			 kind->fields, host_action_hold_ms());
	else
		snprintf(fields, sizeof(fields), "%s", kind->fields);
	host_action_begin(kind->action, after_ms, fields);
}

/* ---- policy ------------------------------------------------------------------------------------ */

static const char *const policy_names[] = {
	[HOST_POLICY_UNKNOWN] = "unknown",
	[HOST_POLICY_FROZEN] = "frozen",
	[HOST_POLICY_RUNNING] = "running",
	[HOST_POLICY_CAUGHT_UP] = "caught-up",
};

const char *host_policy_name(enum host_policy policy)
{
	return policy_names[policy];
}

enum host_policy host_policy(const char *what, const char *stop)
{
	static char reply[REPLY_MAX]; /* asked for once: it does not change */
	static bool asked;
	char key[32], value[16];

	if (!stop)
		return HOST_POLICY_RUNNING;
	if (!asked && host_call("policy", "", reply, sizeof(reply), POLICY_TIMEOUT_NS))
		reply[0] = '\0';
	asked = true;
	snprintf(key, sizeof(key), "%s-%s", what, stop);
	if (!host_field(reply, key, value, sizeof(value)))
		return HOST_POLICY_UNKNOWN;
	for (size_t i = 0; i < ARRAY_SIZE(policy_names); i++) {
		if (!strcmp(value, policy_names[i]))
			return i;
	}
	return HOST_POLICY_UNKNOWN;
}
