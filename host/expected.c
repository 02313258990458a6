// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the files of expected/ and finds the entry for a verdict.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "expected.h"
#include "util/memory.h"
#include "kvm/clock_rule.h"
#include "util/text.h"
#include "version_range.h"

/* A condition that was not given has no values. */
struct ranges {
	struct version_range *list;
	size_t count;
};

struct condition {
	char **archs;
	char **vmms;
	char **accels;
	char **restores;
	char **host_modules;
	struct ranges kernel;
	struct ranges qemu;
};

struct entry_reader {
	struct expectation *entry;
	struct mistakes *mistakes;
	bool has_verdict;
};

#define mistake(r, at, ...) mistake_add((r)->mistakes, (r)->entry->file, at, __VA_ARGS__)

static void read_verdict(struct entry_reader *r, const struct ini_key *key)
{
	int verdict = verdict_from_name(key->value);

	r->has_verdict = true;
	if (verdict == VERDICT_FAIL || verdict == VERDICT_ERROR || verdict == VERDICT_TIMEOUT)
		r->entry->verdict = verdict;
	else
		mistake(r, key->line, "verdict = %s: must be fail, error or timeout", key->value);
}

static void read_reason(struct entry_reader *r, const struct ini_key *key)
{
	r->entry->reason = text_copy(key->value);
}

static void read_link(struct entry_reader *r, const struct ini_key *key)
{
	r->entry->link = text_copy(key->value);
}

/* Words of which each must be one that index_of() knows (>= 0). */
static void read_names(struct entry_reader *r, const struct ini_key *key, char ***names,
		       int (*index_of)(const char *), const char *all)
{
	*names = words_split(key->value, ", \t");
	for (size_t i = 0; (*names)[i]; i++) {
		if (index_of((*names)[i]) < 0)
			mistake(r, key->line, "%s = %s: '%s' is unknown; there are: %s", key->name,
				key->value, (*names)[i], all);
	}
}

static void read_arch(struct entry_reader *r, const struct ini_key *key)
{
	read_names(r, key, &r->entry->conditions->archs, arch_from_name, "x86_64, arm64");
}

static int index_of_vmm(const char *name)
{
	for (int i = 0; i < VMM_COUNT; i++) {
		if (!strcmp(vmm_kind_name(i), name))
			return i;
	}
	return -1;
}

static void read_vmm(struct entry_reader *r, const struct ini_key *key)
{
	read_names(r, key, &r->entry->conditions->vmms, index_of_vmm, "qemu, kvm");
}

static int index_of_accel(const char *name)
{
	int accel = accel_from_name(name);

	return accel == ACCEL_AUTO ? -1 : accel;
}

static void read_accel(struct entry_reader *r, const struct ini_key *key)
{
	read_names(r, key, &r->entry->conditions->accels, index_of_accel, "kvm, tcg, icount");
}

static int index_of_restore(const char *name)
{
	struct clock_rule rule = { 0 };
	struct error ignored;

	return clock_rule_set_method(&rule, name, &ignored);
}

static void read_restore(struct entry_reader *r, const struct ini_key *key)
{
	read_names(r, key, &r->entry->conditions->restores, index_of_restore,
		   "value, offset, sequence");
}

static int index_of_module(const char *name)
{
	for (const char *p = name; *p; p++) {
		if (!(*p >= 'a' && *p <= 'z') && !(*p >= 'A' && *p <= 'Z') &&
		    !(*p >= '0' && *p <= '9') && *p != '_' && *p != '-')
			return -1;
	}
	return 0;
}

static void read_host_module(struct entry_reader *r, const struct ini_key *key)
{
	read_names(r, key, &r->entry->conditions->host_modules, index_of_module,
		   "names of modules as /sys/module has them");
}

static void read_ranges(struct entry_reader *r, const struct ini_key *key, struct ranges *ranges)
{
	/* No blank separates: ">= 6.1" is one range. */
	char **words = words_split(key->value, ",");

	for (size_t i = 0; words[i]; i++) {
		struct version_range range;

		if (version_range_parse(text_trim(words[i]), &range)) {
			mistake(r, key->line,
				"%s = %s: '%s' is no range; write it as 6.12, 6.1..6.11, <6.12, "
				"<=6.12, >6.12 or >=6.12",
				key->name, key->value, text_trim(words[i]));
			continue;
		}
		ranges->list =
			memory_resize(ranges->list, ranges->count + 1, sizeof(*ranges->list));
		ranges->list[ranges->count++] = range;
	}
	words_free(words);
}

