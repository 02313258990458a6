// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The QMP client against a socket that plays QEMU: the handshake, answers, events, and a QEMU that
 * talks nonsense or goes away.
 */
#include "host_support.h"

#include <fcntl.h>
#include <sys/socket.h>
#include "qemu/qmp.h"

#define GREETING \
	"{\"QMP\": {\"version\": {\"qemu\": {\"micro\": 22, \"minor\": 2, \"major\": 7}}}}\r\n"

struct fixture {
	struct loop *loop;
	struct qmp *qmp;
	int qemu; /* the other side; -1 when closed */
	struct text heard;
	bool free_in_callback;
};

static void free_if_told(struct fixture *f)
{
	if (!f->free_in_callback)
		return;
	qmp_free(f->qmp);
	f->qmp = NULL;
}

static void on_event(void *ctx, const char *name, const json_t *data)
{
	struct fixture *f = ctx;
	const char *reason = json_string_value(json_object_get(data, "reason"));

	text_printf(&f->heard, "event %s %s;", name, reason ? reason : "-");
	free_if_told(f);
}

static void on_closed(void *ctx, const char *why)
{
	struct fixture *f = ctx;

	text_printf(&f->heard, "closed %s;", why);
	free_if_told(f);
}

static void on_done(void *ctx, const json_t *value, const char *error)
{
	struct fixture *f = ctx;
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : text_copy(error);

	text_printf(&f->heard, "%s %s;", value ? "value" : "error", text);
	free(text);
	free_if_told(f);
}

static const struct qmp_events events = { .event = on_event, .closed = on_closed };

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return -1;
	f->loop = loop_new();
	f->qemu = fds[1];
	f->qmp = qmp_new(f->loop, fds[0], &events, f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	qmp_free(f->qmp);
	loop_free(f->loop);
	if (f->qemu >= 0)
		close(f->qemu);
	text_free(&f->heard);
	free(f);
	return 0;
}

