// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * smp.c with threads for CPUs: start, work there and back, lost wake-ups, barriers, and CPUs that
 * refuse, stay silent, or are asked for what they cannot do. Each test is a child process, since
 * CPUs never end.
 */
#include <sched.h>
#include <time.h>

#include "support.h"

#define CPUS   4
#define ROUNDS 2000

static void yield_cpu(void)
{
	sched_yield();
}

/* Starts the CPUs; what fails in a child panics, and its parent sees that. */
static void start(int named)
{
	unit_relax = yield_cpu;
	clock_is_real = true;
	args_init("");
	unit_cpus_named = named;
	smp_start();
}

/* The child returned, and did not panic. */
static void expect_returns(void (*fn)(void *arg))
{
	const struct child *child = run_in_child(fn, NULL);

	if (child->stopped)
		fail_msg("%s", child->output);
}

static void all_cpus_come_up(void *arg)
{
	assert(smp_count() == 1);
	start(CPUS);
	assert(smp_count() == CPUS && smp_named() == CPUS && smp_id() == 0);
}

static void one_cpu_is_all(void *arg)
{
	start(1);
	assert(smp_count() == 1 && smp_named() == 1);
}

static void more_than_can_be(void *arg)
{
	start(MAX_CPUS + 3);
	assert(smp_count() == MAX_CPUS && smp_named() == MAX_CPUS + 3);
}

static void a_cpu_is_refused(void *arg)
{
	u64 before_ns = (clock_is_real = true, clock_ns());

	unit_cpu_refused = 2;
	start(CPUS);
	/* Nothing is to be waited for. */
	assert(clock_ns() - before_ns < 8 * NSEC_PER_SEC);
	assert(smp_count() == 2 && smp_named() == CPUS);
	assert(strstr(console_captured(), "# CPU 2 of 4: firmware refused to start it\n"));
}

static void some_come_late(void *arg)
{
	clock_is_real = true;
	args_init("late-cpus=2");
	unit_cpus_named = CPUS;
	assert(smp_start() == CPUS - 2 && smp_named() == CPUS);
	assert(smp_start_late() && smp_start_late());
	assert(smp_count() == CPUS && smp_named() == CPUS);
	/* None is left, and none was plugged in. */
	assert(!smp_start_late() && smp_count() == CPUS);
}

static void all_may_come_late(void *arg)
{
	clock_is_real = true;
	args_init("late-cpus=99");
	unit_cpus_named = CPUS;
	assert(smp_start() == 1);
}

static void sleep_a_little(void)
{
	struct timespec duration = { 0, 1000 };

	nanosleep(&duration, NULL);
}

/* On a clock that goes fast, and polls that leave the other CPUs their time. */
static void a_cpu_is_silent(void *arg)
{
	unit_cpu_silent = 3;
	unit_relax = sleep_a_little;
	clock_is_real = false;
	clock_step_ticks = NSEC_PER_MSEC;
	args_init("");
	unit_cpus_named = CPUS;
	assert(smp_start() == 3);
	assert(strstr(console_captured(), "# CPU 3 of 4: did not come up in time\n"));
}

static void test_start(void **state)
{
	expect_returns(all_cpus_come_up);
	expect_returns(one_cpu_is_all);
	expect_returns(some_come_late);
	expect_returns(all_may_come_late);
	expect_returns(more_than_can_be);
	expect_returns(a_cpu_is_refused);
	expect_returns(a_cpu_is_silent);
}

static void note_id(void *arg)
{
	*(int *)arg = smp_id();
}

static void work_runs_where_it_should(void *arg)
{
	start(CPUS);
	for (int i = 0; i < ROUNDS; i++) {
		int id = -1;

		on_cpu(i % CPUS, note_id, &id);
		assert(id == i % CPUS);
	}
}

static u32 hits[MAX_CPUS];

static void hit(void *arg)
{
	hits[smp_id()]++;
}

