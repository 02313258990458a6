// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --explain: the catalogue's tables, fields that sub-checks have from their parents, and what is
 * printed of a check.
 */
#include "host_support.h"
#include "catalogue.h"
#include "explain.h"

static const char catalogue_text[] = "# Catalogue\n\n"
				     "Text | with | bars | in it.\n\n"
				     "| id | what a guest sees | where |\n"
				     "| --- | --- | --- |\n"
				     "| A21 | a counter jumps | a CPU |\n"
				     "|K19|kvmclock goes back|OSv|\n"
				     "| A22 | no third cell\n"
				     "| a23 | no id | nowhere |\n"
				     "| A0 | no number | nowhere |\n";

static json_t *list_of(const char *json)
{
	json_error_t error;
	json_t *list = json_loads(json, 0, &error);

	assert_non_null(list);
	return list;
}

static const char list_text[] =
	"[{\"name\": \"cross\", \"guards\": \"A21,Z9\", \"text\": \"Never backwards.\"},"
	" {\"name\": \"cross/2\", \"text\": \"On two CPUs.\"},"
	" {\"name\": \"cross/4\"},"
	" {\"name\": \"crossing\", \"guards\": \"K19\"},"
	" {\"name\": \"all\"},"
	" {\"name\": \"all/a\", \"guards\": \"K19,A21\"},"
	" {\"name\": \"all/b\", \"guards\": \"A21\"}]";

static void catalogue_rows(void **state)
{
	struct catalogue c;
	struct error err;

	write_string("catalogue.md", catalogue_text);
	assert_int_equal(catalogue_load("catalogue.md", &c, &err), 0);
	assert_int_equal(c.count, 2);
	assert_string_equal(catalogue_find(&c, "A21")->title, "a counter jumps");
	assert_string_equal(catalogue_find(&c, "K19")->where, "OSv");
	assert_null(catalogue_find(&c, "A2"));
	catalogue_free(&c);
}

static void catalogue_without_rows(void **state)
{
	struct catalogue c;
	struct error err;

	write_string("catalogue.md", "nothing\n");
	assert_int_equal(catalogue_load("catalogue.md", &c, &err), -1);
	assert_non_null(strstr(err.text, "catalogue.md"));
	unlink("catalogue.md");
	assert_int_equal(catalogue_load("catalogue.md", &c, &err), -1);
	assert_non_null(strstr(err.text, "catalogue.md"));
}

static void fields_are_inherited(void **state)
{
	json_t *list = list_of(list_text);

	assert_string_equal(check_list_field(list, "cross/2", "text"), "On two CPUs.");
	assert_string_equal(check_list_field(list, "cross/4", "text"), "Never backwards.");
	assert_string_equal(check_list_field(list, "cross/4", "guards"), "A21,Z9");
	assert_null(check_list_field(list, "crossing", "text"));
	assert_null(check_list_find(list, "cross/8"));
	json_decref(list);
}

/* What explain_check() prints, to be freed. */
static char *explained(const char *name)
{
	struct options options = { .root = "nowhere", .images = "nowhere" };
	struct expectations known;
	struct explain_spec spec = { .options = &options, .expectations = &known };
	struct test test = { .name = "counter", .key = "x86_64/counter", .image = "counter" };
	json_t *list = list_of(list_text);
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	mkdir("expected", 0777);
	write_string("expected/x.cfg",
		     "[counter.cross/2]\nverdict = fail\nreason = is known\n"
		     "[counter.crossing]\nverdict = fail\narch = arm64\nreason = elsewhere\n");
	assert_int_equal(expected_load("expected", &known), 0);
	explain_check(&spec, &test, list, name, out);
	fclose(out);
	json_decref(list);
	expected_free(&known);
	return text;
}

static void says_what_and_how(void **state)
{
	char *text = explained("cross/2");

	assert_true(strstr(text, "x86_64/counter.cross/2\n") == text);
	assert_non_null(strstr(text, "On two CPUs."));
	assert_non_null(strstr(text, "A21"));
	assert_non_null(strstr(text, "./run_tests.sh -v --append check=cross/2 x86_64/counter\n"));
	assert_non_null(strstr(text, "expected/x.cfg:1: counter.cross/2: fail: is known"));
	assert_null(strstr(text, "Sub-checks"));
	free(text);
}

/* A parent has its sub-checks, not what only begins like it, and their defects, each once. */
static void parents_have_their_sub_checks(void **state)
{
	char *text = explained("cross");

	assert_non_null(strstr(text, "cross/2"));
	assert_non_null(strstr(text, "cross/4"));
	assert_null(strstr(text, "crossing"));
	assert_non_null(strstr(text, "is known"));
	free(text);
	text = explained("crossing");
	assert_null(strstr(text, "elsewhere"));
	free(text);
	text = explained("all");
	assert_non_null(strstr(text, "K19"));
	assert_non_null(strstr(text, "A21"));
	assert_null(strstr(strstr(text, "A21") + 1, "A21"));
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(catalogue_rows),
		cmocka_unit_test(catalogue_without_rows),
		cmocka_unit_test(fields_are_inherited),
		cmocka_unit_test(says_what_and_how),
		cmocka_unit_test(parents_have_their_sub_checks),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
