// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unittests.cfg: what it says, every mistake with its line, and images against tests. Bytes changed
 * at random never crash the reader (run under ASan and UBSan too).
 */
#include "host_support.h"

#include "backend.h"
#include "check_config.h"
#include "config.h"
#include "ini.h"

#define FILE_NAME "tests.cfg"

/* The mistakes of a text, "" for none; the caller frees. */
static char *mistakes_of_bytes(const char *data, size_t len)
{
	struct mistakes m = { 0 };
	struct config config;
	struct text t = { 0 };
	int ret;

	write_bytes(FILE_NAME, data, len);
	ret = config_read(FILE_NAME, &config, &m);
	assert_int_equal(ret, m.count ? -1 : 0);
	if (ret)
		assert_null(config.tests);
	mistakes_print(&m, &t);
	mistakes_free(&m);
	config_free(&config);
	return text_take(&t);
}

static void expect_mistakes(const char *config, const char *expected)
{
	char *mistakes = mistakes_of_bytes(config, strlen(config));

	assert_string_equal(mistakes, expected);
	free(mistakes);
}

/* A file of one good section and this line as its second. */
static void expect_line_mistake(const char *line, const char *expected)
{
	char *config = text_format("[one]\n%s\n", line);
	char *message = text_format(FILE_NAME ":2: %s\n", expected);

	expect_mistakes(config, message);
	free(config);
	free(message);
}

static void load(const char *text, struct config *config)
{
	struct mistakes m = { 0 };

	write_string(FILE_NAME, text);
	assert_int_equal(config_read(FILE_NAME, config, &m), 0);
	assert_int_equal(m.count, 0);
}

static void defaults_are_as_documented(void **state)
{
	struct config config;
	const struct test *test;

	load("[counter]\n", &config);
	assert_int_equal(config.count, 2);
	assert_string_equal(config.path, FILE_NAME);
	assert_string_equal(config.tests[0].key, "x86_64/counter");
	assert_string_equal(config.tests[1].key, "arm64/counter");
	test = &config.tests[1];
	assert_string_equal(test->name, "counter");
	assert_int_equal(test->arch, ARCH_ARM64);
	assert_string_equal(test->image, "counter");
	assert_string_equal(test->args, "");
	assert_int_equal(test->smp, 1);
	assert_int_equal(test->memory_mib, 32);
	assert_int_equal(test->timeout_s, 30);
	assert_false(test->timing);
	assert_true(test->is_default);
	assert_false(test->el2);
	assert_null(test->cpu);
	assert_null(test->machine);
	assert_int_equal(test->vmms, BIT(VMM_QEMU) | BIT(VMM_KVM));
	assert_true(test->accels & BIT(ACCEL_ICOUNT));
	assert_int_equal(test->line, 1);
	config_free(&config);
}

static void every_key_is_read(void **state)
{
	struct config config;
	const struct test *test;

	load("# comment\n"
	     "[el2-timer]   # trailing comment\n"
	     "arch = arm64\r\n"
	     "image = timer_el2\n"
	     "args = el=2 text=\"a b\" page#part\n"
	     "smp = 64\n"
	     "memory = 65536\n"
	     "groups = time, el2 slow\n"
	     "timeout = 5\n"
	     "timing = yes\n"
	     "default = no\n"
	     "el2 = yes\n"
	     "cpu = max,pmu=on\n"
	     "machine = gic-version=3\n"
	     "vmm = qemu\n"
	     "accel = tcg,icount", /* the last line without an end */
	     &config);
	assert_int_equal(config.count, 1);
	test = &config.tests[0];
	assert_string_equal(test->key, "arm64/el2-timer");
	assert_string_equal(test->image, "timer_el2");
	assert_string_equal(test->args, "el=2 text=\"a b\" page#part");
	assert_int_equal(test->smp, 64);
	assert_int_equal(test->memory_mib, 65536);
	assert_true(test_in_group(test, "time"));
	assert_true(test_in_group(test, "slow"));
	assert_false(test_in_group(test, "tim"));
	assert_int_equal(test->timeout_s, 5);
	assert_true(test->timing);
	assert_false(test->is_default);
	assert_true(test->el2);
	assert_string_equal(test->cpu, "max,pmu=on");
	assert_string_equal(test->machine, "gic-version=3");
	assert_int_equal(test->vmms, BIT(VMM_QEMU));
	assert_int_equal(test->accels, BIT(ACCEL_TCG) | BIT(ACCEL_ICOUNT));
	assert_int_equal(test->line, 2);
	config_free(&config);
}

