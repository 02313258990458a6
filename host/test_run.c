// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The course of one test. Whatever happens ends in finish(), once.
 */
#include "test_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "guest.h"
#include "guest_output.h"
#include "host_call.h"
#include "image.h"
#include "symbolise.h"
#include "util/memory.h"
#include "util/printable.h"
#include "util/text.h"

/* What of a log is shown with an ERROR or a TIMEOUT. */
#define TAIL_LINES 20
#define TAIL_BYTES 4096
/* After a panic line: how long its backtrace may take. */
#define PANIC_TIMEOUT_NS 1000000000ULL

struct test_run {
	struct test_run_spec spec;
	void (*done)(void *ctx);
	void *ctx;
	struct guest *guest;
	char *image, *args; /* the guest's */
	struct guest_output *output;
	struct host_calls *calls;
	struct loop_source *limit; /* also the timer that reports a failed start */
	struct loop_source *panic_limit;
	u64 start_ns;
	u64 end_ns; /* 0: not yet */
	unsigned int limit_s;
	size_t logged;
	struct text tail; /* the log's last bytes */
	bool started;	  /* the vCPUs ran */
	bool should_end;  /* found out inside of guest_output_feed() */
	bool finished;
};

/* ---- the end --------------------------------------------------------------------------------- */

static void set_verdict(struct test_run *r, enum verdict verdict, char *reason)
{
	struct test_result *result = r->spec.result;

	result->verdict = verdict;
	result->raw = verdict;
	free(result->reason);
	result->reason = printable(reason);
	free(reason);
}

/* The last lines of the log, safe to show. */
static char *log_tail(const struct text *tail)
{
	const char *data = text_string(tail);
	size_t start = tail->len, lines = 0;
	struct text safe = { 0 };

	while (start > 0 && tail->len - start < TAIL_BYTES) {
		if (data[start - 1] == '\n' && start < tail->len && ++lines == TAIL_LINES)
			break;
		start--;
	}
	text_append_printable(&safe, data + start, tail->len - start, true);
	return text_take(&safe);
}

static void take_stderr(struct test_run *r)
{
	const char *text = guest_stderr_text(r->guest);
	struct text safe = { 0 };

	if (!*text)
		return;
	text_append_printable(&safe, text, strlen(text), true);
	r->spec.result->vmm_stderr = text_take(&safe);
}

static void name_backtrace(struct test_run *r)
{
	const struct test *test = r->spec.result->test;
	const u64 *pcs;
	size_t count;
	char *elf;

	pcs = guest_output_backtrace(r->output, &count);
	if (!count)
		return;
	elf = image_symbols_path(r->spec.images, test->arch, test->image);
	r->spec.result->backtrace = symbolise(test->arch, elf, pcs, count);
	free(elf);
}

static void remove_limits(struct test_run *r)
{
	loop_remove(r->spec.loop, r->limit);
	loop_remove(r->spec.loop, r->panic_limit);
	r->limit = NULL;
	r->panic_limit = NULL;
}