static void read_kernel(struct entry_reader *r, const struct ini_key *key)
{
	read_ranges(r, key, &r->entry->conditions->kernel);
}

static void read_qemu(struct entry_reader *r, const struct ini_key *key)
{
	read_ranges(r, key, &r->entry->conditions->qemu);
}

static const struct {
	const char *name;
	void (*read)(struct entry_reader *r, const struct ini_key *key);
} expected_keys[] = {
	{ "verdict", read_verdict }, { "reason", read_reason },
	{ "link", read_link },	     { "arch", read_arch },
	{ "vmm", read_vmm },	     { "accel", read_accel },
	{ "kernel", read_kernel },   { "host-module", read_host_module },
	{ "qemu", read_qemu },	     { "restore", read_restore },
};

static void read_key(struct entry_reader *r, const struct ini_key *key)
{
	const char *names[ARRAY_SIZE(expected_keys) + 1] = { 0 };
	const char *nearest;

	for (size_t i = 0; i < ARRAY_SIZE(expected_keys); i++) {
		names[i] = expected_keys[i].name;
		if (strcmp(expected_keys[i].name, key->name))
			continue;
		if (!words_any(key->value, ", \t"))
			mistake(r, key->line, "key '%s' has no value", key->name);
		else
			expected_keys[i].read(r, key);
		return;
	}
	nearest = text_nearest(key->name, names);
	if (nearest) {
		mistake(r, key->line, "unknown key '%s'; did you mean '%s'?", key->name, nearest);
	} else {
		char *all = words_join((char *const *)names, ", ");

		mistake(r, key->line, "unknown key '%s'; the keys are: %s", key->name, all);
		free(all);
	}
}

static void ranges_free(struct ranges *ranges)
{
	free(ranges->list);
}

static void expectation_free(struct expectation *entry)
{
	struct condition *c = entry->conditions;

	free(entry->subject);
	free(entry->reason);
	free(entry->link);
	free(entry->file);
	words_free(c->archs);
	words_free(c->vmms);
	words_free(c->accels);
	words_free(c->restores);
	words_free(c->host_modules);
	ranges_free(&c->kernel);
	ranges_free(&c->qemu);
	free(c);
}

static void check_subject(struct entry_reader *r)
{
	const char *subject = r->entry->subject;
	const char *dot = strchr(subject, '.');
	const char *slash = strchr(subject, '/');

	if (slash && (!dot || slash < dot))
		mistake(r, r->entry->line,
			"[%s]: the section is test or test.check; an architecture is a condition: "
			"arch = %.*s",
			subject, (int)(slash - subject), subject);
	else if (dot == subject || (dot && !dot[1]))
		mistake(r, r->entry->line, "[%s]: the section must be test or test.check", subject);
}

static void read_section(struct expectations *e, const char *file,
			 const struct ini_section *section, struct mistakes *m)
{
	struct expectation entry = {
		.subject = text_copy(section->name),
		.verdict = VERDICT_FAIL,
		.file = text_copy(file),
		.line = section->line,
		.conditions = memory_zalloc(sizeof(struct condition)),
	};
	struct entry_reader r = { .entry = &entry, .mistakes = m };

	check_subject(&r);
	for (size_t i = 0; i < section->nr_keys; i++)
		read_key(&r, &section->keys[i]);
	if (!r.has_verdict)
		mistake(&r, section->line,
			"[%s] has no verdict: add verdict = fail, error or timeout", section->name);
	if (!entry.reason)
		mistake(&r, section->line, "[%s] has no reason: say why it is known to happen",
			section->name);
	e->list = memory_resize(e->list, e->count + 1, sizeof(*e->list));
	e->list[e->count++] = entry;
}

static void read_file(struct expectations *e, const char *file, struct mistakes *m)
{
	struct ini ini;

	ini_read(file, &ini, m);
	for (size_t i = 0; i < ini.nr_sections; i++)
		read_section(e, file, &ini.sections[i], m);
	ini_free(&ini);
}

static int is_config(const struct dirent *d)
{
	return d->d_name[0] != '.' && text_ends_with(d->d_name, ".cfg");
}

