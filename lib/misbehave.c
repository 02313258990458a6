// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Misbehaviour that needs nothing of an architecture. Each mode is one way in which a guest can
 * mislead or hold up a runner; tests/ runs them and demands the verdict that the story names.
 */
#include "console.h"
#include "hostaction.h"
#include "libcflat.h"
#include "misbehave.h"
#include "protocol.h"

#define GARBAGE_BYTES	4096
#define LONG_LINE_BYTES (1U << 20)
#define CHUNK_BYTES	1024

static const char *image_name;

static void sleep_for_ever(void)
{
	static const u32 no_work;

	for (;;)
		arch_smp_idle(&no_work);
}

static void run_panic(void)
{
	panic("deliberate panic");
}

static void run_assert(void)
{
	volatile int one = 1;

	assert(one == 2);
}

static void run_hang(void)
{
	sleep_for_ever();
}

static void run_spin(void)
{
	for (;;)
		cpu_relax();
}

/* Its length comes from outside, so that the compiler neither sees nor drops the overrun. */
static __attribute__((noinline)) void smash(char *seed, volatile size_t length)
{
	char buffer[16];
	volatile char *out = buffer;

	for (size_t i = 0; i < length; i++)
		out[i] = seed[i % 4];
	seed[0] = out[0];
}

static void run_smash(void)
{
	char seed[] = "ABCD";

	/* Over the guard, but not over the caller's frame: the report still needs a stack. */
	smash(seed, 24);
	report_fail("the stack protector did not see a buffer overrun");
}

/* A generator with a fixed seed: every run prints the same bytes. */
static u32 next_random(u32 *state)
{
	*state = *state * 1664525U + 1013904223U;
	return *state >> 16;
}

static void run_garbage(void)
{
	char chunk[CHUNK_BYTES];
	u32 state = 1;

	memset(chunk, 0, sizeof(chunk));
	console_write(chunk, sizeof(chunk));
	for (size_t done = 0; done < GARBAGE_BYTES; done += sizeof(chunk)) {
		for (size_t i = 0; i < sizeof(chunk); i++)
			chunk[i] = next_random(&state);
		console_write(chunk, sizeof(chunk));
	}
	memset(chunk, 'x', sizeof(chunk));
	console_write("\n", 1);
	for (size_t done = 0; done < LONG_LINE_BYTES; done += sizeof(chunk))
		console_write(chunk, sizeof(chunk));
	console_write("\n", 1);
	report_pass();
}

static void run_flood(void)
{
	for (u64 line = 0;; line++)
		printf("flood, line %lu: and there is always one more\n", line);
}

static void run_silent(void)
{
	sleep_for_ever();
}

static void hello(void)
{
	printf("%s%s version=%d arch=%s image=%s\nKTAP version 1\n", PROTO_PREFIX, PROTO_HELLO,
	       PROTO_VERSION, arch_name(), image_name);
}

static void run_forge(void)
{
	hello();
	printf("1..1\nok 1 genuine\nok 2 forged\n");
	printf("%s%s checks=1 failed=0\n", PROTO_PREFIX, PROTO_END);
}

static void run_forge_end(void)
{
	hello();
	printf("1..2\nok 1 genuine\nnot ok 2 failing\n");
	printf("%s%s checks=2 failed=0\n", PROTO_PREFIX, PROTO_END);
}

static void run_short_plan(void)
{
	hello();
	printf("1..3\nok 1 first\n");
	printf("%s%s checks=3 failed=0\n", PROTO_PREFIX, PROTO_END);
}

static void run_no_end(void)
{
	hello();
	printf("1..1\nok 1 only\n");
	sleep_for_ever();
}

static void run_fail(void)
{
	report_fail("deliberate failure");
}

static void run_error(void)
{
	report_error("deliberate error");
}

static void run_xfail(void)
{
	report_xfail("deliberate expected failure");
}

static void run_nothing(void)
{
}

/* No misbehaviour of the guest's: for hosts that act badly. */
static void run_act(void)
{
	const char *action = args_str("action", "pause");
	struct host_action a;

	host_action(action, args_str("fields", ""), &a);
	if (host_action_report(&a, action))
		report_pass();
}

static void run_act_and_panic(void)
{
	host_action_begin(args_str("action", "pause"), 0, args_str("fields", ""));
	panic("deliberate panic during a host action");
}

static const struct misbehaviour portable[] = {
	{ "panic", "panics after the plan: ERROR with the text and a backtrace", run_panic, false },
	{ "assert", "a failed assertion: ERROR that names file and line", run_assert, false },
	{ "hang", "sleeps for ever after the plan: TIMEOUT", run_hang, false },
	{ "spin", "spins for ever after the plan: TIMEOUT", run_spin, false },
	{ "smash", "overruns a buffer on the stack: ERROR by the stack protector", run_smash,
	  false },
	{ "garbage", "NULs, random bytes, a line of 1 MiB, then its verdict: pass", run_garbage,
	  false },
	{ "flood", "prints lines for ever: TIMEOUT, and a log that stays bounded", run_flood,
	  false },
	{ "silent", "prints nothing at all, no hello either: TIMEOUT", run_silent, true },
	{ "forge", "a verdict more than its plan has: ERROR", run_forge, true },
	{ "forge-end", "an end line that denies a failed check: the check fails all the same",
	  run_forge_end, true },
	{ "short-plan", "an end line before the plan is fulfilled: ERROR", run_short_plan, true },
	{ "no-end", "fulfils its plan and never ends: TIMEOUT", run_no_end, true },
	{ "fail", "one check that fails: fail", run_fail, false },
	{ "error", "one check that is in error: ERROR", run_error, false },
	{ "xfail", "one check that fails as it itself expects: pass", run_xfail, false },
	{ "nothing", "one check that asserts nothing: ERROR", run_nothing, false },
	{ "act", "a host action, action= and fields=: as it goes", run_act, false },
	{ "act-and-panic", "asks for a host action and panics in it: ERROR", run_act_and_panic,
	  false },
};

static const struct misbehaviour *extra_modes;
static size_t nr_extra_modes;

static const struct misbehaviour *find_mode(const char *mode)
{
	for (size_t i = 0; i < ARRAY_SIZE(portable); i++) {
		if (!strcmp(portable[i].mode, mode))
			return &portable[i];
	}
	for (size_t i = 0; i < nr_extra_modes; i++) {
		if (!strcmp(extra_modes[i].mode, mode))
			return &extra_modes[i];
	}
	return NULL;
}

static void list_modes(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(portable); i++)
		report_info("mode=%s: %s", portable[i].mode, portable[i].story);
	for (size_t i = 0; i < nr_extra_modes; i++)
		report_info("mode=%s: %s", extra_modes[i].mode, extra_modes[i].story);
}

static void run_modes(void)
{
	list_modes();
	report_skip("no mode= argument: the modes are listed above");
}

static void run_unknown(void)
{
	list_modes();
	report_error("unknown mode '%s': the modes are listed above", args_str("mode", ""));
}

int misbehave_run(const char *image, const struct misbehaviour *extra, size_t n)
{
	const char *mode = args_str("mode", "");
	const struct misbehaviour *chosen;
	struct check check = { .name = "modes", .run = run_modes };

	image_name = image;
	extra_modes = extra;
	nr_extra_modes = n;
	chosen = find_mode(mode);
	if (chosen && chosen->whole_image) {
		chosen->run();
		return 0;
	}
	if (chosen)
		check = (struct check){ .name = chosen->mode,
					.run = chosen->run,
					.story = chosen->story };
	else if (*mode)
		check.run = run_unknown;
	return report_run(image, &check, 1);
}
