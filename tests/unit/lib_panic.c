// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * panic.c and console.c: the last words are whole, on lines of their own, and come out whatever the
 * stack looks like.
 */
#include <pthread.h>

#include "support.h"

struct frame {
	uintptr_t caller_fp;
	uintptr_t return_address;
};

static struct frame frames[40];

static void stack_is_frames(void)
{
	unit_stack_begin = (uintptr_t)frames;
	unit_stack_end = (uintptr_t)(frames + ARRAY_SIZE(frames));
}

/* A proper stack of so many frames: the return address of frame i is 0x1001 + i. */
static void build_frames(size_t count)
{
	memset(frames, 0, sizeof(frames));
	stack_is_frames();
	for (size_t i = 0; i < count; i++) {
		frames[i].caller_fp = i + 1 < count ? (uintptr_t)&frames[i + 1] : 0;
		frames[i].return_address = 0x1001 + i;
	}
}

static const char *backtrace_from(uintptr_t pc, uintptr_t fp)
{
	console_capture();
	backtrace_print(pc, fp);
	return console_captured();
}

static void test_backtrace(void **state)
{
	build_frames(3);
	assert_string_equal(backtrace_from(0x5000, (uintptr_t)frames),
			    "@ktt backtrace pc=0x5000,0x1000,0x1001,0x1002\n");
	unit_load_offset = 0x1000;
	assert_string_equal(backtrace_from(0x5000, (uintptr_t)frames),
			    "@ktt backtrace pc=0x4000,0,0x1,0x2\n");
	unit_load_offset = 0;
}

static void test_backtrace_ends_where_the_stack_is_no_stack(void **state)
{
	static const char first_only[] = "@ktt backtrace pc=0x5000\n";

	build_frames(3);
	assert_string_equal(backtrace_from(0x5000, 0), first_only);
	assert_string_equal(backtrace_from(0x5000, (uintptr_t)frames + 4), first_only);
	assert_string_equal(backtrace_from(0x5000, (uintptr_t)frames - 8), first_only);
	assert_string_equal(backtrace_from(0x5000, unit_stack_end - 8), first_only);
	assert_string_equal(backtrace_from(0x5000, UINTPTR_MAX - 7), first_only);
	/* A caller's frame has to lie above. */
	frames[1].caller_fp = (uintptr_t)&frames[1];
	assert_string_equal(backtrace_from(0x5000, (uintptr_t)frames),
			    "@ktt backtrace pc=0x5000,0x1000,0x1001\n");
	frames[1].caller_fp = (uintptr_t)&frames[0];
	assert_string_equal(backtrace_from(0x5000, (uintptr_t)frames),
			    "@ktt backtrace pc=0x5000,0x1000,0x1001\n");
	frames[1].caller_fp = 0xdeadbeefdeadbee8;
	assert_string_equal(backtrace_from(0x5000, (uintptr_t)frames),
			    "@ktt backtrace pc=0x5000,0x1000,0x1001\n");
}

static void test_backtrace_is_bounded(void **state)
{
	const char *text;
	unsigned commas = 0;

	build_frames(ARRAY_SIZE(frames));
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		frames[i].return_address = UINTPTR_MAX - i;
	text = backtrace_from(UINTPTR_MAX, (uintptr_t)frames);
	for (const char *p = text; *p; p++)
		commas += *p == ',';
	assert_int_equal(commas, 31);
	assert_true(strlen(text) <= PROTO_LINE_MAX + 1);
	assert_int_equal(text[strlen(text) - 1], '\n');
}

/* pc = 0: the function that asks is the innermost. */
__attribute__((noinline)) static const char *backtrace_of_here(void)
{
	console_capture();
	backtrace_print(0, 0);
	return console_captured();
}

static void test_backtrace_of_the_caller(void **state)
{
	uintptr_t begin = (uintptr_t)backtrace_of_here, pc;

	unit_stack_begin = unit_stack_end = 0;
	pc = strtoul(strstr(backtrace_of_here(), "pc=") + 3, NULL, 16);
	assert_true(pc > begin && pc < begin + 4096);
}

static void panic_with(void *text)
{
	build_frames(2);
	panic_at(0x5000, (uintptr_t)frames, "%s", (const char *)text);
}

static void test_the_last_words(void **state)
{
	const struct child *child = run_in_child(panic_with, "no timer");

	assert_true(child->stopped);
	assert_string_equal(child->output, "\n@ktt panic text=no timer\n"
					   "@ktt backtrace pc=0x5000,0x1000,0x1001\n");
}

static void test_texts_that_are_no_line(void **state)
{
	static char text[5000];
	const struct child *child = run_in_child(panic_with, "a\nok 1 forged\r\t\x80#");

	assert_string_equal(child->output, "\n@ktt panic text=a ok 1 forged   #\n"
					   "@ktt backtrace pc=0x5000,0x1000,0x1001\n");
	memset(text, 'a', sizeof(text) - 1);
	child = run_in_child(panic_with, text);
	assert_int_equal(strcspn(child->output + 1, "\n"), PROTO_LINE_MAX);
	assert_non_null(strstr(child->output, "a\n@ktt backtrace pc=0x5000,"));
}

static void panic_in_the_middle(void *arg)
{
	unit_stack_end = 0;
	/* The console's lock is held, by whom does not matter. */
	console_lock();
	console_write_unlocked("half a li", 9);
	panic("lock is held by %d", 3);
}

