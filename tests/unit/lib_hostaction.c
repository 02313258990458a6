// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hostaction.c against a runner that does what it is asked for, cannot, or answers nonsense.
 */
#include "support.h"
#include "hostaction.h"

static const char *answer;
static char sent[2048];

/* Whole lines only: the call's text and its end are two writes. */
static void runner(const char *buf, size_t len)
{
	static char line[2048];
	static size_t line_len;
	char reply[1024];

	memcpy(line + line_len, buf, len);
	line_len += len;
	if (line[line_len - 1] != '\n')
		return;
	line[line_len] = '\0';
	line_len = 0;
	strcpy(sent, line);
	if (strncmp(line, "@ktt call id=", 13) || !answer)
		return;
	snprintf(reply, sizeof(reply), "@ktt reply id=%llu %s\n", strtoull(line + 13, NULL, 10),
		 answer);
	console_feed_text(reply);
}

static int setup(void **state)
{
	console_capture();
	console_on_write = runner;
	answer = NULL;
	clock_is_real = false;
	clock_step_ticks = 1000000;
	unit_relax = NULL;
	args_init("");
	return 0;
}

#define TIMES                                                 \
	"stop-before-raw-ns=1000 stop-after-raw-ns=1100 "     \
	"run-before-raw-ns=5000 run-after-raw-ns=5300 "       \
	"stop-before-realtime-ns=1 stop-after-realtime-ns=2 " \
	"run-before-realtime-ns=3 run-after-realtime-ns=4"

static void test_done(void **state)
{
	struct host_action a;

	answer = "status=ok generation=3 " TIMES;
	host_action("pause", "ms=4", &a);
	assert_non_null(strstr(sent, " action=pause when=now ms=4\n"));
	assert_int_equal(a.result, HOST_CALL_OK);
	assert_int_equal(a.generation, 3);
	assert_int_equal(host_action_least_ns(&a), 3900);
	assert_int_equal(host_action_most_ns(&a), 4300);
}

static void test_later(void **state)
{
	struct host_action a;

	host_action_begin("reset", 60, "");
	assert_non_null(strstr(sent, " action=reset when=after-ms=60\n"));
	assert_false(host_action_poll(&a));
	console_feed_text("@ktt reply id=0 status=ok\n");
	assert_false(host_action_poll(&a));
	host_action_end(&a);
	assert_int_equal(a.result, HOST_CALL_NO_ANSWER);
}

static void test_not_done(void **state)
{
	struct host_action a;

	answer = "status=unsupported text=no such action";
	host_action("plug", "", &a);
	assert_int_equal(a.result, HOST_CALL_UNSUPPORTED);
	assert_string_equal(a.why, "no such action");
	answer = "status=error text=disk full";
	host_action("snapshot", "", &a);
	assert_int_equal(a.result, HOST_CALL_ERROR);
	assert_string_equal(a.why, "disk full");
}

static void test_replies_that_are_none(void **state)
{
	static const char *const answers[] = {
		"status=ok " TIMES, /* no generation */
		"status=ok generation=1",
		"status=ok generation=1 stop-before-raw-ns=9 stop-after-raw-ns=8 "
		"run-before-raw-ns=10 run-after-raw-ns=11",
		"status=ok generation=1 stop-before-raw-ns=20 stop-after-raw-ns=21 "
		"run-before-raw-ns=10 run-after-raw-ns=11",
	};
	struct host_action a;

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		answer = answers[i];
		host_action("pause", "", &a);
		assert_int_equal(a.result, HOST_CALL_ERROR);
		assert_non_null(strstr(a.why, "generation=1") ?: strstr(a.why, "stop-"));
	}
}

static void test_kinds(void **state)
{
	const struct host_action_kind *kinds[16];
	size_t all = host_action_kinds(kinds, 16);

	assert_string_equal(kinds[0]->name, "restore");
	for (size_t i = 0; i < all; i++) {
		host_action_begin_kind(kinds[i], 0);
		assert_null(strchr(sent, '%'));
		answer = NULL;
		host_action_end(&(struct host_action){ 0 });
	}
	args_init("actions=pause,move hold-ms=70");
	assert_int_equal(host_action_kinds(kinds, 16), 2);
	assert_string_equal(kinds[0]->name, "pause");
	host_action_begin_kind(kinds[1], 5);
	assert_non_null(strstr(sent, " action=move when=after-ms=5 ms=10 for-ms=70\n"));
	host_action_end(&(struct host_action){ 0 });
}

static void kinds_of(void *args)
{
	const struct host_action_kind *kinds[16];

	args_init(args);
	host_action_kinds(kinds, 16);
}

static void test_kinds_that_are_none(void **state)
{
	expect_panic(kinds_of, "actions=pause,freeze", "argument actions: 'freeze'");
	expect_panic(kinds_of, "actions=pauses", "argument actions: 'pauses'");
}

/* The policy is asked for once, so that this is one test. */
static void test_policy(void **state)
{
	answer = "status=ok counter-pause=frozen counter-restore=caught-up timer-pause=running "
		 "kvmclock-pause=dunno";
	assert_int_equal(host_policy("counter", "pause"), HOST_POLICY_FROZEN);
	assert_int_equal(host_policy("counter", "restore"), HOST_POLICY_CAUGHT_UP);
	assert_int_equal(host_policy("timer", "pause"), HOST_POLICY_RUNNING);
	assert_int_equal(host_policy("timer", "restore"), HOST_POLICY_UNKNOWN);
	assert_int_equal(host_policy("kvmclock", "pause"), HOST_POLICY_UNKNOWN);
	assert_string_equal(host_policy_name(HOST_POLICY_CAUGHT_UP), "caught-up");
	assert_true(host_policy_runs(HOST_POLICY_CAUGHT_UP));
	assert_false(host_policy_runs(HOST_POLICY_UNKNOWN));
	assert_int_equal(host_policy("counter", NULL), HOST_POLICY_RUNNING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_done, setup),
		cmocka_unit_test_setup(test_later, setup),
		cmocka_unit_test_setup(test_not_done, setup),
		cmocka_unit_test_setup(test_replies_that_are_none, setup),
		cmocka_unit_test_setup(test_kinds, setup),
		cmocka_unit_test_setup(test_kinds_that_are_none, setup),
		cmocka_unit_test_setup(test_policy, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
