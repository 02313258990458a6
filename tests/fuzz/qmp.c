// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A QEMU that says anything at all on its monitor: every command gets exactly one answer.
 */
#include "fuzz.h"

#include <sys/socket.h>
#include "qemu/qmp.h"

#define COMMANDS 3
/* What a socket takes at once. */
#define SIZE_MAX_SENT 65536

static unsigned int answers;

static void on_event(void *ctx, const char *name, const json_t *data)
{
	FUZZ_EXPECT(name);
}

static void on_closed(void *ctx, const char *why)
{
	FUZZ_EXPECT(why);
}

static void on_done(void *ctx, const json_t *value, const char *error)
{
	FUZZ_EXPECT(!value != !error);
	answers++;
}

static const struct qmp_events events = { .event = on_event, .closed = on_closed };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct loop *loop;
	struct qmp *qmp;
	int fds[2];

	if (size > SIZE_MAX_SENT)
		return 0;
	FUZZ_EXPECT(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds));
	loop = loop_new();
	qmp = qmp_new(loop, fds[0], &events, NULL);
	answers = 0;
	for (int i = 0; i < COMMANDS; i++)
		qmp_execute(qmp, "query-status", NULL, on_done, NULL);
	FUZZ_EXPECT(send(fds[1], data, size, MSG_NOSIGNAL) == (ssize_t)size);
	close(fds[1]);
	qmp_drain(qmp);
	FUZZ_EXPECT(answers == COMMANDS);
	qmp_free(qmp);
	loop_free(loop);
	return 0;
}
