// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench.c and benchsecond.c: operations of a known cost, on a clock whose every read takes as long as
 * the test says, come out at that cost; and the host's clock, played by the test, agrees or not.
 */
#include "support.h"
#include "../../lib/bench.h"

#define READ_TICKS 7  /* what a read of the clock takes */
#define COST	   20 /* what an operation takes */

static u64 runs, settled, unsettled_runs, finished;

/* The host's clock goes on by so many parts in 8 of what the image's does. */
static u64 host_eighths;
static bool host_refuses;
static u64 host_calls;

/* ---- operations -------------------------------------------------------------------------------- */

static void steady(u64 n)
{
	clock_now_ticks += COST * n;
}

/* Every tenth run takes ten times as long. */
static void uneven(u64 n)
{
	clock_now_ticks += n && ++runs % 10 == 0 ? 10 * COST * n : COST * n;
}

static void backwards(u64 n)
{
	if (n)
		clock_now_ticks -= 1000;
}

static void settle(void)
{
	settled++;
}

static void needs_settling(u64 n)
{
	if (n && !settled)
		unsettled_runs++;
	settled = 0;
	steady(n);
}

static bool refuse(void)
{
	report_skip("not here");
	return false;
}

static void finish(void)
{
	finished++;
}

static const char *class_of(void)
{
	return bench_subject();
}

static const struct bench benches[] = {
	{ "steady", .run = steady, .finish = finish },
	{ "uneven", .run = uneven, .floor = "steady", .class = class_of, .subject = "native" },
	{ "single", .run = needs_settling, .settle = settle, .batch = 1 },
	{ "backwards", .run = backwards, .batch = 1 },
	{ "refused", .prepare = refuse, .run = steady, .finish = finish },
};

/* ---- the runner -------------------------------------------------------------------------------- */

static void answer(const char *buf, size_t len)
{
	static char line[2048];
	static size_t have;
	char reply[256];
	const char *id;

	assert_true(have + len < sizeof(line));
	memcpy(line + have, buf, len);
	have += len;
	if (line[have - 1] != '\n')
		return;
	line[have] = '\0';
	have = 0;
	id = strstr(line, "@ktt call id=");
	if (!id)
		return;
	host_calls++;
	id += strlen("@ktt call id=");
	if (host_refuses)
		snprintf(reply, sizeof(reply), "@ktt reply id=%llu status=unsupported text=no\n",
			 strtoull(id, NULL, 10));
	else
		snprintf(reply, sizeof(reply),
			 "@ktt reply id=%llu status=ok raw-ns=%llu realtime-ns=0\n",
			 strtoull(id, NULL, 10),
			 (unsigned long long)(clock_now_ticks * host_eighths / 8));
	console_feed_text(reply);
}

/* ---- helpers ----------------------------------------------------------------------------------- */

static char pool[64 << 20];

/* In a child: what the arguments say, of the table above. */
static void run_with(void *args)
{
	console_on_write = answer;
	clock_step_ticks = READ_TICKS;
	alloc_init((uintptr_t)pool, (uintptr_t)pool + sizeof(pool));
	args_init(args);
	bench_report_run("unit", benches, ARRAY_SIZE(benches), NULL, 0);
	cflat_printf("unit: finished=%lu unsettled=%lu calls=%lu\n", finished, unsettled_runs,
		     host_calls);
}

static const char *run(const char *args)
{
	return run_in_child(run_with, (void *)args)->output;
}

static void expect_has(const char *output, const char *text)
{
	if (!strstr(output, text))
		fail_msg("no \"%s\" in:\n%s", text, output);
}

static int setup(void **state)
{
	host_eighths = 8;
	host_refuses = false;
	clock_is_real = false;
	return 0;
}

/* ---- tests ------------------------------------------------------------------------------------- */

/* 8 operations are the first power of two that take 100 ticks and more. */
static void test_a_known_cost(void **state)
{
	const char *output = run("samples=100 check=steady virtual-time");

	expect_has(output, "@ktt measure name=steady kind=bench unit=ticks hz=1000000000 n=100 "
			   "batch=8 overhead=0.875 overhead-error=0 min=20 p50=20 p95=20 p99=20 "
			   "max=20 mean=20 sd=0 second=none second-reason=virtual-time zeros=0\n");
	expect_has(output, "@ktt measure name=steady kind=histogram part=1 parts=1 "
			   "buckets=20:100\n");
	expect_has(output, "ok 1 steady\n");
}

static void test_a_tail(void **state)
{
	const char *output = run("samples=1000 check=uneven virtual-time");

	expect_has(output, " p50=20 p95=200 p99=200 max=200 ");
	expect_has(output, " floor=steady class=native\n");
	expect_has(output, "buckets=20:900,200:100\n");
}

static void test_samples_are_settled(void **state)
{
	const char *output = run("samples=50 check=single");

	expect_has(output, " n=50 batch=1 overhead=7 ");
	expect_has(output, " second=none second-reason=single-operations ");
	expect_has(output, "unsettled=0 ");
}

static void test_a_clock_that_goes_backwards(void **state)
{
	const char *output = run("samples=50 check=backwards");

	expect_has(output, "not ok 1 backwards\n");
	expect_has(output, "the clock went backwards");
	assert_null(strstr(output, "@ktt measure"));
}

static void test_what_is_not_possible(void **state)
{
	const char *output = run("check=refused");

	expect_has(output, "ok 1 refused # SKIP not here\n");
	expect_has(output, "finished=0 ");
	assert_null(strstr(output, "@ktt measure"));
}

static void test_a_host_that_agrees(void **state)
{
	const char *output = run("samples=100 check=steady");

	expect_has(output, " second=host-clock second-n=200000 ");
	expect_has(output, " second-here-ns=20.002 ");
	expect_has(output, "ok 1 steady\n");
	expect_has(output, "finished=1 ");
}

static void test_a_host_that_differs(void **state)
{
	host_eighths = 4;
	expect_has(run("samples=100 check=steady"), "not ok 1 steady\n");
	host_eighths = 16;
	expect_has(run("samples=100 check=steady"), "not ok 1 steady\n");
}

static void test_a_host_that_cannot(void **state)
{
	const char *output;

	host_refuses = true;
	output = run("samples=100");
	expect_has(output, "ok 1 steady\n");
	expect_has(output, "ok 2 uneven\n");
	expect_has(output, " second=none second-reason=no-host-clock ");
	expect_has(output, "calls=1\n");
}

static void test_too_many_samples(void **state)
{
	expect_panic(run_with, (void *)"samples=1000001", "argument samples=1000001: at most");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_known_cost, setup),
		cmocka_unit_test_setup(test_a_tail, setup),
		cmocka_unit_test_setup(test_samples_are_settled, setup),
		cmocka_unit_test_setup(test_a_clock_that_goes_backwards, setup),
		cmocka_unit_test_setup(test_what_is_not_possible, setup),
		cmocka_unit_test_setup(test_a_host_that_agrees, setup),
		cmocka_unit_test_setup(test_a_host_that_differs, setup),
		cmocka_unit_test_setup(test_a_host_that_cannot, setup),
		cmocka_unit_test_setup(test_too_many_samples, setup),
	};

	return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}
