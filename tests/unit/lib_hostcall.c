// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hostcall.c against a runner that answers well, badly, late, twice, or not at all.
 */
#include "support.h"

#define TIMEOUT_NS (50 * NSEC_PER_MSEC)

/* The runner: what it answers to the call it has just got; "%ID" stands for the call's id. */
static const char *answer;
static u64 last_call_id;
static char sent[2048];
static size_t sent_len;

static void feed_answer(void)
{
	char text[4096];
	const char *from = answer;
	size_t len = 0;

	while (*from) {
		if (strncmp(from, "%ID", 3)) {
			text[len++] = *from++;
			continue;
		}
		len += sprintf(text + len, "%llu", (unsigned long long)last_call_id);
		from += 3;
	}
	console_feed(text, len);
}

static void runner(const char *buf, size_t len)
{
	const char *id;

	assert_true(sent_len + len < sizeof(sent));
	memcpy(sent + sent_len, buf, len);
	sent_len += len;
	if (sent[sent_len - 1] != '\n')
		return;
	sent[sent_len] = '\0';
	sent_len = 0;
	if (strncmp(sent, "@ktt call id=", 13))
		return;
	id = sent + 13;
	last_call_id = strtoull(id, NULL, 10);
	if (answer)
		feed_answer();
}

static int setup(void **state)
{
	console_capture();
	console_on_write = runner;
	sent_len = 0;
	answer = NULL;
	clock_is_real = false;
	clock_step_ticks = 1000;
	unit_relax = NULL;
	return 0;
}

static int call_with(const char *text, char *reply, size_t size)
{
	answer = text;
	memset(reply, 'x', size);
	return host_call("echo", "text=hello", reply, size, TIMEOUT_NS);
}

static void expect_ok(const char *text, const char *fields)
{
	char reply[256];

	assert_int_equal(call_with(text, reply, sizeof(reply)), HOST_CALL_OK);
	assert_string_equal(reply, fields);
}

static void test_the_line_that_is_sent(void **state)
{
	char reply[64], wanted[128];

	call_with("@ktt reply id=%ID status=ok\n", reply, sizeof(reply));
	sprintf(wanted, "@ktt call id=%llu action=echo when=now text=hello\n",
		(unsigned long long)last_call_id);
	assert_string_equal(sent, wanted);
	assert_string_equal(reply, "");
	answer = "@ktt reply id=%ID status=ok\n";
	assert_int_equal(host_call("stamp", "", reply, sizeof(reply), TIMEOUT_NS), 0);
	sprintf(wanted, "@ktt call id=%llu action=stamp when=now\n",
		(unsigned long long)last_call_id);
	assert_string_equal(sent, wanted);
	assert_true(unit_irqs_on);
}

static void test_replies(void **state)
{
	expect_ok("@ktt reply id=%ID status=ok text=hello\n", "text=hello");
	expect_ok("@ktt reply id=%ID status=ok text=hello\r\n", "text=hello");
	expect_ok("@ktt reply id=%ID status=ok a=1 b=2\n", "a=1 b=2");
	expect_ok("@ktt reply id=%ID status=ok text=status=error\n", "text=status=error");
}

static void test_a_long_reply_is_cut(void **state)
{
	char reply[8];

	assert_int_equal(
		call_with("@ktt reply id=%ID status=ok text=hello\n", reply, sizeof(reply)),
		HOST_CALL_OK);
	assert_string_equal(reply, "text=he");
}

static void test_noise_before_the_reply(void **state)
{
	expect_ok("\n\r\n\nlogin: \n@ktt reply id=%ID status=ok a=1\n", "a=1");
	expect_ok("@ktt call id=%ID action=echo\n@ktt reply id=%ID status=ok a=2\n", "a=2");
	expect_ok("@ktt replyx id=%ID status=ok a=9\n@ktt reply id=%ID status=ok a=3\n", "a=3");
	expect_ok("xx@ktt reply id=%ID status=ok a=9\n@ktt reply id=%ID status=ok a=4\n", "a=4");
	expect_ok("\x80\xff\x1b[0m\n@ktt reply id=%ID status=ok a=5\n", "a=5");
}

static void test_replies_to_other_calls(void **state)
{
	expect_ok("@ktt reply id=999999 status=ok a=9\n@ktt reply id=%ID status=ok a=1\n", "a=1");
	expect_ok("@ktt reply id=%ID0 status=ok a=9\n@ktt reply id=%ID status=ok a=2\n", "a=2");
	expect_ok("@ktt reply id= status=ok a=9\n@ktt reply id=%ID status=ok a=3\n", "a=3");
	expect_ok("@ktt reply id=-1 status=ok a=9\n@ktt reply id=%ID status=ok a=4\n", "a=4");
	expect_ok("@ktt reply status=ok a=9\n@ktt reply id=%ID status=ok a=5\n", "a=5");
	/* A second reply to the same call is a late one to the next. */
	expect_ok("@ktt reply id=%ID status=ok a=6\n@ktt reply id=%ID status=ok a=9\n", "a=6");
	expect_ok("@ktt reply id=%ID status=ok a=7\n", "a=7");
}