static void one_name_for_two_archs(void **state)
{
	struct config config;

	load("[a]\narch = x86_64\nsmp = 2\n[a]\narch = arm64\nsmp = 3\n", &config);
	assert_int_equal(config.count, 2);
	assert_string_equal(config.tests[1].key, "arm64/a");
	assert_int_equal(config.tests[1].smp, 3);
	config_free(&config);
}

static void all_mistakes_are_told_in_order(void **state)
{
	expect_mistakes(
		"stray = 1\n"
		"[one]\n"
		"image = selftest\n"
		"smp = many\n"
		"nonsense = 1\n"
		"just words\n"
		"\n"
		"[one]\n"
		"arch = arm64\n"
		"arch = x86_64\n"
		"[Two\n"
		"smp = 99\n"
		"[three] x\n"
		"[]\n"
		"= 5\n",
		FILE_NAME
		":1: key 'stray' stands before the first [section]\n" FILE_NAME
		":4: smp = many: must be a whole number from 1 to 64\n" FILE_NAME
		":5: unknown key 'nonsense'; the keys are: arch, image, args, smp, maxcpus, "
		"memory, groups, timeout, timing, default, el2, cpu, machine, limit, vmm, accel, "
		"counter-offset, fault\n" FILE_NAME
		":6: 'just words' is neither [section] nor key = value\n" FILE_NAME
		":8: test 'one' for arm64 is there already, in line 2; a name may stand "
		"twice only for different architectures (arch = …)\n" FILE_NAME
		":10: key 'arch' is given twice in [one]; the first is in line 9\n" FILE_NAME
		":11: a section begins with '[' but has no closing ']'\n" FILE_NAME
		":13: text after the section's closing ']'\n" FILE_NAME
		":14: a section without a name: write [name]\n" FILE_NAME
		":15: a value without a key before the '='\n");
}

static void bad_values_are_named(void **state)
{
	expect_line_mistake("smp = 0", "smp = 0: must be a whole number from 1 to 64");
	expect_line_mistake("smp = 65", "smp = 65: must be a whole number from 1 to 64");
	expect_line_mistake("smp = 4x", "smp = 4x: must be a whole number from 1 to 64");
	expect_line_mistake("smp = -1", "smp = -1: must be a whole number from 1 to 64");
	expect_line_mistake("smp =", "key 'smp' has no value");
	expect_line_mistake("groups = ,", "key 'groups' has no value");
	expect_line_mistake("maxcpus = 1", "maxcpus = 1: must be a whole number from 2 to 64");
	expect_mistakes("[one]\nmaxcpus = 2\nsmp = 2\n", FILE_NAME
			":1: test 'one' has maxcpus = 2, which has to be more than its smp "
			"= 2\n");
	expect_line_mistake("memory = 15", "memory = 15: must be a whole number from 16 to 65536");
	expect_line_mistake("timeout = 99999999999999999999999",
			    "timeout = 99999999999999999999999: must be a whole number from 1 to "
			    "86400");
	expect_line_mistake("timing = true", "timing = true: must be yes or no");
	expect_line_mistake("default = 0", "default = 0: must be yes or no");
	expect_line_mistake("arch = riscv64", "arch = riscv64: 'riscv64' is unknown; there are: "
					      "x86_64, arm64");
	expect_line_mistake("vmm = qemu, bhyve", "vmm = qemu, bhyve: 'bhyve' is unknown; there "
						 "are: qemu, kvm");
	expect_line_mistake("accel = auto", "accel = auto: 'auto' is unknown; there are: kvm, tcg, "
					    "icount");
	expect_line_mistake("groups = time, Slow!", "groups: 'Slow!' is no name (a-z, 0-9 and '-', "
						    "at most 64)");
	expect_line_mistake("image = ../x86/counter.c",
			    "image = ../x86/counter.c: must be the C file's name without directory "
			    "and suffix (a-z, 0-9, '-' and '_', at most 64)");
}

