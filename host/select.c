// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From names and groups to tests.
 */
#include "select.h"

#include <stdlib.h>
#include <string.h>
#include "util/memory.h"
#include "util/text.h"

/* ---- what there is --------------------------------------------------------------------------- */

static char **add_unless_there(char **words, const char *word)
{
	size_t count = words_count(words);

	if (words_have(words, word))
		return words;
	words = memory_resize(words, count + 2, sizeof(*words));
	words[count] = text_copy(word);
	words[count + 1] = NULL;
	return words;
}

static char **all_names(const struct config *config)
{
	char **names = words_split("", " ");

	for (size_t i = 0; i < config->count; i++)
		names = add_unless_there(names, config->tests[i].name);
	return names;
}

static char **all_groups(const struct config *config)
{
	char **groups = words_split("", " ");

	for (size_t i = 0; i < config->count; i++) {
		char **own = config->tests[i].groups;

		for (size_t j = 0; own && own[j]; j++)
			groups = add_unless_there(groups, own[j]);
	}
	return groups;
}

static int unknown(const char *what, const char *word, char **known, struct error *err)
{
	const char *nearest = text_nearest(word, (const char *const *)known);
	char *list = words_join(known, " ");

	error_set(err, "unknown %s '%s'%s%s%s; there are: %s", what, word,
		  nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "",
		  *list ? list : "none");
	free(list);
	return -1;
}

/* ---- selecting ------------------------------------------------------------------------------- */

static bool is_named(const struct test *test, const char *name)
{
	return !strcmp(test->name, name) || !strcmp(test->key, name);
}

static bool is_wanted(const struct test *test, const struct options *o)
{
	bool any = false;

	for (size_t i = 0; o->tests && o->tests[i]; i++) {
		any = true;
		if (is_named(test, o->tests[i]))
			return true;
	}
	for (size_t i = 0; o->groups && o->groups[i]; i++) {
		any = true;
		if (test_in_group(test, o->groups[i]))
			return true;
	}
	return !any && (test->is_default || o->list);
}

/* Whether any test answers to the name; *runs: one of the architectures that are to be run. */
static bool name_exists(const struct config *config, const char *name, const bool archs[],
			bool *runs)
{
	bool exists = false;

	*runs = false;
	for (size_t i = 0; i < config->count; i++) {
		if (!is_named(&config->tests[i], name))
			continue;
		exists = true;
		*runs |= archs[config->tests[i].arch];
	}
	return exists;
}

static int check_names(const struct config *config, const struct options *o, const bool archs[],
		       struct error *err)
{
	char **names = all_names(config);
	int result = 0;

	for (size_t i = 0; o->tests && o->tests[i] && !result; i++) {
		bool runs;

		if (!name_exists(config, o->tests[i], archs, &runs))
			result = unknown("test", o->tests[i], names, err);
		else if (!runs)
			result = error_set(err,
					   "test '%s' is not for the architectures of this run: "
					   "see -a, and run_tests.sh -l for what each test is for",
					   o->tests[i]);
	}
	words_free(names);
	return result;
}

static int check_groups(const struct config *config, const struct options *o, struct error *err)
{
	char **groups = all_groups(config);
	int result = 0;

	for (size_t i = 0; o->groups && o->groups[i] && !result; i++) {
		if (!words_have(groups, o->groups[i]))
			result = unknown("group", o->groups[i], groups, err);
	}
	words_free(groups);
	return result;
}

/*
 * FNV-1a, 64 bits: where a test goes depends on its key alone, so that neither the order of
 * unittests.cfg nor what else is selected moves it to another shard.
 */
static u64 hash(const char *key)
{
	u64 h = 0xcbf29ce484222325;

	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 0x100000001b3;
	return h;
}

static bool is_in_shard(const struct test *test, const struct options *o)
{
	return !o->nr_shards || hash(test->key) % o->nr_shards == o->shard - 1;
}

int select_tests(const struct config *config, const struct options *o, const bool archs[ARCH_COUNT],
		 struct selection *s, struct error *err)
{
	bool any = false;

	memset(s, 0, sizeof(*s));
	if (check_names(config, o, archs, err) || check_groups(config, o, err))
		return -1;
	s->tests = memory_zalloc((config->count + 1) * sizeof(*s->tests));
	for (size_t i = 0; i < config->count; i++) {
		const struct test *test = &config->tests[i];

		if (!archs[test->arch] || !is_wanted(test, o))
			continue;
		any = true;
		if (is_in_shard(test, o))
			s->tests[s->count++] = test;
	}
	if (any)
		return 0;
	selection_free(s);
	return error_set(err,
			 "no test is left: %s has none for these groups and architectures; "
			 "run_tests.sh -l lists all",
			 config->path);
}

void selection_free(struct selection *s)
{
	free(s->tests);
	memset(s, 0, sizeof(*s));
}

/* ---- listing --------------------------------------------------------------------------------- */

/* "image selftest, args el=2, 4 vCPUs, EL2, alone" */
static char *describe(const struct test *t)
{
	struct text d = { 0 };

	text_printf(&d, "image %s", t->image);
	if (t->args && *t->args)
		text_printf(&d, ", args %s", t->args);
	text_printf(&d, ", %u vCPU%s", t->smp, t->smp == 1 ? "" : "s");
	if (t->el2)
		text_append(&d, ", EL2");
	if (t->timing)
		text_append(&d, ", runs alone");
	if (!t->is_default)
		text_append(&d, ", only when asked for");
	return text_take(&d);
}

void selection_print(const struct selection *s, FILE *out)
{
	int name_width = 4, group_width = 6;

	for (size_t i = 0; i < s->count; i++) {
		char *groups = words_join(s->tests[i]->groups, ",");

		name_width = MAX(name_width, (int)strlen(s->tests[i]->name));
		group_width = MAX(group_width, (int)strlen(groups));
		free(groups);
	}
	for (size_t i = 0; i < s->count; i++) {
		const struct test *t = s->tests[i];
		char *groups = words_join(t->groups, ","), *description = describe(t);

		fprintf(out, "%-*s  %-6s  %-*s  %s\n", name_width, t->name, arch_to_name(t->arch),
			group_width, *groups ? groups : "-", description);
		free(groups);
		free(description);
	}
}
