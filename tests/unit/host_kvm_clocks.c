// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How a restored machine gets its clocks: the rule's words and defaults, what of a stop a guest sees,
 * and the arithmetic of ticks and nanoseconds at the ends of their range.
 */
#include "host_support.h"

#include "kvm/backend_policy.h"
#include "kvm/clock_rule.h"
#include "kvm/host_clock.h"

static void test_methods(void **state)
{
	static const enum restore_method methods[] = { RESTORE_VALUE, RESTORE_OFFSET,
						       RESTORE_SEQUENCE };
	struct clock_rule rule = { 0 };
	struct error err;

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		assert_int_equal(
			clock_rule_set_method(&rule, restore_method_name(methods[i]), &err), 0);
		assert_int_equal(rule.method, methods[i]);
	}
	assert_int_equal(clock_rule_set_method(&rule, "default", &err), -1);
	assert_int_equal(clock_rule_set_method(&rule, "", &err), -1);
	assert_int_equal(clock_rule_set_method(&rule, "offsets", &err), -1);
	assert_non_null(strstr(err.text, "offsets"));
	assert_int_equal(rule.method, RESTORE_SEQUENCE);
}

static void test_accounts(void **state)
{
	static const char *const wrong[] = { "", "limit", "limit=", "limit=-1", "limit=1s", "all" };
	struct clock_rule rule = { 0 };
	struct error err;
	char *text;

	assert_null(clock_rule_account_text(&rule));

	assert_int_equal(clock_rule_set_account(&rule, "frozen", &err), 0);
	assert_int_equal(rule.account, ACCOUNT_FROZEN);
	assert_int_equal(clock_rule_set_account(&rule, "realtime", &err), 0);
	assert_int_equal(rule.account, ACCOUNT_REALTIME);
	assert_int_equal(clock_rule_set_account(&rule, "limit=250", &err), 0);
	assert_int_equal(rule.account, ACCOUNT_LIMIT);
	assert_int_equal(rule.limit_ns, 250000000);
	text = clock_rule_account_text(&rule);
	assert_string_equal(text, "limit=250");
	free(text);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(clock_rule_set_account(&rule, wrong[i], &err), -1);
}

static void test_defaults(void **state)
{
	struct clock_rule given = { .preempt_us = 7 }, rule;

	rule = clock_rule_complete(&given, ARCH_ARM64);
	assert_int_equal(rule.method, RESTORE_VALUE);
	assert_int_equal(rule.account, ACCOUNT_FROZEN);
	assert_int_equal(rule.preempt_us, 7);
	rule = clock_rule_complete(&given, ARCH_X86_64);
	assert_int_equal(rule.method, RESTORE_OFFSET);
	assert_int_equal(rule.account, ACCOUNT_REALTIME);
	given.method = RESTORE_SEQUENCE;
	given.account = ACCOUNT_FROZEN;
	rule = clock_rule_complete(&given, ARCH_ARM64);
	assert_int_equal(rule.method, RESTORE_SEQUENCE);
	assert_int_equal(rule.account, ACCOUNT_FROZEN);
}