static void near_keys_are_suggested(void **state)
{
	expect_line_mistake("timout = 5", "unknown key 'timout'; did you mean 'timeout'?");
	expect_line_mistake("group = a", "unknown key 'group'; did you mean 'groups'?");
	expect_line_mistake("Arch = arm64", "unknown key 'Arch'; did you mean 'arch'?");
}

static void names_of_tests_are_checked(void **state)
{
	expect_mistakes("[Counter]\n",
			FILE_NAME ":1: 'Counter' is no name for a test (a-z, 0-9 and "
				  "'-', at most 64)\n");
	expect_mistakes("[a/b]\n", FILE_NAME
			":1: 'a/b' is no name for a test (a-z, 0-9 and '-', at most 64)\n");
	expect_mistakes("[a]\narch = arm64\ncounter-offset = 5\n",
			FILE_NAME ":1: test 'a' has a counter-offset, which needs arch = arm64 and "
				  "vmm = kvm\n");
	expect_mistakes("[a]\narch = arm64\nvmm = kvm\ncounter-offset = 0\n",
			FILE_NAME ":4: counter-offset = 0: must be a whole number of ticks, above "
				  "0\n");
	expect_mistakes("[a]\nel2 = yes\n",
			FILE_NAME ":1: test 'a' has el2 = yes, which needs arch = arm64\n");
}

static void bytes_that_are_no_text(void **state)
{
	static const char nul[] = "[a]\nsmp\0 = 1\n";
	static const char escape[] = "[a]\nargs = \033[31m\n";
	struct text t = { 0 };
	char *mistakes = mistakes_of_bytes(nul, sizeof(nul) - 1);

	assert_string_equal(mistakes,
			    FILE_NAME ":2: a NUL byte in column 4: this is not a text file\n");
	free(mistakes);
	mistakes = mistakes_of_bytes(escape, sizeof(escape) - 1);
	assert_string_equal(mistakes, FILE_NAME ":2: control character 0x1b in column 8\n");
	free(mistakes);
	text_append(&t, "[a]\n");
	for (int i = 0; i <= INI_LINE_MAX; i++)
		text_append_char(&t, '#');
	text_append(&t, "\nsmp = 0\n");
	mistakes = mistakes_of_bytes(t.data, t.len);
	assert_string_equal(mistakes,
			    FILE_NAME ":2: the line has 4096 bytes, more than 4095\n" FILE_NAME
				      ":3: smp = 0: must be a whole number from 1 to 64\n");
	free(mistakes);
	text_free(&t);
}

static void long_arguments_are_refused(void **state)
{
	struct text t = { 0 };

	text_append(&t, "[a]\nargs = ");
	for (int i = 0; i < 901; i++)
		text_append_char(&t, 'a');
	expect_mistakes(t.data, FILE_NAME ":2: args: 901 bytes, more than 900\n");
	text_free(&t);
}

static void expect_unreadable(const char *path, const char *expected)
{
	struct mistakes m = { 0 };
	struct config config;
	struct text t = { 0 };

	assert_int_equal(config_read(path, &config, &m), -1);
	mistakes_print(&m, &t);
	assert_string_equal(t.data, expected);
	text_free(&t);
	mistakes_free(&m);
}

