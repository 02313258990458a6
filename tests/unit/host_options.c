// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command line: every option, defaults, and what is said of mistakes.
 */
#include "host_support.h"

#include <fcntl.h>
#include "options.h"

/* Parses words of one line; what is printed on stderr goes to *said (freed by the caller). */
static int parse(struct options *o, const char *line, char **said)
{
	char *with_name = text_format("run_tests.sh %s", line);
	static char **words; /* options point into them */
	int saved = dup(STDERR_FILENO), status;
	int fd = open("stderr", O_CREAT | O_TRUNC | O_WRONLY, 0600);

	words_free(words);
	words = words_split(with_name, " ");
	free(with_name);
	dup2(fd, STDERR_FILENO);
	status = options_parse(o, words_count(words), words);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fd);
	*said = read_string("stderr");
	return status;
}

static void parse_good(struct options *o, const char *line)
{
	char *said;

	assert_int_equal(parse(o, line, &said), -1);
	assert_string_equal(said, "");
	free(said);
}

static void expect_mistake(const char *line, const char *expected)
{
	struct options o;
	char *said;

	assert_int_equal(parse(&o, line, &said), 3);
	expect_contains(said, expected);
	assert_true(text_starts_with(said, "run_tests.sh: "));
	free(said);
	options_free(&o);
}

static void test_defaults(void **state)
{
	struct options o;

	unsetenv("KTT_ROOT");
	setenv("KTT_ROOT", "/suite", 1);
	parse_good(&o, "");
	assert_string_equal(o.config, "/suite/unittests.cfg");
	assert_string_equal(o.expected, "/suite/expected");
	assert_string_equal(o.images, "/suite/build");
	assert_string_equal(o.vmm, "qemu");
	assert_int_equal(o.accel, ACCEL_AUTO);
	assert_int_equal(o.repeat, 1);
	assert_in_range(o.jobs, 1, 4);
	assert_int_equal(o.timeout_s, 0);
	assert_null(o.out_dir);
	assert_null(o.append);
	assert_null(o.tests[0]);
	assert_false(o.archs[ARCH_X86_64] || o.archs[ARCH_ARM64]);
	assert_false(o.list || o.ktap || o.verbose || o.check_config);
	assert_non_null(strstr(o.qemu[ARCH_X86_64], "qemu-system-x86_64"));
	assert_non_null(strstr(o.qemu[ARCH_ARM64], "qemu-system-aarch64"));
	options_free(&o);
	unsetenv("KTT_ROOT");
}

/* Names are short where the suite is the current directory. */
static void test_root_is_here(void **state)
{
	struct options o;

	setenv("KTT_ROOT", scratch_dir, 1);
	parse_good(&o, "");
	assert_string_equal(o.config, "unittests.cfg");
	options_free(&o);
	unsetenv("KTT_ROOT");
}

static void test_every_option(void **state)
{
	struct options o;

	parse_good(&o,
		   "-l -g time,self --group=cost -a arm64 -j 3 -o out --vmm qemu --accel icount "
		   "--timeout 7 --repeat 20 --append check=x --append=budget-ms=9 --ktap -v "
		   "--config c --expected e --images i --check-config counter arm64/selftest");
	assert_true(o.list && o.ktap && o.verbose && o.check_config);
	assert_string_equal(o.groups[0], "time");
	assert_string_equal(o.groups[1], "self");
	assert_string_equal(o.groups[2], "cost");
	assert_null(o.groups[3]);
	assert_true(o.archs[ARCH_ARM64]);
	assert_false(o.archs[ARCH_X86_64]);
	assert_int_equal(o.jobs, 3);
	assert_string_equal(o.out_dir, "out");
	assert_int_equal(o.accel, ACCEL_ICOUNT);
	assert_int_equal(o.timeout_s, 7);
	assert_int_equal(o.repeat, 20);
	assert_string_equal(o.append, "check=x budget-ms=9");
	assert_string_equal(o.config, "c");
	assert_string_equal(o.expected, "e");
	assert_string_equal(o.images, "i");
	assert_string_equal(o.tests[0], "counter");
	assert_string_equal(o.tests[1], "arm64/selftest");
	assert_null(o.tests[2]);
	options_free(&o);
}

static void test_policy(void **state)
{
	struct options o;

	parse_good(&o, "--policy counter.pause=running --policy timer.migrate=caught-up selftest");
	assert_string_equal(o.policy, "counter.pause=running timer.migrate=caught-up");
	options_free(&o);
	expect_mistake("--policy counter=running", "'counter=running' is not CLOCK.ACTION=PROMISE");
	expect_mistake("--policy clock.pause=running",
		       "'clock' is no clock; there are: counter, physical, kvmclock, timer");
	expect_mistake("--policy counter.stop=running", "'stop' is no action");
	expect_mistake("--policy counter.pause=moving", "'moving' is no promise");
}

