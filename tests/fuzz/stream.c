// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The console of kernel mode's machine, where the kernel and whoever got its root write as well.
 */
#include "fuzz.h"

#include "result_record.h"
#include "stream.h"

static const struct test test = { .name = "fuzzed", .key = "x86_64/fuzzed", .image = "fuzzed" };

/* What a "test" record has is believed no more than the rest. */
static void read_result(const json_t *content)
{
	struct error err = { 0 };
	struct test_result r;

	if (test_result_from_record(&r, &test, content, &err))
		FUZZ_EXPECT(err.text[0]);
	test_result_free(&r);
}

static void read_line(struct stream_reader *reader, const char *line, size_t len)
{
	struct error err = { 0 };
	const char *kind = NULL;
	json_t *record = NULL;

	switch (stream_read(reader, line, len, &record, &kind, &err)) {
	case STREAM_OTHER:
		break;
	case STREAM_RECORD:
		FUZZ_EXPECT(kind && json_object_get(record, kind));
		read_result(json_object_get(record, kind));
		json_decref(record);
		break;
	case STREAM_TORN:
		FUZZ_EXPECT(err.text[0]);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stream_reader reader = { .next = 1 };
	const char *at = (const char *)data, *end = at + size;

	while (at < end) {
		const char *newline = memchr(at, '\n', end - at);
		size_t len = (newline ? newline : end) - at;
		char *line = malloc(len + 1); /* a string, as the reader of lines hands it on */

		memcpy(line, at, len);
		line[len] = '\0';
		read_line(&reader, line, len);
		free(line);
		at += len + 1;
	}
	return 0;
}
