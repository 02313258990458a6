// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Boots a kernel as KVM host and reads its console: records go to the caller, the rest is the
 * kernel's log.
 */
#include "kernel_machine.h"

#include <stdlib.h>
#include <string.h>
#include "stream.h"
#include "util/memory.h"
#include "util/text.h"

#define TAIL_LINES 40

/* A kernel that panicked has this long to say why; many then stand still for ever. */
#define PANIC_WORDS_S 2

/* A record holds a test's whole log; a longer line is no record. */
#define LINE_MAX_BYTES (64u << 20)

struct kernel_machine {
	struct kernel_machine_spec spec;
	const struct kernel_machine_events *events;
	void *ctx;
	struct machine *machine;
	struct loop_source *limit;
	struct stream_reader reader;
	struct text line;
	char *tail[TAIL_LINES];
	size_t nr_tail;
	bool begun;    /* a record came */
	bool panicked; /* the kernel said so */
	bool exited;   /* PID 1's last record came */
	bool ended;
	char *trouble; /* what PID 1's record or a torn one said */
};

static void end(struct kernel_machine *k, const char *trouble)
{
	if (k->ended)
		return;
	k->ended = true;
	loop_remove(k->spec.loop, k->limit);
	k->limit = NULL;
	k->events->ended(k->ctx, trouble);
}

static void on_limit(void *ctx)
{
	struct kernel_machine *k = ctx;
	char *text;

	k->limit = NULL;
	if (k->panicked)
		text = text_copy("the kernel panicked");
	else if (k->begun)
		text = text_format("the machine said nothing for %u s", k->spec.silence_s);
	else
		text = text_format("the kernel did not come as far as the runner within %u s",
				   k->spec.boot_timeout_s);
	end(k, text);
	free(text);
}

static void set_limit(struct kernel_machine *k)
{
	u64 seconds = k->begun ? k->spec.silence_s : k->spec.boot_timeout_s;

	if (k->panicked)
		seconds = PANIC_WORDS_S;
	loop_remove(k->spec.loop, k->limit);
	k->limit = loop_add_timer(k->spec.loop, seconds * 1000000000, on_limit, k);
}

static void keep_line(struct kernel_machine *k, const char *line, size_t len)
{
	struct text clean = { 0 };

	fwrite(line, 1, len, k->spec.log);
	fputc('\n', k->spec.log);
	text_append_utf8(&clean, line, len < 400 ? len : 400);
	if (k->nr_tail == TAIL_LINES) {
		free(k->tail[0]);
		memmove(k->tail, k->tail + 1, (TAIL_LINES - 1) * sizeof(*k->tail));
		k->nr_tail--;
	}
	k->tail[k->nr_tail++] = text_take(&clean);
	if (len >= 12 && memmem(line, len, "Kernel panic", 12))
		k->panicked = true;
}

static void take_exit(struct kernel_machine *k, const json_t *content)
{
	const json_t *status = json_object_get(content, "status");
	const json_t *signal = json_object_get(content, "signal");

	k->exited = true;
	if (signal)
		k->trouble = text_format("the runner in the machine was killed by signal %d",
					 (int)json_integer_value(signal));
	else if (!status)
		k->trouble = text_copy("the runner in the machine could not be started");
	else if (json_integer_value(status) == 3)
		k->trouble = text_copy("the runner in the machine could not make its run");
}

static void take_line(struct kernel_machine *k, const char *line, size_t len)
{
	const char *kind;
	struct error err;
	json_t *record;

	if (len > 0 && line[len - 1] == '\r')
		len--;
	switch (stream_read(&k->reader, line, len, &record, &kind, &err)) {
	case STREAM_OTHER:
		if (len > 0)
			keep_line(k, line, len);
		break;
	case STREAM_TORN:
		keep_line(k, line, len < 200 ? len : 200);
		if (!k->trouble)
			k->trouble = text_copy(err.text);
		break;
	case STREAM_RECORD:
		k->begun = true;
		if (strcmp(kind, "exit") == 0)
			take_exit(k, json_object_get(record, kind));
		else
			k->events->record(k->ctx, kind, json_object_get(record, kind));
		json_decref(record);
		break;
	}
}

static void on_console(void *ctx, const char *data, size_t len)
{
	struct kernel_machine *k = ctx;

	while (len > 0 && !k->ended) {
		const char *newline = memchr(data, '\n', len);
		size_t part = newline ? (size_t)(newline - data) : len;

		if (k->line.len + part <= LINE_MAX_BYTES)
			text_append_bytes(&k->line, data, part);
		if (!newline)
			return;
		take_line(k, text_string(&k->line), k->line.len);
		text_clear(&k->line);
		data += part + 1;
		len -= part + 1;
		set_limit(k);
	}
	if (k->exited)
		end(k, k->trouble);
}

static void on_exited(void *ctx, const struct machine_exit *exit)
{
	struct kernel_machine *k = ctx;
	char *text;

	if (k->line.len > 0)
		take_line(k, text_string(&k->line), k->line.len);
	if (k->exited) {
		end(k, k->trouble);
		return;
	}
	if (k->panicked)
		text = text_copy("the kernel panicked");
	else if (exit->kind == MACHINE_VMM_DIED)
		text = text_copy(exit->text);
	else
		text = text_format("the machine %s before the runner had ended",
				   exit->kind == MACHINE_RESET ? "was reset" : "powered off");
	end(k, text);
	free(text);
}

static void on_started(void *ctx, const struct action_times *times)
{
}

static const struct machine_events machine_events = {
	.started = on_started,
	.console = on_console,
	.exited = on_exited,
};

struct kernel_machine *kernel_machine_start(const struct kernel_machine_spec *spec,
					    const struct kernel_machine_events *events, void *ctx,
					    struct error *err)
{
	struct kernel_machine *k = memory_zalloc(sizeof(*k));

	k->spec = *spec;
	k->events = events;
	k->ctx = ctx;
	k->reader.next = 1;
	k->machine = spec->backend->start(&spec->machine, spec->loop, &machine_events, k, err);
	if (!k->machine) {
		kernel_machine_free(k);
		return NULL;
	}
	set_limit(k);
	return k;
}

char *kernel_machine_tail(const struct kernel_machine *k)
{
	struct text tail = { 0 };

	for (size_t i = 0; i < k->nr_tail; i++)
		text_printf(&tail, "%s\n", k->tail[i]);
	if (k->line.len > 0)
		text_append_utf8(&tail, text_string(&k->line),
				 k->line.len < 400 ? k->line.len : 400);
	return text_take(&tail);
}

const char *kernel_machine_command(const struct kernel_machine *k)
{
	return k->spec.backend->command(k->machine);
}

void kernel_machine_free(struct kernel_machine *k)
{
	if (!k)
		return;
	loop_remove(k->spec.loop, k->limit);
	if (k->machine)
		k->spec.backend->kill(k->machine);
	for (size_t i = 0; i < k->nr_tail; i++)
		free(k->tail[i]);
	text_free(&k->line);
	free(k->trouble);
	free(k);
}