static void test_restore(void **state)
{
	struct options o;

	parse_good(&o, "--vmm kvm --restore value --account limit=20 --preempt-us 100 selftest");
	assert_int_equal(o.restore_rule.method, RESTORE_VALUE);
	assert_int_equal(o.restore_rule.account, ACCOUNT_LIMIT);
	assert_int_equal(o.restore_rule.limit_ns, 20000000);
	assert_int_equal(o.restore_rule.preempt_us, 100);
	options_free(&o);
	expect_mistake("--vmm kvm --restore values", "\"values\" is no method");
	expect_mistake("--vmm kvm --account none", "\"none\": frozen, realtime or limit=MS");
	expect_mistake("--vmm kvm --preempt-us 1ms", "--preempt-us '1ms': a number");
	expect_mistake("--restore value selftest", "are for our own VMM");
}

static void test_reports(void **state)
{
	struct options o;

	parse_good(&o, "--report junit --report markdown=m.md selftest");
	assert_int_equal(o.reports.count, 2);
	assert_string_equal(o.reports.list[0].format->name, "junit");
	assert_string_equal(o.reports.list[1].path, "m.md");
	assert_null(o.from);
	options_free(&o);
	parse_good(&o, "--accel tcg -j 2 -o out --append=budget-ms=9 --repeat 3 selftest");
	assert_string_equal(text_string(&o.rerun), "--accel tcg --append budget-ms=9");
	options_free(&o);
	parse_good(&o, "--from results/latest --report ktap=-");
	assert_string_equal(o.from, "results/latest");
	options_free(&o);
	expect_mistake("--report pdf", "--report 'pdf': it is FORMAT or FORMAT=FILE");
	expect_mistake("--from x", "--from x: say with --report what to make of it");
	expect_mistake("--from x --report junit counter", "--from x takes no test: 'counter'");
}

static void test_options_after_tests(void **state)
{
	struct options o;

	parse_good(&o, "counter -v -a x86_64,arm64 -- --odd");
	assert_true(o.verbose && o.archs[ARCH_X86_64] && o.archs[ARCH_ARM64]);
	assert_string_equal(o.tests[0], "counter");
	assert_string_equal(o.tests[1], "--odd");
	options_free(&o);
}

static void test_qemu(void **state)
{
	struct options o;

	parse_good(&o, "--qemu /x/qemu-system-aarch64 --qemu x86_64=/y/q");
	assert_string_equal(o.qemu[ARCH_ARM64], "/x/qemu-system-aarch64");
	assert_string_equal(o.qemu[ARCH_X86_64], "/y/q");
	options_free(&o);
	parse_good(&o, "--qemu ./qemu -a arm64");
	assert_string_equal(o.qemu[ARCH_ARM64], "./qemu");
	options_free(&o);
	expect_mistake("--qemu ./qemu", "'./qemu': for which architecture?");
	expect_mistake("--qemu ./qemu -a arm64,x86_64", "'./qemu': for which architecture?");
}

static void test_mistakes(void **state)
{
	static const char *const cases[][2] = {
		{ "--nonsense", "unknown option '--nonsense'; run_tests.sh --help" },
		{ "-z", "unknown option '-z'; run_tests.sh --help" },
		{ "-lz", "unknown option '-z'" },
		{ "--ktap=yes", "'--ktap=yes'" },
		{ "-o", "option '-o' needs a value" },
		{ "--timeout", "option '--timeout' needs a value" },
		{ "-a riscv64", "unknown architecture 'riscv64': it is x86_64 or arm64" },
		{ "-a x86_64,mips", "unknown architecture 'mips'" },
		{ "-a ,", "no architecture" },
		{ "-j 0", "--jobs '0': a number from 1 to 64 is wanted" },
		{ "-j 65", "--jobs '65'" },
		{ "-j x", "--jobs 'x'" },
		{ "--timeout -1", "--timeout '-1'" },
		{ "--timeout 1.5", "--timeout '1.5'" },
		{ "--repeat 0", "--repeat '0'" },
		{ "--repeat 1x", "--repeat '1x'" },
		{ "--repeat 99999999999999999999", "--repeat '99999999999999999999'" },
		{ "--accel xen", "--accel 'xen': it is kvm, tcg or icount" },
		{ "--vmm bhyve", "--vmm 'bhyve': it is qemu or kvm" },
		{ "-g ,", "no group is named" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_mistake(cases[i][0], cases[i][1]);
}

/* The help names every option that there is. */
static void test_usage(void **state)
{
	static const char *const options[] = {
		"-l, --list", "-g, --group",	"-a, --arch", "-j, --jobs", "-o, --output",
		"--vmm",      "--accel",	"--timeout",  "--repeat",   "--append",
		"--ktap",     "-v, --verbose",	"--qemu",     "--config",   "--expected",
		"--images",   "--check-config", "-h, --help", "--policy",   "--restore",
		"--account",  "--preempt-us",
	};
	FILE *file = fopen("usage", "w");
	char *text;

	options_usage(file);
	fclose(file);
	text = read_string("usage");
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		expect_contains(text, options[i]);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_root_is_here),
		cmocka_unit_test(test_every_option),
		cmocka_unit_test(test_policy),
		cmocka_unit_test(test_restore),
		cmocka_unit_test(test_reports),
		cmocka_unit_test(test_options_after_tests),
		cmocka_unit_test(test_qemu),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_usage),
	};

	return cmocka_run_group_tests_name("options", tests, scratch_enter, scratch_leave);
}