static void test_a_held_lock_does_not_matter(void **state)
{
	const struct child *child = run_in_child(panic_in_the_middle, NULL);

	assert_true(child->stopped);
	assert_non_null(strstr(child->output, "half a li\n@ktt panic text=lock is held by 3\n@ktt "
					      "backtrace pc=0x"));
}

static void panic_again(void)
{
	panic("second");
}

static void panic_while_in_backtrace(void *arg)
{
	unit_on_is_stack = panic_again;
	panic_at(0x5000, (uintptr_t)frames, "first");
}

/* The device itself panics at the first byte: nothing has been told yet. */
static void panic_while_printing(const char *buf, size_t len)
{
	console_on_write = NULL;
	panic("second");
}

static void panic_in_console(void *arg)
{
	console_on_write = panic_while_printing;
	panic("first");
}

static void test_a_panic_within_a_panic_stops(void **state)
{
	const struct child *child = run_in_child(panic_while_in_backtrace, NULL);

	assert_true(child->stopped);
	assert_string_equal(child->output, "\n@ktt panic text=first\n");
	child = run_in_child(panic_in_console, NULL);
	assert_true(child->stopped);
	assert_string_equal(child->output,
			    "\n@ktt panic text=first\n\n@ktt panic text=panic inside panic()\n");
}

/* Two CPUs at once: the machine stops only when the first has had its say. */
static pthread_t other;

static void *panic_on_other_cpu(void *arg)
{
	panic("second");
}

static void start_other(void)
{
	struct timespec pause = { 0, 1000000 };

	if (other)
		return;
	pthread_create(&other, NULL, panic_on_other_cpu, NULL);
	nanosleep(&pause, NULL);
}

static void sleep_a_little(void)
{
	struct timespec pause = { 0, 1000 };

	nanosleep(&pause, NULL);
}

static void panic_on_two_cpus(void *arg)
{
	build_frames(2);
	unit_relax = sleep_a_little;
	unit_on_is_stack = start_other;
	panic_at(0x5000, (uintptr_t)frames, "first");
}

static void test_two_cpus_panic(void **state)
{
	const struct child *child = run_in_child(panic_on_two_cpus, NULL);

	assert_true(child->stopped);
	assert_string_equal(child->output, "\n@ktt panic text=first\n"
					   "@ktt backtrace pc=0x5000,0x1000,0x1001\n");
}

static void fail_assertion(void *arg)
{
	assert(2 + 2 == 5);
}

static void test_assertions(void **state)
{
	expect_panic(fail_assertion, NULL, "tests/unit/lib_panic.c:" /* the line */);
	expect_panic(fail_assertion, NULL, "assertion failed: 2 + 2 == 5");
}

NORETURN void cflat_stack_chk_fail(void);

static void smash(void *arg)
{
	cflat_stack_chk_fail();
}

static void test_stack_protector(void **state)
{
	expect_panic(smash, NULL, "stack protector: a buffer on the stack was overrun");
}

/* ---- console.c ---- */

static void test_console_without_a_device(void **state)
{
	console_set(NULL);
	assert_string_equal(console_name(), "none");
	console_write("lost", 4);
	assert_int_equal(console_read(), -1);
	assert_true(unit_irqs_on);
	console_capture();
	assert_string_equal(console_name(), "capture");
}

static void test_console_keeps_interrupts_as_they_were(void **state)
{
	console_capture();
	unit_irqs_on = false;
	console_write("a", 1);
	assert_false(unit_irqs_on);
	unit_irqs_on = true;
	console_write("b", 1);
	assert_true(unit_irqs_on);
	assert_string_equal(console_captured(), "ab");
}

#define WRITERS 4
#define LINES	2000

static void *write_lines(void *arg)
{
	for (int i = 0; i < LINES; i++)
		cflat_printf("%d %0*d\n", (int)(intptr_t)arg, (i % 11) * 3, i);
	return NULL;
}

static void test_lines_of_several_cpus_do_not_mix(void **state)
{
	pthread_t threads[WRITERS];
	unsigned lines = 0;

	console_capture();
	for (intptr_t i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_lines, (void *)i), 0);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	for (const char *line = console_captured(); *line; line = strchr(line, '\n') + 1) {
		assert_int_equal(strspn(line + 2, "0123456789"), strcspn(line + 2, "\n"));
		assert_true(line[0] >= '0' && line[0] < '0' + WRITERS && line[1] == ' ');
		lines++;
	}
	assert_int_equal(lines, WRITERS * LINES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_backtrace),
		cmocka_unit_test(test_backtrace_ends_where_the_stack_is_no_stack),
		cmocka_unit_test(test_backtrace_is_bounded),
		cmocka_unit_test(test_backtrace_of_the_caller),
		cmocka_unit_test(test_the_last_words),
		cmocka_unit_test(test_texts_that_are_no_line),
		cmocka_unit_test(test_a_held_lock_does_not_matter),
		cmocka_unit_test(test_a_panic_within_a_panic_stops),
		cmocka_unit_test(test_two_cpus_panic),
		cmocka_unit_test(test_assertions),
		cmocka_unit_test(test_stack_protector),
		cmocka_unit_test(test_console_without_a_device),
		cmocka_unit_test(test_console_keeps_interrupts_as_they_were),
		cmocka_unit_test(test_lines_of_several_cpus_do_not_mix),
	};

	return cmocka_run_group_tests_name("panic", tests, NULL, NULL);
}