static void files_that_are_none(void **state)
{
	struct text t = { 0 };

	expect_unreadable("nowhere.cfg",
			  "nowhere.cfg: cannot be opened: No such file or directory\n");
	mkdir("dir.cfg", 0777);
	expect_unreadable("dir.cfg", "dir.cfg: is a directory, not a file\n");
	assert_int_equal(mkfifo("fifo.cfg", 0666), 0);
	expect_unreadable("fifo.cfg", "fifo.cfg: is a device or pipe, not a file\n");
	write_string("empty.cfg", "# nothing\n");
	expect_unreadable("empty.cfg", "empty.cfg: has no test: write a section, [name]\n");
	while (t.len <= INI_FILE_MAX)
		text_append(&t, "# a long file\n");
	write_bytes("huge.cfg", t.data, t.len);
	expect_unreadable("huge.cfg", "huge.cfg: has more than 1048576 bytes\n");
	text_free(&t);
}

static void mutations_do_no_harm(void **state)
{
	static const char good[] = "# comment\n[counter]\nsmp = 4\ngroups = time, slow\n"
				   "args = a=1 b=\"2 3\"\ntiming = yes\n\n"
				   "[el2]\narch = arm64\nimage = counter\nel2 = yes\n"
				   "vmm = qemu\naccel = kvm, tcg\nmemory = 64\ntimeout = 7\n";
	u64 seed = 0x9e3779b97f4a7c15;
	unsigned accepted = 0, refused = 0;

	for (int i = 0; i < 3000; i++) {
		struct text t = { 0 };
		char *mistakes;

		text_append(&t, good);
		mutate(&t, &seed);
		mistakes = mistakes_of_bytes(t.data, t.len);
		if (*mistakes)
			refused++;
		else
			accepted++;
		/* Every mistake is a line of its own that begins with the file. */
		for (char *line = mistakes; *line; line = strchr(line, '\n') + 1)
			assert_true(text_starts_with(line, FILE_NAME ":"));
		free(mistakes);
		text_free(&t);
	}
	/* The mutations are neither all harmless nor all fatal. */
	assert_true(accepted > 100);
	assert_true(refused > 1000);
}

static void images_and_tests_belong_together(void **state)
{
	struct mistakes m = { 0 };
	struct config config;
	struct text t = { 0 };

	mkdir("x86", 0777);
	mkdir("arm", 0777);
	write_string("x86/counter.c", "");
	write_string("x86/lonely.c", "");
	write_string("x86/notes.txt", "");
	write_string("arm/counter.c", "");
	load("[counter]\n[ghost]\narch = arm64\nimage = spirit\n", &config);
	assert_int_equal(check_config_read(&config, ".", &m), -1);
	mistakes_print(&m, &t);
	assert_string_equal(t.data,
			    FILE_NAME ": image x86/lonely.c has no test for x86_64: add a section "
				      "with image = lonely\n" FILE_NAME
				      ":2: test 'ghost' for arm64 has no image: there is no "
				      "arm/spirit.c\n");
	text_free(&t);
	mistakes_free(&m);
	unlink("x86/lonely.c");
	write_string("arm/spirit.c", "");
	assert_int_equal(check_config_read(&config, ".", &m), 0);
	config_free(&config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_as_documented),
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(one_name_for_two_archs),
		cmocka_unit_test(all_mistakes_are_told_in_order),
		cmocka_unit_test(bad_values_are_named),
		cmocka_unit_test(near_keys_are_suggested),
		cmocka_unit_test(names_of_tests_are_checked),
		cmocka_unit_test(bytes_that_are_no_text),
		cmocka_unit_test(long_arguments_are_refused),
		cmocka_unit_test(files_that_are_none),
		cmocka_unit_test(mutations_do_no_harm),
		cmocka_unit_test(images_and_tests_belong_together),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