static void every_cpu_runs_once(void *arg)
{
	start(CPUS);
	for (u32 i = 1; i <= ROUNDS / 4; i++) {
		on_all_cpus(hit, NULL);
		for (int cpu = 0; cpu < CPUS; cpu++)
			assert(hits[cpu] == i);
	}
	on_first_cpus(2, hit, NULL);
	assert(hits[1] == ROUNDS / 4 + 1 && hits[2] == ROUNDS / 4);
	on_first_cpus(1, hit, NULL);
	assert(hits[0] == ROUNDS / 4 + 2 && hits[1] == ROUNDS / 4 + 1);
}

static void test_work(void **state)
{
	expect_returns(work_runs_where_it_should);
	expect_returns(every_cpu_runs_once);
}

static u32 release;

static void wait_for_release(void *arg)
{
	while (!__atomic_load_n(&release, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void work_goes_on_meanwhile(void *arg)
{
	start(CPUS);
	on_cpu_async(1, wait_for_release, NULL);
	assert(!cpu_wait_idle(1, NSEC_PER_MSEC));
	assert(cpu_wait_idle(2, 0));
	__atomic_store_n(&release, 1, __ATOMIC_RELEASE);
	assert(cpu_wait_idle(1, 60 * NSEC_PER_SEC));
	on_cpu(1, hit, NULL);
	assert(hits[1] == 1);
}

static void test_work_that_goes_on_meanwhile(void **state)
{
	expect_returns(work_goes_on_meanwhile);
}

static void sleepers_are_kicked_again(void *arg)
{
	start(CPUS);
	for (u32 i = 1; i <= 20; i++) {
		unit_wait_asleep(1);
		__atomic_store_n(&unit_kicks_to_lose, 3, __ATOMIC_RELEASE);
		on_cpu(1, hit, NULL);
		assert(hits[1] == i);
	}
	assert(unit_kicks >= 20 * 4);
}

static void async_sleepers_are_kicked_again(void *arg)
{
	start(CPUS);
	for (u32 i = 1; i <= 20; i++) {
		unit_wait_asleep(1);
		__atomic_store_n(&unit_kicks_to_lose, 3, __ATOMIC_RELEASE);
		on_cpu_async(1, hit, NULL);
		assert(cpu_wait_idle(1, 60 * NSEC_PER_SEC));
		assert(hits[1] == i);
	}
}

static void test_lost_wakeups(void **state)
{
	expect_returns(sleepers_are_kicked_again);
	expect_returns(async_sleepers_are_kicked_again);
}

static struct smp_barrier barrier;
static u32 phase[CPUS];

static void meet(void *arg)
{
	for (u32 i = 1; i <= ROUNDS; i++) {
		__atomic_store_n(&phase[smp_id()], i, __ATOMIC_RELEASE);
		smp_barrier_wait(&barrier);
		for (int cpu = 0; cpu < CPUS; cpu++) {
			u32 other = __atomic_load_n(&phase[cpu], __ATOMIC_ACQUIRE);

			assert(other >= i && other <= i + 1);
		}
	}
}

static void cpus_meet(void *arg)
{
	start(CPUS);
	smp_barrier_init(&barrier, CPUS);
	on_all_cpus(meet, NULL);
	assert(phase[CPUS - 1] == ROUNDS);
}

static void cpus_do_not_meet(void *arg)
{
	clock_step_ticks = 1000000;
	smp_barrier_init(&barrier, 2);
	smp_barrier_wait(&barrier);
}

static void test_barrier(void **state)
{
	expect_returns(cpus_meet);
	expect_panic(cpus_do_not_meet, NULL,
		     "smp_barrier_wait: the other CPUs did not arrive: not within 30000 ms");
}

/* ---- what is refused ---- */

static void post_twice(void *arg)
{
	start(CPUS);
	on_cpu_async(1, wait_for_release, NULL);
	on_cpu_async(1, hit, NULL);
}

static void run_on_cpu_4(void *arg)
{
	start(CPUS);
	on_cpu(4, hit, NULL);
}

static void run_on_minus_1(void *arg)
{
	on_cpu(-1, hit, NULL);
}

static void run_on_no_cpus(void *arg)
{
	on_first_cpus(0, hit, NULL);
}

static void call_cpu_0(void *arg)
{
	on_cpu(0, hit, NULL);
}

static void post_to_cpu_0(void *arg)
{
	start(CPUS);
	on_cpu(1, call_cpu_0, NULL);
}

static void call_all(void *arg)
{
	on_all_cpus(hit, NULL);
}

static void all_from_cpu_1(void *arg)
{
	start(CPUS);
	on_cpu(1, call_all, NULL);
}

static void test_refusals(void **state)
{
	expect_panic(post_twice, NULL, "on_cpu_async: CPU 1 is not idle");
	expect_panic(run_on_cpu_4, NULL, "on_cpu: there is no CPU 4, CPUs 0 to 3 are up");
	expect_panic(run_on_minus_1, NULL, "on_cpu: there is no CPU -1");
	expect_panic(run_on_no_cpus, NULL, "on_first_cpus: there is no CPU -1");
	expect_panic(post_to_cpu_0, NULL, "on_cpu: CPU 0 is the one that runs main()");
	expect_panic(all_from_cpu_1, NULL, "on_first_cpus: called on CPU 1, it is CPU 0's");
}

static void a_cpu_does_not_begin(void *arg)
{
	start(CPUS);
	unit_wait_asleep(1);
	unit_kicks_to_lose = UINT32_MAX;
	clock_is_real = false;
	clock_step_ticks = 100000;
	on_cpu(1, hit, NULL);
}

static void a_cpu_does_not_end(void *arg)
{
	start(CPUS);
	clock_is_real = false;
	clock_step_ticks = 100000;
	on_cpu(1, wait_for_release, NULL);
}

static void test_cpus_that_hang(void **state)
{
	expect_panic(a_cpu_does_not_begin, NULL,
		     "on_cpu: CPU 1 has not begun its work within 30 s");
	expect_panic(a_cpu_does_not_end, NULL, "on_cpu: CPU 1 has not ended its work within 32 s");
}

static void stopped_and_started(void *arg)
{
	start(CPUS);
	for (int i = 0; i < 10; i++) {
		assert(cpu_stop(CPUS - 1));
		assert(!cpu_wait_idle(CPUS - 1, 0));
		assert(smp_count() == CPUS);
		assert(cpu_start(CPUS - 1));
		on_cpu(CPUS - 1, hit, NULL);
	}
	on_all_cpus(hit, NULL);
}

/* It says so, and is there as before. */
static void does_not_stop(void *arg)
{
	unit_cpu_unstoppable = 2;
	start(CPUS);
	assert(!cpu_stop(2));
	on_cpu(2, hit, NULL);
}

static void does_not_start_again(void *arg)
{
	start(CPUS);
	assert(cpu_stop(1));
	unit_cpu_refused = 1;
	assert(!cpu_start(1));
	unit_cpu_refused = 0;
	assert(cpu_start(1));
	on_cpu(1, hit, NULL);
}

static void work_for_a_stopped_cpu(void *arg)
{
	start(CPUS);
	cpu_stop(1);
	on_cpu(1, hit, NULL);
}

static void stop_cpu_0(void *arg)
{
	start(CPUS);
	cpu_stop(0);
}

static void start_a_running_cpu(void *arg)
{
	start(CPUS);
	cpu_start(1);
}

static void test_stop_and_start(void **state)
{
	expect_returns(stopped_and_started);
	expect_returns(does_not_stop);
	expect_returns(does_not_start_again);
	expect_panic(work_for_a_stopped_cpu, NULL, "on_cpu: CPU 1 is not idle");
	expect_panic(stop_cpu_0, NULL, "cpu_stop: CPU 0 is the one that runs main()");
	expect_panic(start_a_running_cpu, NULL, "cpu_start: CPU 1 has not been stopped");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_work_that_goes_on_meanwhile),
		cmocka_unit_test(test_lost_wakeups),
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_cpus_that_hang),
		cmocka_unit_test(test_stop_and_start),
	};

	return cmocka_run_group_tests_name("smp", tests, NULL, NULL);
}