/* What it promises follows from the rule; the words are those of run_tests.sh --restore, --account. */
static void test_policy(void **state)
{
	static const struct {
		enum arch arch;
		const char *method, *account;
		enum promise counter, kvmclock, timer;
	} rows[] = {
		{ ARCH_X86_64, NULL, NULL, PROMISE_RUNNING, PROMISE_CAUGHT_UP, PROMISE_FROZEN },
		{ ARCH_X86_64, "value", NULL, PROMISE_FROZEN, PROMISE_FROZEN, PROMISE_FROZEN },
		{ ARCH_X86_64, "offset", "frozen", PROMISE_FROZEN, PROMISE_FROZEN, PROMISE_FROZEN },
		{ ARCH_X86_64, "sequence", NULL, PROMISE_CAUGHT_UP, PROMISE_CAUGHT_UP,
		  PROMISE_FROZEN },
		{ ARCH_X86_64, "offset", "limit=5", PROMISE_UNKNOWN, PROMISE_UNKNOWN,
		  PROMISE_FROZEN },
		{ ARCH_ARM64, NULL, NULL, PROMISE_FROZEN, PROMISE_FROZEN, PROMISE_FROZEN },
		{ ARCH_ARM64, "value", "realtime", PROMISE_CAUGHT_UP, PROMISE_CAUGHT_UP,
		  PROMISE_CAUGHT_UP },
		{ ARCH_ARM64, "offset", NULL, PROMISE_RUNNING, PROMISE_CAUGHT_UP, PROMISE_RUNNING },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct machine_spec spec = { .arch = rows[i].arch };
		struct clock_rule *rule = &spec.restore_rule;
		struct policy policy;
		struct error err;

		if (rows[i].method)
			assert_int_equal(clock_rule_set_method(rule, rows[i].method, &err), 0);
		if (rows[i].account)
			assert_int_equal(clock_rule_set_account(rule, rows[i].account, &err), 0);
		kvm_policy(&spec, &policy);
		assert_int_equal(policy.promise[POLICY_COUNTER][POLICY_RESTORE], rows[i].counter);
		assert_int_equal(policy.promise[POLICY_KVMCLOCK][POLICY_RESTORE], rows[i].kvmclock);
		assert_int_equal(policy.promise[POLICY_TIMER][POLICY_RESTORE], rows[i].timer);
		assert_int_equal(policy.promise[POLICY_COUNTER][POLICY_PAUSE], PROMISE_RUNNING);
		assert_int_equal(policy.promise[POLICY_COUNTER][POLICY_MIGRATE], PROMISE_UNKNOWN);
	}
}

static void test_visible(void **state)
{
	struct clock_rule rule = { .account = ACCOUNT_FROZEN };

	assert_int_equal(clock_rule_visible(&rule, 1000, 10), 0);
	rule.account = ACCOUNT_REALTIME;
	assert_int_equal(clock_rule_visible(&rule, 1000, 10), 1000);
	rule.account = ACCOUNT_LIMIT;
	assert_int_equal(clock_rule_visible(&rule, 1000, 10), 10);
	assert_int_equal(clock_rule_visible(&rule, 9, 10), 9);
	assert_int_equal(clock_rule_visible(&rule, 9, 0), 0);
}

/* A year in ns by 5 GHz in kHz is more than 64 bits have. */
static void test_scale(void **state)
{
	const s64 year_ns = 365LL * 86400 * 1000000000;

	assert_int_equal(scale(year_ns, 5000000, 1000000), year_ns * 5);
	assert_int_equal(scale(-year_ns, 5000000, 1000000), -year_ns * 5);
	assert_int_equal(scale(3, 1, 2), 1);
	assert_int_equal(scale(-3, 1, 2), -1);
	assert_int_equal(scale(0, 1, 1), 0);
}

static void test_elapsed(void **state)
{
	struct host_clock then = { .pair = { .realtime_ns = 1000 } };

	assert_int_equal(host_clock_elapsed_ns(&then, 1500), 500);
	assert_int_equal(host_clock_elapsed_ns(&then, 1000), 0);
	assert_int_equal(host_clock_elapsed_ns(&then, 900), 0);
}

static void test_host_clock(void **state)
{
	struct host_clock first, second;

	host_clock_read(&first);
	host_clock_read(&second);
	assert_true(host_clock_same_boot(&first));
	assert_true(second.pair.counter >= first.pair.counter);
	first.boot_id[0] ^= 1;
	assert_false(host_clock_same_boot(&first));
	first.boot_id[0] = '\0';
	assert_false(host_clock_same_boot(&first));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_methods),	 cmocka_unit_test(test_accounts),
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_policy),
		cmocka_unit_test(test_visible),	 cmocka_unit_test(test_scale),
		cmocka_unit_test(test_elapsed),	 cmocka_unit_test(test_host_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
