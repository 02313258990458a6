// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A console whose output a test reads and whose input it writes.
 */
#include "support.h"

static char output[262144];
static size_t output_len;
static unsigned writes;
static char input[262144];
static size_t input_len, input_at;

void (*console_on_write)(const char *buf, size_t len);
void (*console_on_empty)(void);

static void keep(const char *buf, size_t len)
{
	size_t n = MIN(len, sizeof(output) - 1 - output_len);

	writes++;
	memcpy(output + output_len, buf, n);
	output_len += n;
	output[output_len] = '\0';
	if (console_on_write)
		console_on_write(buf, len);
}

static int next(void)
{
	if (input_at == input_len && console_on_empty)
		console_on_empty();
	return input_at < input_len ? (unsigned char)input[input_at++] : -1;
}

void console_capture(void)
{
	static const struct console_ops ops = { "capture", keep, next };

	output_len = 0;
	output[0] = '\0';
	writes = 0;
	input_len = input_at = 0;
	console_on_write = NULL;
	console_on_empty = NULL;
	console_set(&ops);
}

const char *console_captured(void)
{
	return output;
}

unsigned console_writes(void)
{
	return writes;
}

void console_feed(const char *bytes, size_t len)
{
	if (input_at == input_len)
		input_at = input_len = 0;
	assert_true(len <= sizeof(input) - input_len);
	memcpy(input + input_len, bytes, len);
	input_len += len;
}

void console_feed_text(const char *text)
{
	console_feed(text, strlen(text));
}