/* Feeds bytes that are no text, then the reply. */
static const char *noise;
static size_t noise_len;

static void feed_noise_and_reply(void)
{
	const char *text = "\n@ktt reply id=%ID status=ok a=1\n";

	if (!noise)
		return;
	console_feed(noise, noise_len);
	noise = NULL;
	answer = text;
	feed_answer();
	answer = NULL;
}

static void test_lines_that_are_no_text(void **state)
{
	static char long_line[100000], with_nul[64];
	char reply[64];

	console_on_empty = feed_noise_and_reply;
	/* But for its NUL it is the reply. */
	noise_len = sprintf(with_nul, "@ktt reply id=%llu status=ok a=9",
			    (unsigned long long)last_call_id + 1);
	noise = with_nul;
	noise_len += 3;
	assert_int_equal(call_with(NULL, reply, sizeof(reply)), HOST_CALL_OK);
	assert_string_equal(reply, "a=1");
	memset(long_line, 'a', sizeof(long_line));
	noise = long_line;
	noise_len = sizeof(long_line);
	assert_int_equal(host_call("echo", "", reply, sizeof(reply), NSEC_PER_SEC), HOST_CALL_OK);
	assert_string_equal(reply, "a=1");
}

static void test_refusals(void **state)
{
	char reply[128];

	assert_int_equal(call_with("@ktt reply id=%ID status=unsupported text=no such action\n",
				   reply, sizeof(reply)),
			 HOST_CALL_UNSUPPORTED);
	assert_string_equal(reply, "text=no such action");
	assert_int_equal(
		call_with("@ktt reply id=%ID status=error text=disk full\n", reply, sizeof(reply)),
		HOST_CALL_ERROR);
	assert_string_equal(reply, "text=disk full");
	assert_int_equal(call_with("@ktt reply id=%ID status=fine\n", reply, sizeof(reply)),
			 HOST_CALL_ERROR);
}

static void test_replies_without_a_status(void **state)
{
	static const char *const bad[] = {
		"@ktt reply id=%ID\n",
		"@ktt reply id=%ID status=\n",
		"@ktt reply id=%ID a=1 text=status=ok\n",
	};
	char reply[128];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(call_with(bad[i], reply, sizeof(reply)), HOST_CALL_ERROR);
		assert_non_null(strstr(reply, "text=the reply has no status: id="));
	}
}

static void test_no_answer(void **state)
{
	char reply[128];
	u64 before_ticks = clock_now_ticks;

	assert_int_equal(call_with(NULL, reply, sizeof(reply)), HOST_CALL_NO_ANSWER);
	assert_string_equal(reply, "text=no answer within 50 ms");
	assert_true(clock_now_ticks - before_ticks < 2 * TIMEOUT_NS);
	/* Half a reply is none. */
	assert_int_equal(call_with("@ktt reply id=%ID status=ok", reply, sizeof(reply)),
			 HOST_CALL_NO_ANSWER);
}

/* The argument alone: nobody is asked, and nobody waits. */
static void test_alone(void **state)
{
	u64 before_ticks = clock_now_ticks;
	char reply[128];

	sent[0] = '\0';
	args_init("alone");
	assert_int_equal(call_with("@ktt reply id=%ID status=ok\n", reply, sizeof(reply)),
			 HOST_CALL_UNSUPPORTED);
	assert_null(strstr(sent, "@ktt call"));
	assert_true(clock_now_ticks - before_ticks < TIMEOUT_NS);
	args_init("");
}

static void feed_for_ever(void)
{
	console_feed_text(random_below(2) ? "noise " : "noise\n");
}

static void feed_one_line_for_ever(void)
{
	console_feed_text("a");
}

static void feed_nul_for_ever(void)
{
	console_feed("\0", 1);
}

static void test_noise_without_end(void **state)
{
	void (*const feeders[])(void) = { feed_for_ever, feed_one_line_for_ever,
					  feed_nul_for_ever };
	char reply[128];

	random_start(unit_seed());
	for (size_t i = 0; i < ARRAY_SIZE(feeders); i++) {
		console_on_empty = feeders[i];
		assert_int_equal(call_with(NULL, reply, sizeof(reply)), HOST_CALL_NO_ANSWER);
	}
}

static void test_a_clock_that_stands_still(void **state)
{
	char reply[128];

	clock_step_ticks = 0;
	assert_int_equal(call_with(NULL, reply, sizeof(reply)), HOST_CALL_NO_ANSWER);
	assert_string_equal(reply,
			    "text=no answer within 50 ms, and the guest's clock stood still");
}

static void call_with_fields(void *fields)
{
	char reply[16];

	host_call("echo", fields, reply, sizeof(reply), TIMEOUT_NS);
}

static void test_calls_that_are_no_line(void **state)
{
	static char fields[2000];

	memset(fields, 'a', sizeof(fields) - 1);
	expect_panic(call_with_fields, fields, "host_call(echo): the call is longer than a line");
	expect_panic(call_with_fields, "text=a\nb", "host_call(echo): the call is longer than a");
}

