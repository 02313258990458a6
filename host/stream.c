// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records over the console of kernel mode's machine: numbered, with a checksum, one a line.
 */
#include "stream.h"

#include <errno.h>
#include <inttypes.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "util/text.h"

static u32 checksum(const char *data, size_t len)
{
	return lzma_crc32((const uint8_t *)data, len, 0);
}

/* The console is a terminal: what it does not take at once is written again. */
static void write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			data += n;
			len -= n;
		}
	}
}

static void write_record(int fd, u64 number, const char *kind, json_t *content)
{
	json_t *record = json_object();
	struct text line = { 0 };
	char *body;

	json_object_set_new(record, kind, content);
	body = json_dumps(record, JSON_COMPACT | JSON_ENSURE_ASCII);
	/* The leading newline ends whatever line the kernel may have begun. */
	text_printf(&line, "\n%s%" PRIu64 " %08x %s\n", STREAM_PREFIX, number,
		    checksum(body, strlen(body)), body);
	write_all(fd, line.data, line.len);
	text_free(&line);
	free(body);
	json_decref(record);
}

void stream_write(int fd, const char *kind, json_t *content)
{
	static u64 number;

	write_record(fd, ++number, kind, content);
}

void stream_exit(int fd, int wait_status)
{
	json_t *content = json_object();

	if (wait_status == -1)
		json_object_set_new(content, "failed", json_string("could not be started"));
	else if (WIFEXITED(wait_status))
		json_object_set_new(content, "status", json_integer(WEXITSTATUS(wait_status)));
	else
		json_object_set_new(content, "signal", json_integer(WTERMSIG(wait_status)));
	write_record(fd, 0, "exit", content);
}

enum stream_line stream_read(struct stream_reader *r, const char *line, size_t len, json_t **record,
			     const char **kind, struct error *err)
{
	size_t prefix = strlen(STREAM_PREFIX);
	char *text, *body, *end;
	json_error_t json_err;
	u64 number;
	u32 crc;

	if (len < prefix || memcmp(line, STREAM_PREFIX, prefix) != 0)
		return STREAM_OTHER;
	text = text_copy_bytes(line + prefix, len - prefix);
	number = strtoull(text, &end, 10);
	crc = strtoul(end, &body, 16);
	while (*body == ' ')
		body++;
	if (end == text || crc != checksum(body, strlen(body))) {
		free(text);
		error_set(err, "record %" PRIu64 " of the machine's console is damaged", r->next);
		return STREAM_TORN;
	}
	*record = json_loads(body, JSON_REJECT_DUPLICATES, &json_err);
	free(text);
	if (!*record || json_object_size(*record) != 1) {
		json_decref(*record);
		error_set(err, "record %" PRIu64 " is no record: %s", number, json_err.text);
		return STREAM_TORN;
	}
	if (number != 0 && number != r->next) {
		json_decref(*record);
		error_set(err, "record %" PRIu64 " came where %" PRIu64 " was due", number,
			  r->next);
		r->next = number + 1;
		return STREAM_TORN;
	}
	if (number != 0)
		r->next++;
	*kind = json_object_iter_key(json_object_iter(*record));
	return STREAM_RECORD;
}
