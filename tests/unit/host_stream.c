// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records over a console that others write to as well: whole, torn, lost, doubled, and not ours.
 */
#include "host_support.h"

#include <fcntl.h>
#include "stream.h"

/* What stream_write() and stream_exit() put on the console. */
static char *written(void (*write_records)(int fd))
{
	int fd = open("console", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	write_records(fd);
	close(fd);
	return read_string("console");
}

/* What each line of a console is, as one letter a line: "." other, "R" record, "T" torn. */
static void read_console(char *console, char *kinds, json_t **last)
{
	struct stream_reader reader = { .next = 1 };
	char *line, *rest = console;
	struct error err;

	*last = NULL;
	while ((line = strsep(&rest, "\n")) && rest) {
		const char *kind;
		json_t *record;

		switch (stream_read(&reader, line, strlen(line), &record, &kind, &err)) {
		case STREAM_OTHER:
			*kinds++ = '.';
			break;
		case STREAM_RECORD:
			*kinds++ = 'R';
			json_decref(*last);
			*last = record;
			break;
		case STREAM_TORN:
			*kinds++ = 'T';
			assert_true(strlen(err.text) > 0);
			break;
		}
	}
	*kinds = '\0';
}

static void expect_kinds(const char *console, const char *expected)
{
	char *copy = text_copy(console);
	char kinds[64];
	json_t *last;

	read_console(copy, kinds, &last);
	assert_string_equal(kinds, expected);
	json_decref(last);
	free(copy);
}

/* stream_write() counts for the life of the process, so all records are made here, once. */
static char *three_records;

static void write_three(int fd)
{
	stream_write(fd, "begin", json_pack("{s:s}", "text", "a\nb \xc3\xa4 # @ktr"));
	stream_write(fd, "started", json_pack("{s:i}", "test", 3));
	stream_write(fd, "end", json_object());
}

static int setup(void **state)
{
	if (scratch_enter(state))
		return -1;
	three_records = written(write_three);
	return 0;
}

static int teardown(void **state)
{
	free(three_records);
	return scratch_leave(state);
}

static void test_round_trip(void **state)
{
	char *copy = text_copy(three_records);
	struct stream_reader reader = { .next = 1 };
	struct error err;
	json_t *record;
	const char *kind;
	char *line = copy + 1; /* behind the newline that ends the kernel's line */

	expect_kinds(three_records, ".R.R.R");
	*strchr(line, '\n') = '\0';
	assert_int_equal(stream_read(&reader, line, strlen(line), &record, &kind, &err),
			 STREAM_RECORD);
	assert_string_equal(kind, "begin");
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(record, kind), "text")),
		"a\nb \xc3\xa4 # @ktr");
	json_decref(record);
	free(copy);
}

static void test_lines_of_others(void **state)
{
	expect_kinds("[    1.2] kernel\n@ktr\n@ktt ok\n @ktr 1 0 {}\n", "....");
}

/* The nth line of the three records, without its newline; the caller frees. */
static char *record_line(unsigned int n)
{
	const char *at = three_records;

	for (unsigned int i = 0; i < 2 * n + 1; i++)
		at = strchr(at, '\n') + 1;
	return text_copy_bytes(at, strcspn(at, "\n"));
}

static void test_torn_anywhere(void **state)
{
	char *line = record_line(0);
	size_t len = strlen(line);

	for (size_t cut = strlen(STREAM_PREFIX); cut < len; cut++) {
		char *console = text_format("%.*s\n", (int)cut, line);

		expect_kinds(console, "T");
		free(console);
	}
	for (size_t at = strlen(STREAM_PREFIX) + 2; at < len; at++) {
		char *console = text_format("%s\n", line);

		console[at] ^= 1;
		expect_kinds(console, "T");
		free(console);
	}
	free(line);
}

static void test_interrupted_by_kernel(void **state)
{
	char *line = record_line(0);
	char *console = text_format("%.10s[   2.0] oops\n%s\n", line, line);

	expect_kinds(console, "TR");
	free(console);
	free(line);
}

static void test_lost_and_doubled(void **state)
{
	char *first = record_line(0), *second = record_line(1), *third = record_line(2);
	char *lost = text_format("%s\n%s\n", first, third);
	char *doubled = text_format("%s\n%s\n%s\n", first, second, second);

	expect_kinds(lost, "RT");
	expect_kinds(doubled, "RRT");
	free(first);
	free(second);
	free(third);
	free(lost);
	free(doubled);
}

static void write_ends(int fd)
{
	stream_exit(fd, -1);
	stream_exit(fd, 3 << 8); /* exit(3) */
	stream_exit(fd, 9);	 /* SIGKILL */
}

/* PID 1's records have no number: they may come at any time. */
static void test_exit(void **state)
{
	static const char *const members[] = { "failed", "status", "signal" };
	char *console = written(write_ends);
	struct stream_reader reader = { .next = 7 };
	char *line, *rest = console;
	unsigned int n = 0;
	struct error err;

	while ((line = strsep(&rest, "\n"))) {
		const char *kind;
		json_t *record;

		if (stream_read(&reader, line, strlen(line), &record, &kind, &err) == STREAM_OTHER)
			continue;
		assert_string_equal(kind, "exit");
		assert_non_null(json_object_get(json_object_get(record, kind), members[n++]));
		json_decref(record);
	}
	assert_int_equal(n, 3);
	assert_int_equal(reader.next, 7);
	free(console);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_lines_of_others),
		cmocka_unit_test(test_torn_anywhere),
		cmocka_unit_test(test_interrupted_by_kernel),
		cmocka_unit_test(test_lost_and_doubled),
		cmocka_unit_test(test_exit),
	};

	return cmocka_run_group_tests(all, setup, teardown);
}