static void test_fields(void **state)
{
	const char *reply = "raw-ns=12 ns=0x10  empty= bare text=a=1 raw-ns=99 b=2";
	char value[16];
	u64 number = 0;

	assert_true(host_field_u64(reply, "raw-ns", &number) && number == 12);
	assert_true(host_field_u64(reply, "ns", &number) && number == 16);
	assert_true(host_field(reply, "empty", value, sizeof(value)));
	assert_string_equal(value, "");
	assert_false(host_field_u64(reply, "empty", &number));
	assert_true(host_field(reply, "text", value, sizeof(value)));
	assert_string_equal(value, "a=1 raw-ns=99 b");
	assert_false(host_field(reply, "bare", value, sizeof(value)));
	assert_false(host_field(reply, "a", value, sizeof(value)));
	assert_false(host_field(reply, "b", value, sizeof(value)));
	assert_false(host_field("", "a", value, sizeof(value)));
	assert_false(host_field_u64("n=99999999999999999999999", "n", &number));
	assert_false(host_field_u64("n=1x", "n", &number));
}

/* ---- stamps ---- */

static u64 line_end_ticks;

/* The console is slow: every write takes its time, the reply's bytes come in one by one. */
static void slow_runner(const char *buf, size_t len)
{
	runner(buf, len);
	clock_now_ticks += len * 200000;
	if (buf[len - 1] == '\n' && !strncmp(sent, "@ktt call", 9) && !line_end_ticks)
		line_end_ticks = clock_now_ticks - 200000;
}

static struct host_stamp stamp;
static bool stamped;

static void take_stamp(void)
{
	stamped = host_stamp(&stamp);
	if (stamped)
		report_pass();
}

static const char *run_stamp(const char *text)
{
	const struct check checks[] = { { "stamp", .run = take_stamp } };

	args_init("");
	answer = text;
	report_run("unit", checks, 1);
	return console_captured();
}

static void test_stamp(void **state)
{
	assert_non_null(strstr(run_stamp("@ktt reply id=%ID status=ok raw-ns=123456789012345 "
					 "realtime-ns=1700000000000000000\n"),
			       "ok 1 stamp\n"));
	assert_true(stamped);
	assert_int_equal(stamp.raw_ns, 123456789012345);
	assert_int_equal(stamp.realtime_ns, 1700000000000000000);
	assert_true(stamp.before_ticks < stamp.after_ticks);
}

/* The bracket is no wider than the last byte of the call and the first of the reply. */
static void test_stamp_bracket_is_narrow(void **state)
{
	console_on_write = slow_runner;
	line_end_ticks = 0;
	run_stamp("@ktt reply id=%ID status=ok raw-ns=1 realtime-ns=2\n");
	assert_true(stamped);
	assert_true(stamp.before_ticks <= line_end_ticks);
	assert_true(line_end_ticks - stamp.before_ticks < 10000);
	assert_true(stamp.after_ticks > line_end_ticks);
	assert_true(stamp.after_ticks - line_end_ticks < 220000);
}

static void test_stamps_that_are_none(void **state)
{
	assert_non_null(
		strstr(run_stamp("@ktt reply id=%ID status=unsupported text=virtual time\n"),
		       "ok 1 stamp # SKIP host stamp: the runner cannot: virtual time\n"));
	assert_false(stamped);
	console_capture();
	console_on_write = runner;
	assert_non_null(strstr(run_stamp("@ktt reply id=%ID status=error text=broken\n"),
			       "not ok 1 stamp # ERROR host stamp: broken\n"));
	console_capture();
	console_on_write = runner;
	assert_non_null(strstr(run_stamp("@ktt reply id=%ID status=ok raw-ns=1\n"),
			       "not ok 1 stamp # ERROR host stamp: no raw-ns and realtime-ns in"));
	console_capture();
	console_on_write = runner;
	assert_non_null(strstr(run_stamp(NULL),
			       "not ok 1 stamp # ERROR host stamp: no answer within 10000 ms\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_line_that_is_sent, setup),
		cmocka_unit_test_setup(test_replies, setup),
		cmocka_unit_test_setup(test_a_long_reply_is_cut, setup),
		cmocka_unit_test_setup(test_noise_before_the_reply, setup),
		cmocka_unit_test_setup(test_replies_to_other_calls, setup),
		cmocka_unit_test_setup(test_lines_that_are_no_text, setup),
		cmocka_unit_test_setup(test_refusals, setup),
		cmocka_unit_test_setup(test_replies_without_a_status, setup),
		cmocka_unit_test_setup(test_no_answer, setup),
		cmocka_unit_test_setup(test_alone, setup),
		cmocka_unit_test_setup(test_noise_without_end, setup),
		cmocka_unit_test_setup(test_a_clock_that_stands_still, setup),
		cmocka_unit_test_setup(test_calls_that_are_no_line, setup),
		cmocka_unit_test_setup(test_fields, setup),
		cmocka_unit_test_setup(test_stamp, setup),
		cmocka_unit_test_setup(test_stamp_bracket_is_narrow, setup),
		cmocka_unit_test_setup(test_stamps_that_are_none, setup),
	};

	return cmocka_run_group_tests_name("hostcall", tests, NULL, NULL);
}
