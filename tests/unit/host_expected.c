// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * expected/: conditions, ranges of versions, and every mistake with its line.
 */
#include "host_support.h"

#include "expected.h"
#include "version_range.h"

static const struct circumstances here = {
	.arch = ARCH_X86_64,
	.vmm = "qemu",
	.accel = ACCEL_TCG,
	.kernel = "6.12.4-amd64",
	.qemu_version = "7.2.22",
	.modules_dir = "modules",
};

static int setup(void **state)
{
	return scratch_enter(state) || mkdir("expected", 0777) || mkdir("modules", 0777) ||
	       mkdir("modules/kvm_pvm", 0777);
}

static char *mistakes_of_bytes(const char *data, size_t len)
{
	struct expectations e;
	struct mistakes m = { 0 };
	struct text t = { 0 };
	int ret;

	write_bytes("expected/a.cfg", data, len);
	ret = expected_read("expected", &e, &m);
	assert_int_equal(ret, m.count ? -1 : 0);
	mistakes_print(&m, &t);
	mistakes_free(&m);
	expected_free(&e);
	return text_take(&t);
}

static void expect_mistakes(const char *text, const char *expected)
{
	char *mistakes = mistakes_of_bytes(text, strlen(text));

	assert_string_equal(mistakes, expected);
	free(mistakes);
}

static void load(const char *text, struct expectations *e)
{
	struct mistakes m = { 0 };

	write_string("expected/a.cfg", text);
	assert_int_equal(expected_read("expected", e, &m), 0);
}

/* Does an entry with this condition hold under "here"? */
static bool holds(const char *condition)
{
	char *text = text_format("[a.b]\nverdict = fail\nreason = r\n%s\n", condition);
	struct expectations e;
	bool found;

	load(text, &e);
	found = expected_find(&e, "a", "b", &here) != NULL;
	expected_free(&e);
	free(text);
	return found;
}

static void conditions_are_compared(void **state)
{
	assert_true(holds(""));
	assert_true(holds("arch = x86_64"));
	assert_true(holds("arch = arm64, x86_64"));
	assert_false(holds("arch = arm64"));
	assert_true(holds("vmm = qemu"));
	assert_false(holds("vmm = kvm"));
	assert_true(holds("accel = icount, tcg"));
	assert_false(holds("accel = kvm"));
	assert_true(holds("kernel = 6.12"));
	assert_false(holds("kernel = <6.12"));
	assert_true(holds("kernel = 6.1..6.5, >= 6.12"));
	assert_true(holds("qemu = <10.0"));
	assert_false(holds("qemu = >=10.0"));
	assert_true(holds("host-module = kvm_pvm"));
	assert_true(holds("host-module = kvm-pvm"));
	assert_false(holds("host-module = kvm_intel"));
	assert_true(holds("host-module = kvm_intel, kvm_pvm"));
}

static void all_conditions_must_hold(void **state)
{
	assert_true(holds("arch = x86_64\nvmm = qemu\nkernel = 6.12\nhost-module = kvm_pvm"));
	assert_false(holds("arch = x86_64\nvmm = qemu\nkernel = 6.1\nhost-module = kvm_pvm"));
	assert_false(holds("arch = x86_64\nvmm = kvm\nkernel = 6.12"));
}

static void what_is_not_known_does_not_hold(void **state)
{
	struct circumstances unknown = { .arch = ARCH_X86_64, .vmm = "kvm", .accel = ACCEL_KVM };
	struct expectations e;

	load("[a]\nverdict = fail\nreason = r\nqemu = <99\n"
	     "[b]\nverdict = fail\nreason = r\nkernel = >=1\n"
	     "[c]\nverdict = fail\nreason = r\nrestore = value, sequence\n",
	     &e);
	assert_null(expected_find(&e, "a", NULL, &unknown));
	assert_null(expected_find(&e, "c", NULL, &unknown));
	unknown.restore = "offset";
	assert_null(expected_find(&e, "c", NULL, &unknown));
	unknown.restore = "sequence";
	assert_non_null(expected_find(&e, "c", NULL, &unknown));
	assert_null(expected_find(&e, "b", NULL, &unknown));
	assert_non_null(expected_find(&e, "a", NULL, &here));
	expected_free(&e);
}