int expected_read(const char *dir, struct expectations *e, struct mistakes *m)
{
	size_t mistakes_before = m->count;
	struct dirent **files;
	int count;

	*e = (struct expectations){ 0 };
	count = scandir(dir, &files, is_config, alphasort);
	if (count < 0) {
		mistake_add(m, dir, 0, "the directory of expected results cannot be read: %s",
			    strerror(errno));
		return -1;
	}
	for (int i = 0; i < count; i++) {
		char *path = text_format("%s/%s", dir, files[i]->d_name);

		read_file(e, path, m);
		free(path);
		free(files[i]);
	}
	free(files);
	if (m->count == mistakes_before)
		return 0;
	expected_free(e);
	return -1;
}

int expected_load(const char *dir, struct expectations *e)
{
	struct mistakes m = { 0 };
	int ret = expected_read(dir, e, &m);

	mistakes_tell(&m);
	mistakes_free(&m);
	return ret;
}

void expected_free(struct expectations *e)
{
	for (size_t i = 0; i < e->count; i++)
		expectation_free(&e->list[i]);
	free(e->list);
	*e = (struct expectations){ 0 };
}

static bool name_holds(char *const *names, const char *name)
{
	return !names || (name && words_have(names, name));
}

static bool ranges_hold(const struct ranges *ranges, const char *version)
{
	struct version v;

	if (!ranges->count)
		return true;
	if (!version || version_parse(version, &v))
		return false;
	for (size_t i = 0; i < ranges->count; i++) {
		if (version_in_range(&v, &ranges->list[i]))
			return true;
	}
	return false;
}

/* /sys/module has underscores where a module's file name may have dashes. */
static bool modules_hold(char *const *modules, const char *dir)
{
	bool found = false;

	if (!modules)
		return true;
	for (size_t i = 0; modules[i] && !found; i++) {
		char *path = text_format("%s/%s", dir ? dir : "/sys/module", modules[i]);

		for (char *p = path + strlen(path) - strlen(modules[i]); *p; p++) {
			if (*p == '-')
				*p = '_';
		}
		found = !access(path, F_OK);
		free(path);
	}
	return found;
}

static bool conditions_hold(const struct condition *condition, const struct circumstances *c)
{
	return name_holds(condition->archs, arch_to_name(c->arch)) &&
	       name_holds(condition->vmms, c->vmm) &&
	       name_holds(condition->accels, accel_to_name(c->accel)) &&
	       name_holds(condition->restores, c->restore) &&
	       ranges_hold(&condition->kernel, c->kernel) &&
	       ranges_hold(&condition->qemu, c->qemu_version) &&
	       modules_hold(condition->host_modules, c->modules_dir);
}

/* "test" matches the test's own verdict alone, "test.check" a check; names of tests have no dot. */
static bool subject_matches(const char *subject, const char *test, const char *check)
{
	const char *dot = strchr(subject, '.');
	char *test_pattern;
	bool matches;

	if (!check != !dot)
		return false;
	test_pattern = dot ? text_copy_bytes(subject, dot - subject) : text_copy(subject);
	matches = !fnmatch(test_pattern, test, 0) && (!check || !fnmatch(dot + 1, check, 0));
	free(test_pattern);
	return matches;
}

bool expectation_names_test(const struct expectation *e, const struct test *test)
{
	const char *dot = strchr(e->subject, '.');
	char *pattern = dot ? text_copy_bytes(e->subject, dot - e->subject) : text_copy(e->subject);
	bool matches = !fnmatch(pattern, test->name, 0);

	free(pattern);
	return matches && name_holds(e->conditions->archs, arch_to_name(test->arch));
}

bool expectation_may_concern(const struct expectation *e, const struct test *test,
			     const char *check)
{
	return subject_matches(e->subject, test->name, check) &&
	       name_holds(e->conditions->archs, arch_to_name(test->arch));
}

struct expectation *expected_find(struct expectations *e, const char *test, const char *check,
				  const struct circumstances *c)
{
	for (size_t i = 0; i < e->count; i++) {
		struct expectation *entry = &e->list[i];

		if (subject_matches(entry->subject, test, check) &&
		    conditions_hold(entry->conditions, c))
			return entry;
	}
	return NULL;
}
