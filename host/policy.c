// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of policies, and their overrides.
 */
#include "policy.h"

#include <stdlib.h>
#include <string.h>

static const char *const promises[PROMISE_COUNT + 1] = {
	[PROMISE_UNKNOWN] = "unknown",
	[PROMISE_FROZEN] = "frozen",
	[PROMISE_RUNNING] = "running",
	[PROMISE_CAUGHT_UP] = "caught-up",
};

static const char *const clocks[POLICY_CLOCK_COUNT + 1] = {
	[POLICY_COUNTER] = "counter",
	[POLICY_PHYSICAL] = "physical",
	[POLICY_KVMCLOCK] = "kvmclock",
	[POLICY_TIMER] = "timer",
};

static const char *const actions[POLICY_ACTION_COUNT + 1] = {
	[POLICY_PAUSE] = "pause",
	[POLICY_RESTORE] = "restore",
	[POLICY_MIGRATE] = "migrate",
};

void policy_set_action(struct policy *p, enum policy_action action, enum promise promise)
{
	for (int clock = 0; clock < POLICY_CLOCK_COUNT; clock++)
		p->promise[clock][action] = promise;
}

/* The index of the first len bytes of word in a list that ends in NULL; -1 with err set. */
static int find(const char *const *names, const char *word, size_t len, const char *what,
		struct error *err)
{
	char *all;

	for (int i = 0; names[i]; i++) {
		if (strlen(names[i]) == len && !memcmp(names[i], word, len))
			return i;
	}
	all = words_join((char *const *)names, ", ");
	error_set(err, "'%.*s' is no %s; there are: %s", (int)len, word, what, all);
	free(all);
	return -1;
}

int policy_override(struct policy *p, const char *text, struct error *err)
{
	size_t clock_len = strcspn(text, ".=");
	const char *action_name = text + clock_len + 1;
	size_t action_len;
	int clock, action, promise;

	if (text[clock_len] != '.' || !strchr(action_name, '='))
		return error_set(err, "'%s' is not CLOCK.ACTION=PROMISE, as counter.pause=frozen",
				 text);
	action_len = strcspn(action_name, "=");
	clock = find(clocks, text, clock_len, "clock", err);
	if (clock < 0)
		return -1;
	action = find(actions, action_name, action_len, "action", err);
	if (action < 0)
		return -1;
	text = action_name + action_len + 1;
	promise = find(promises, text, strlen(text), "promise", err);
	if (promise < 0)
		return -1;
	p->promise[clock][action] = promise;
	return 0;
}

void policy_append_fields(const struct policy *p, struct text *fields)
{
	for (int clock = 0; clock < POLICY_CLOCK_COUNT; clock++) {
		for (int action = 0; action < POLICY_ACTION_COUNT; action++)
			text_printf(fields, "%s%s-%s=%s", fields->len ? " " : "", clocks[clock],
				    actions[action], promises[p->promise[clock][action]]);
	}
}

json_t *policy_to_json(const struct policy *p)
{
	json_t *all = json_object();

	for (int clock = 0; clock < POLICY_CLOCK_COUNT; clock++) {
		json_t *one = json_object();

		for (int action = 0; action < POLICY_ACTION_COUNT; action++)
			json_object_set_new(one, actions[action],
					    json_string(promises[p->promise[clock][action]]));
		json_object_set_new(all, clocks[clock], one);
	}
	return all;
}