static bool in_range(const char *version, const char *range)
{
	struct version v;
	struct version_range r;

	assert_int_equal(version_parse(version, &v), 0);
	assert_int_equal(version_range_parse(range, &r), 0);
	return version_in_range(&v, &r);
}

static void versions_compare_by_number(void **state)
{
	assert_true(in_range("6.12.4-amd64", ">=6.12"));
	assert_true(in_range("6.12.4-amd64", ">6.2"));
	assert_true(in_range("6.9", "<6.12"));
	assert_false(in_range("6.12.0", "<6.12"));
	assert_true(in_range("6.12.99", "<=6.12"));
	assert_false(in_range("6.12.99", ">6.12"));
	assert_true(in_range("6.11.5", "6.1..6.11"));
	assert_true(in_range("6.1.0-44-cloud-amd64", "6.1..6.11"));
	assert_false(in_range("6.12", "6.1..6.11"));
	assert_false(in_range("6.0.19", "6.1..6.11"));
	assert_true(in_range("10.0.3", "10"));
	assert_false(in_range("1.0", "10"));
	assert_true(in_range("7.2~rc1", "7.2"));
	assert_true(in_range("6.12", "6.12.0"));
	assert_false(in_range("6.12", "6.12.1"));
	assert_true(in_range("6.12.3.4.5", "6.12.3.4"));
}

static void ranges_that_are_none(void **state)
{
	static const char *const bad[] = {
		"",  "x",  "6.",	"6..",	   "..6", "6.1...6.2", "6.1-6.2",	  "=6.1",
		"<", "<=", "6.11..6.1", "6.1 6.2", "<<6", "6.1x",      "99999999999999.1"
	};
	struct version_range range;
	struct version version;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (!version_range_parse(bad[i], &range))
			fail_msg("'%s' is taken for a range", bad[i]);
	}
	assert_int_equal(version_parse("amd64", &version), -1);
	assert_int_equal(version_parse("", &version), -1);
}

static void subjects_are_tests_or_checks(void **state)
{
	struct expectations e;

	load("[counter]\nverdict = timeout\nreason = own\n"
	     "[counter.cross-cpu/*]\nverdict = fail\nreason = subs\n"
	     "[count*.freq*]\nverdict = error\nreason = wild\nlink = docs/x.md#y\n",
	     &e);
	assert_string_equal(expected_find(&e, "counter", NULL, &here)->reason, "own");
	assert_null(expected_find(&e, "counter-el2", NULL, &here));
	assert_null(expected_find(&e, "counter", "cross-cpu", &here));
	assert_string_equal(expected_find(&e, "counter", "cross-cpu/4", &here)->reason, "subs");
	assert_string_equal(expected_find(&e, "counter-el2", "frequency", &here)->reason, "wild");
	assert_int_equal(expected_find(&e, "counter", "frequency", &here)->verdict, VERDICT_ERROR);
	assert_int_equal(expected_find(&e, "counter", "frequency", &here)->line, 7);
	assert_string_equal(expected_find(&e, "counter", "frequency", &here)->link, "docs/x.md#y");
	assert_string_equal(expected_find(&e, "counter", "frequency", &here)->file,
			    "expected/a.cfg");
	expected_free(&e);
}

static void first_entry_counts(void **state)
{
	struct expectations e;

	write_string("expected/b.cfg", "[a.b]\nverdict = fail\nreason = from b\n");
	load("[a.b]\nverdict = fail\nreason = for arm64\narch = arm64\n", &e);
	assert_string_equal(expected_find(&e, "a", "b", &here)->reason, "from b");
	expected_free(&e);
	load("[a.b]\nverdict = fail\nreason = from a\n", &e);
	assert_string_equal(expected_find(&e, "a", "b", &here)->reason, "from a");
	expected_free(&e);
	unlink("expected/b.cfg");
}