static void say(struct fixture *f, const char *text)
{
	assert_int_equal(send(f->qemu, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void hang_up(struct fixture *f)
{
	close(f->qemu);
	f->qemu = -1;
}

static void quit(void *ctx)
{
	loop_quit(ctx);
}

/* Until all that was said has been heard: the timer comes after the socket in every round. */
static void run(struct fixture *f)
{
	for (int i = 0; i < 3; i++) {
		loop_add_timer(f->loop, 0, quit, f->loop);
		loop_run(f->loop);
	}
}

static void expect_sent(struct fixture *f, const char *expected)
{
	char buffer[4096];
	ssize_t n = recv(f->qemu, buffer, sizeof(buffer) - 1, MSG_DONTWAIT);

	buffer[n > 0 ? n : 0] = '\0';
	assert_string_equal(buffer, expected);
}

static void expect_heard(struct fixture *f, const char *expected)
{
	assert_string_equal(text_string(&f->heard), expected);
}

static void test_handshake(void **state)
{
	struct fixture *f = *state;

	expect_sent(f, "{\"execute\":\"qmp_capabilities\",\"id\":1}\n");
	assert_false(qmp_greeted(f->qmp));
	say(f, GREETING "{\"return\": {}, \"id\": 1}\r\n");
	run(f);
	assert_true(qmp_greeted(f->qmp));
	assert_string_equal(qmp_version(f->qmp), "7.2.22");
	expect_heard(f, "");
}

static void test_answers_and_events(void **state)
{
	struct fixture *f = *state;

	qmp_execute(f->qmp, "query-kvm", NULL, on_done, f);
	qmp_execute(f->qmp, "cont", json_pack("{s:i}", "n", 1), on_done, f);
	expect_sent(f, "{\"execute\":\"qmp_capabilities\",\"id\":1}\n"
		       "{\"execute\":\"query-kvm\",\"id\":2}\n"
		       "{\"execute\":\"cont\",\"id\":3,\"arguments\":{\"n\":1}}\n");
	say(f, GREETING "{\"return\": {}, \"id\": 1}\r\n{\"return\": {\"enab");
	run(f);
	expect_heard(f, "");
	say(f, "led\": true}, \"id\": 2}\r\n"
	       "{\"event\": \"SHUTDOWN\", \"data\": {\"reason\": \"guest-reset\"}}\r\n"
	       "{\"event\": \"STOP\"}\r\n"
	       "{\"error\": {\"class\": \"GenericError\", \"desc\": \"no\"}, \"id\": 3}\r\n");
	run(f);
	expect_heard(f,
		     "value {\"enabled\":true};event SHUTDOWN guest-reset;event STOP -;error no;");
}

static void test_open_commands_are_answered_at_the_end(void **state)
{
	struct fixture *f = *state;

	qmp_execute(f->qmp, "cont", NULL, on_done, f);
	hang_up(f);
	run(f);
	expect_heard(f, "error QEMU closed its monitor before it had greeted;"
			"closed QEMU closed its monitor before it had greeted;");
	qmp_execute(f->qmp, "stop", NULL, on_done, f);
	expect_heard(f, "error QEMU closed its monitor before it had greeted;"
			"closed QEMU closed its monitor before it had greeted;"
			"error QEMU's monitor is closed;");
}

static void test_last_words_come_first(void **state)
{
	struct fixture *f = *state;

	say(f, GREETING "{\"return\": {}, \"id\": 1}\n{\"event\": \"SHUTDOWN\"}\n");
	hang_up(f);
	qmp_drain(f->qmp);
	expect_heard(f, "event SHUTDOWN -;closed QEMU closed its monitor;");
}

static void test_nonsense(void **state)
{
	static const struct {
		const char *said, *heard;
	} cases[] = {
		{ "hello\n", "closed QEMU's monitor sent a line that is no JSON object;" },
		{ "[1]\n", "closed QEMU's monitor sent a line that is no JSON object;" },
		{ "{\"return\": {}, \"id\": 77}\n",
		  "closed QEMU answered a command that was not sent;" },
		{ "{}\n", "closed QEMU answered a command that was not sent;" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		void *fresh;
		struct fixture *f;

		assert_int_equal(setup(&fresh), 0);
		f = fresh;
		say(f, cases[i].said);
		run(f);
		expect_heard(f, cases[i].heard);
		teardown(&fresh);
	}
}

static void test_answer_without_content(void **state)
{
	struct fixture *f = *state;

	qmp_execute(f->qmp, "cont", NULL, on_done, f);
	say(f, "{\"return\": {}, \"id\": 1}\n{\"id\": 2}\n");
	run(f);
	expect_heard(f, "error an answer with neither value nor error;");
}

static void test_endless_line(void **state)
{
	struct fixture *f = *state;
	static char part[4096];

	memset(part, 'x', sizeof(part));
	for (size_t sent = 0; sent <= QMP_LINE_MAX; sent += sizeof(part)) {
		assert_int_equal(send(f->qemu, part, sizeof(part), MSG_NOSIGNAL), sizeof(part));
		run(f);
		if (f->heard.len)
			break;
	}
	expect_heard(f, "closed QEMU's monitor sent a line of more than 1 MiB;");
}

static void test_freed_by_a_callback(void **state)
{
	struct fixture *f = *state;

	f->free_in_callback = true;
	qmp_execute(f->qmp, "cont", NULL, on_done, f);
	say(f, GREETING "{\"return\": {}, \"id\": 1}\n{\"return\": {}, \"id\": 2}\n"
			"{\"event\": \"STOP\"}\n");
	run(f);
	expect_heard(f, "value {};");
	assert_null(f->qmp);
}

static void test_freed_at_the_end(void **state)
{
	struct fixture *f = *state;

	f->free_in_callback = true;
	qmp_execute(f->qmp, "cont", NULL, on_done, f);
	qmp_execute(f->qmp, "stop", NULL, on_done, f);
	hang_up(f);
	run(f);
	expect_heard(f, "error QEMU closed its monitor before it had greeted;");
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_handshake),
		TEST(test_answers_and_events),
		TEST(test_open_commands_are_answered_at_the_end),
		TEST(test_last_words_come_first),
		TEST(test_nonsense),
		TEST(test_answer_without_content),
		TEST(test_endless_line),
		TEST(test_freed_by_a_callback),
		TEST(test_freed_at_the_end),
	};

	return cmocka_run_group_tests_name("QMP", tests, NULL, NULL);
}
