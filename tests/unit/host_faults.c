// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of faults on purpose: that each row is whole, and how a fault is asked for.
 */
#include "host_support.h"

#include "kvm/fault.h"
#include "util/text.h"

static void test_rows_are_whole(void **state)
{
	for (int i = 0; i < FAULT_COUNT; i++) {
		const struct fault *f = &faults[i];

		assert_non_null(f->name);
		assert_true(f->archs && f->archs < BIT(ARCH_COUNT));
		assert_non_null(f->guards);
		assert_non_null(f->what);
		assert_true(*f->what);
		/* A test and one of its checks, or nothing that may fail. */
		assert_true(!f->check || strchr(f->check, '.'));
		assert_true(f->unit || !f->standard);
	}
}

static void test_names_are_unique(void **state)
{
	for (int i = 0; i < FAULT_COUNT; i++) {
		for (int j = 0; j < i; j++)
			assert_true(!(faults[i].archs & faults[j].archs) ||
				    strcmp(faults[i].name, faults[j].name));
	}
}

static void test_asked_for(void **state)
{
	struct fault_set set = { 0 };
	struct error err;

	assert_int_equal(fault_set_add(&set, ARCH_X86_64, "tsc-skew", &err), 0);
	assert_true(set.on[FAULT_TSC_SKEW]);
	assert_int_equal(set.arg[FAULT_TSC_SKEW], faults[FAULT_TSC_SKEW].standard);
	assert_int_equal(fault_set_add(&set, ARCH_X86_64, "tsc-jump=-5", &err), 0);
	assert_int_equal(set.arg[FAULT_TSC_JUMP], -5);
	assert_false(set.on[FAULT_TSC_RATE]);
}

static void expect_refused(enum arch arch, const char *request, const char *why)
{
	struct error err;

	assert_int_equal(fault_set_add(NULL, arch, request, &err), -1);
	expect_contains(err.text, why);
}

static void test_refused(void **state)
{
	expect_refused(ARCH_ARM64, "tsc-skew", "no fault \"tsc-skew\" for arm64");
	expect_refused(ARCH_X86_64, "tsc-skiw", "is \"tsc-skew\" meant?");
	expect_refused(ARCH_X86_64, "tsc-skew=", "whole number of cycles");
	expect_refused(ARCH_X86_64, "tsc-skew=1x", "whole number of cycles");
	expect_refused(ARCH_X86_64, "tsc-skew=99999999999999999999", "whole number of cycles");
	expect_refused(ARCH_X86_64, "deadline-kept=1", "has no argument");
	expect_refused(ARCH_X86_64, "", "no fault \"\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_whole),
		cmocka_unit_test(test_names_are_unique),
		cmocka_unit_test(test_asked_for),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