/* why: what became of the guest, or NULL; see guest_output_finish(). */
static void finish(struct test_run *r, const char *why)
{
	struct test_result *result = r->spec.result;

	if (r->finished)
		return;
	r->finished = true;
	remove_limits(r);
	take_stderr(r);
	result->duration_ns = (r->end_ns ? r->end_ns : now_ns()) - r->start_ns;
	/* why may lie in the machine. */
	guest_output_finish(r->output, why);
	guest_kill(r->guest);
	name_backtrace(r);
	if (result->verdict >= VERDICT_TIMEOUT)
		result->log_tail = log_tail(&r->tail);
	r->done(r->ctx);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void on_limit(void *ctx)
{
	struct test_run *r = ctx;
	const char *action = guest_action_name(r->guest);
	struct text reason = { 0 };

	r->limit = NULL;
	if (!r->started)
		text_printf(&reason, "the VMM did not start the guest within %u s", r->limit_s);
	else
		text_printf(&reason, "no end after %u s; last seen %s", r->limit_s,
			    guest_output_position(r->output));
	if (action)
		text_printf(&reason, "; the host action '%s' was under way", action);
	set_verdict(r, VERDICT_TIMEOUT, text_take(&reason));
	finish(r, NULL);
}

static void on_panic_limit(void *ctx)
{
	struct test_run *r = ctx;

	r->panic_limit = NULL;
	finish(r, NULL);
}

/* ---- the guest's output ---------------------------------------------------------------------- */

static void on_hello(void *ctx)
{
	struct test_run *r = ctx;

	if (!r->spec.result->boot_ns)
		r->spec.result->boot_ns = now_ns() - r->start_ns;
}

static void on_call(void *ctx, json_t *fields)
{
	struct test_run *r = ctx;

	host_calls_take(r->calls, fields);
}

static void on_panic(void *ctx, bool backtrace)
{
	struct test_run *r = ctx;

	r->should_end |= backtrace;
	if (!r->panic_limit)
		r->panic_limit = loop_add_timer(r->spec.loop, PANIC_TIMEOUT_NS, on_panic_limit, r);
}

static void on_end(void *ctx)
{
	struct test_run *r = ctx;

	r->end_ns = now_ns();
	r->should_end = true;
}

static const struct guest_output_events output_events = {
	.hello = on_hello,
	.call = on_call,
	.panic = on_panic,
	.end = on_end,
};

static void keep_log(struct test_run *r, const char *data, size_t len)
{
	len = MIN(len, TEST_LOG_MAX - r->logged);
	fwrite(data, 1, len, r->spec.log);
	r->logged += len;
	text_append_bytes(&r->tail, data, len);
	if (r->tail.len > 16 * TAIL_BYTES) {
		memmove(r->tail.data, r->tail.data + r->tail.len - TAIL_BYTES, TAIL_BYTES + 1);
		r->tail.len = TAIL_BYTES;
	}
}

/* ---- the guest ------------------------------------------------------------------------------- */

static void on_started(void *ctx)
{
	struct test_run *r = ctx;

	r->started = true;
}

static void on_console(void *ctx, const char *data, size_t len)
{
	struct test_run *r = ctx;

	if (r->finished)
		return;
	r->started = true;
	/* A call is answered first and logged afterwards: its reply carries a time. */
	guest_output_feed(r->output, data, len);
	keep_log(r, data, len);
	if (r->logged == TEST_LOG_MAX && !r->should_end) {
		set_verdict(r, VERDICT_ERROR,
			    text_format("it printed more than %u MiB and was stopped (%s)",
					TEST_LOG_MAX >> 20, guest_output_position(r->output)));
		r->should_end = true;
	}
	if (r->should_end)
		finish(r, NULL);
}

static const char *exit_reason(const struct test_run *r, const struct machine_exit *exit)
{
	if (exit->kind == MACHINE_POWEROFF)
		return "the guest powered its machine off before its end line";
	if (exit->kind != MACHINE_RESET)
		return exit->text;
	return r->spec.target->arch == ARCH_X86_64
		       ? "the guest reset its machine (a triple fault does so)"
		       : "the guest reset its machine";
}

static void on_exited(void *ctx, const struct machine_exit *exit)
{
	struct test_run *r = ctx;
	const char *action = guest_action_name(r->guest);
	struct text why = { 0 };

	if (action)
		text_printf(&why, "during the host action '%s': ", action);
	text_append(&why, exit_reason(r, exit));
	finish(r, why.data);
	text_free(&why);
}

static void on_reset(void *ctx, bool begins)
{
	struct test_run *r = ctx;

	guest_output_expect_reset(r->output, begins);
}

static const struct guest_events guest_events = {
	.started = on_started,
	.console = on_console,
	.exited = on_exited,
	.reset = on_reset,
};

/* ---- the start ------------------------------------------------------------------------------- */

static void on_failed_start(void *ctx)
{
	struct test_run *r = ctx;

	r->limit = NULL;
	finish(r, NULL);
}

static char *image_arguments(const struct test_run *r)
{
	const struct test *test = r->spec.result->test;
	struct text args = { 0 };

	if (*test->args)
		text_printf(&args, "%s ", test->args);
	text_printf(&args, "cpus=%u", test->smp);
	/* The guest's time is then made of instructions: no clock of this host can judge it. */
	if (r->spec.target->accel == ACCEL_ICOUNT)
		text_append(&args, " virtual-time");
	/* For images that know how to take that machine down with them, and had better not. */
	if (r->spec.outer_qemu)
		text_printf(&args, " outer-qemu=%s", r->spec.outer_qemu);
	if (r->spec.append)
		text_printf(&args, " %s", r->spec.append);
	return text_take(&args);
}

static struct guest *new_guest(struct test_run *r)
{
	const struct target *target = r->spec.target;
	const struct test *test = r->spec.result->test;
	struct machine_spec spec = {
		.arch = target->arch,
		.accel = target->accel,
		.image = r->image,
		.args = r->args,
		.smp = test->smp,
		.maxcpus = test->maxcpus,
		.memory_mib = test->memory_mib,
		.el2 = test->el2,
		.counter_offset = test->counter_offset,
		.cpu = test->cpu ? test->cpu : target->probe.cpu,
		.machine = test->machine,
		.firmware = target->probe.firmware,
		.vmm_path = target->vmm_path,
		.pin = r->spec.pin,
		.restore_rule = target->restore_rule,
		.faults = test->faults,
	};

	return guest_new(target->backend, r->spec.loop, &spec, &guest_events, r);
}

struct test_run *test_run_start(const struct test_run_spec *spec, void (*done)(void *ctx),
				void *ctx)
{
	const struct test *test = spec->result->test;
	struct test_run *r = memory_zalloc(sizeof(*r));
	struct error err;

	r->spec = *spec;
	r->done = done;
	r->ctx = ctx;
	r->image = image_path(spec->images, test->arch, test->image);
	r->args = image_arguments(r);
	r->guest = new_guest(r);
	r->output = guest_output_new(spec->result, &output_events, r);
	r->calls = host_calls_new(spec->result, spec->loop, spec->target, r->guest);
	r->limit_s = spec->timeout_s ? spec->timeout_s : test->timeout_s;
	r->start_ns = now_ns();
	if (!image_check(r->image, test->arch, &err) && !guest_start(r->guest, &err)) {
		spec->result->command = text_copy(guest_command(r->guest));
		r->limit = loop_add_timer(spec->loop, r->limit_s * 1000000000ULL, on_limit, r);
	} else {
		set_verdict(r, VERDICT_ERROR, text_copy(err.text));
		r->limit = loop_add_timer(spec->loop, 0, on_failed_start, r);
	}
	return r;
}

void test_run_free(struct test_run *r)
{
	if (!r)
		return;
	remove_limits(r);
	guest_kill(r->guest);
	host_calls_free(r->calls);
	guest_free(r->guest);
	guest_output_free(r->output);
	free(r->image);
	free(r->args);
	text_free(&r->tail);
	free(r);
}