static void mistakes_have_lines(void **state)
{
	expect_mistakes(
		"[a]\n"
		"verdict = xfail\n"
		"kernel = 6.1-6.2\n"
		"\n"
		"[b.c]\n"
		"reason = because\n"
		"archs = arm64\n"
		"host-module = ../kvm\n"
		"accel = auto\n"
		"link =\n"
		"[x86_64/a.b]\n"
		"verdict = fail\n"
		"reason = r\n"
		"[.b]\n"
		"verdict = fail\n"
		"reason = r\n"
		"flavour = sweet\n",
		"expected/a.cfg:1: [a] has no reason: say why it is known to happen\n"
		"expected/a.cfg:2: verdict = xfail: must be fail, error or timeout\n"
		"expected/a.cfg:3: kernel = 6.1-6.2: '6.1-6.2' is no range; write it as 6.12, "
		"6.1..6.11, <6.12, <=6.12, >6.12 or >=6.12\n"
		"expected/a.cfg:5: [b.c] has no verdict: add verdict = fail, error or "
		"timeout\n"
		"expected/a.cfg:7: unknown key 'archs'; did you mean 'arch'?\n"
		"expected/a.cfg:8: host-module = ../kvm: '../kvm' is unknown; there are: "
		"names of modules as /sys/module has them\n"
		"expected/a.cfg:9: accel = auto: 'auto' is unknown; there are: kvm, tcg, "
		"icount\n"
		"expected/a.cfg:10: key 'link' has no value\n"
		"expected/a.cfg:11: [x86_64/a.b]: the section is test or test.check; an "
		"architecture is a condition: arch = x86_64\n"
		"expected/a.cfg:14: [.b]: the section must be test or test.check\n"
		"expected/a.cfg:17: unknown key 'flavour'; the keys are: verdict, reason, "
		"link, arch, vmm, accel, kernel, host-module, qemu, restore\n");
}

static void directory_is_needed(void **state)
{
	struct mistakes m = { 0 };
	struct expectations e;
	struct text t = { 0 };

	assert_int_equal(expected_read("nowhere", &e, &m), -1);
	mistakes_print(&m, &t);
	assert_string_equal(t.data, "nowhere: the directory of expected results cannot be read: "
				    "No such file or directory\n");
	text_free(&t);
	mistakes_free(&m);
	/* An empty one expects nothing; files that are no .cfg are not read. */
	mkdir("empty", 0777);
	write_string("empty/README", "[\n");
	assert_int_equal(expected_read("empty", &e, &m), 0);
	assert_int_equal(e.count, 0);
	assert_null(expected_find(&e, "a", NULL, &here));
	expected_free(&e);
}

static void mutations_do_no_harm(void **state)
{
	static const char good[] =
		"[counter.frequency]\nverdict = fail\naccel = kvm\n"
		"host-module = kvm_pvm\nkernel = 6.1..6.11\n"
		"reason = the offset is ignored\nlink = docs/f.md\n\n"
		"[a*.b/*]\nverdict = timeout\nqemu = <10.0, >=11.1\nreason = r\n";
	u64 seed = 0x2545f4914f6cdd1d;
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
		for (char *line = mistakes; *line; line = strchr(line, '\n') + 1)
			assert_true(text_starts_with(line, "expected/a.cfg:"));
		free(mistakes);
		text_free(&t);
	}
	assert_true(accepted > 100);
	assert_true(refused > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_are_compared),
		cmocka_unit_test(all_conditions_must_hold),
		cmocka_unit_test(what_is_not_known_does_not_hold),
		cmocka_unit_test(versions_compare_by_number),
		cmocka_unit_test(ranges_that_are_none),
		cmocka_unit_test(subjects_are_tests_or_checks),
		cmocka_unit_test(first_entry_counts),
		cmocka_unit_test(mistakes_have_lines),
		cmocka_unit_test(directory_is_needed),
		cmocka_unit_test(mutations_do_no_harm),
	};

	return cmocka_run_group_tests(tests, setup, scratch_leave);
}
