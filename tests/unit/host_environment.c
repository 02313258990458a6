// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the host says of itself, and names for a backtrace (of this very program).
 */
#include "host_support.h"

#include <link.h>
#include <sys/utsname.h>

#include "environment.h"
#include "symbolise.h"

static const char *string_at(json_t *object, const char *outer, const char *key)
{
	return json_string_value(json_object_get(json_object_get(object, outer), key));
}

static void environment_is_this_host(void **state)
{
	json_t *environment;
	struct utsname u;

	uname(&u);
	environment = environment_collect();
	assert_string_equal(environment_kernel(), u.release);
	assert_string_equal(string_at(environment, "host", "kernel"), u.release);
	assert_string_equal(string_at(environment, "host", "machine"), u.machine);
	assert_string_equal(string_at(environment, "host", "arch"), arch_to_name(arch_native()));
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(environment, "host"), "cpus")),
		sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(json_is_object(json_object_get(json_object_get(environment, "host"), "kvm")));
	assert_non_null(string_at(environment, "suite", "version"));
	json_decref(environment);
}

static void a_place_without_git_has_no_git_version(void **state)
{
	json_t *environment;

	setenv("KTT_ROOT", "/proc", 1);
	environment = environment_collect();
	assert_null(string_at(environment, "suite", "git"));
	assert_non_null(string_at(environment, "suite", "version"));
	json_decref(environment);
	unsetenv("KTT_ROOT");
}

/* Where the program was loaded: its first entry is its own. */
static int first_object(struct dl_phdr_info *info, size_t size, void *data)
{
	*(u64 *)data = info->dlpi_addr;
	return 1;
}

static u64 link_address(const void *p)
{
	u64 base = 0;

	dl_iterate_phdr(first_object, &base);
	return (uintptr_t)p - base;
}

static void addresses_get_names(void **state)
{
	char *elf = realpath("/proc/self/exe", NULL);
	u64 pcs[2] = { link_address(link_address), link_address(environment_collect) + 1 };
	char *backtrace = symbolise(arch_native(), elf, pcs, 2);
	char **lines = words_split(backtrace, "\n");

	assert_int_equal(words_count(lines), 2);
	expect_contains(lines[0], " link_address at ");
	expect_contains(lines[0], "host_environment.c:");
	/* A return address belongs to the call before it. */
	expect_contains(lines[1], " environment_collect at ");
	expect_contains(lines[1], "environment.c:");
	words_free(lines);
	free(backtrace);
	free(elf);
}

/* Seen from a directory above the source, the source's name is relative to it. */
static void paths_are_short(void **state)
{
	char *elf = realpath("/proc/self/exe", NULL);
	u64 pc = link_address(link_address);
	char *backtrace, *path;

	setenv("KTT_ROOT", "/", 1);
	backtrace = symbolise(arch_native(), elf, &pc, 1);
	path = strchr(strstr(backtrace, " at ") + 4, '/');
	*strstr(path, "/tests/unit/") = '\0';
	setenv("KTT_ROOT", path, 1);
	free(backtrace);
	backtrace = symbolise(arch_native(), elf, &pc, 1);
	expect_contains(backtrace, " at tests/unit/host_environment.c:");
	free(backtrace);
	unsetenv("KTT_ROOT");
	free(elf);
}

static void without_an_elf_addresses_stay(void **state)
{
	u64 pcs[2] = { 0x1000, 0xffffffff80000000 };
	char *backtrace = symbolise(ARCH_ARM64, "/nowhere/image.elf", pcs, 2);

	assert_string_equal(backtrace, "0x1000\n0xffffffff80000000\n");
	free(backtrace);
	backtrace = symbolise(ARCH_ARM64, "/nowhere/image.elf", NULL, 0);
	assert_string_equal(backtrace, "");
	free(backtrace);
}

static void unknown_addresses_stay(void **state)
{
	char *elf = realpath("/proc/self/exe", NULL);
	u64 pc = 0x7fffffff0000;
	char *backtrace = symbolise(arch_native(), elf, &pc, 1);

	assert_string_equal(backtrace, "0x7fffffff0000\n");
	free(backtrace);
	free(elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(environment_is_this_host),
		cmocka_unit_test(a_place_without_git_has_no_git_version),
		cmocka_unit_test(addresses_get_names),
		cmocka_unit_test(paths_are_short),
		cmocka_unit_test(without_an_elf_addresses_stay),
		cmocka_unit_test(unknown_addresses_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
