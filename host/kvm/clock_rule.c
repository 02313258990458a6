// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule's words, and the little arithmetic that both architectures share.
 */
#include "kvm/clock_rule.h"

#include <string.h>
#include <time.h>
#include "util/text.h"

#define LIMIT_MS_MAX (1000ULL * 86400 * 365)

static const char *const methods[] = {
	[RESTORE_DEFAULT] = "default",
	[RESTORE_VALUE] = "value",
	[RESTORE_OFFSET] = "offset",
	[RESTORE_SEQUENCE] = "sequence",
};

const char *restore_method_name(enum restore_method method)
{
	return methods[method];
}

int clock_rule_set_method(struct clock_rule *rule, const char *word, struct error *err)
{
	for (size_t i = RESTORE_VALUE; i < ARRAY_SIZE(methods); i++) {
		if (strcmp(word, methods[i]))
			continue;
		rule->method = i;
		return 0;
	}
	return error_set(err, "\"%s\" is no method: value, offset and sequence are", word);
}

int clock_rule_set_account(struct clock_rule *rule, const char *word, struct error *err)
{
	u64 limit_ms;

	if (!strcmp(word, "frozen")) {
		rule->account = ACCOUNT_FROZEN;
	} else if (!strcmp(word, "realtime")) {
		rule->account = ACCOUNT_REALTIME;
	} else if (text_starts_with(word, "limit=") &&
		   !text_to_u64(word + strlen("limit="), 0, LIMIT_MS_MAX, &limit_ms)) {
		rule->account = ACCOUNT_LIMIT;
		rule->limit_ns = limit_ms * 1000000;
	} else {
		return error_set(err, "\"%s\": frozen, realtime or limit=MS is wanted", word);
	}
	return 0;
}

char *clock_rule_account_text(const struct clock_rule *rule)
{
	switch (rule->account) {
	case ACCOUNT_FROZEN:
		return text_copy("frozen");
	case ACCOUNT_REALTIME:
		return text_copy("realtime");
	case ACCOUNT_LIMIT:
		return text_format("limit=%llu", (unsigned long long)rule->limit_ns / 1000000);
	default:
		return NULL;
	}
}

struct clock_rule clock_rule_complete(const struct clock_rule *rule, enum arch arch)
{
	struct clock_rule complete = *rule;

	if (complete.method == RESTORE_DEFAULT)
		complete.method = arch == ARCH_X86_64 ? RESTORE_OFFSET : RESTORE_VALUE;
	if (complete.account == ACCOUNT_DEFAULT)
		complete.account =
			complete.method == RESTORE_VALUE ? ACCOUNT_FROZEN : ACCOUNT_REALTIME;
	return complete;
}

u64 clock_rule_visible(const struct clock_rule *rule, u64 elapsed, u64 limit)
{
	switch (rule->account) {
	case ACCOUNT_FROZEN:
		return 0;
	case ACCOUNT_LIMIT:
		return MIN(elapsed, limit);
	default:
		return elapsed;
	}
}

void clock_rule_preempt(const struct clock_rule *rule)
{
	struct timespec sleep = { rule->preempt_us / 1000000, rule->preempt_us % 1000000 * 1000 };

	if (rule->preempt_us)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &sleep, NULL);
}
