// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes tests of the sections of unittests.cfg.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "config.h"
#include "ini.h"
#include "cost_limits.h"
#include "kvm/fault.h"
#include "util/memory.h"
#include "util/text.h"

/* The image keeps 1023 bytes of command line (lib/args.h); the runner adds words of its own. */
#define ARGS_MAX     900
#define NAME_MAX_LEN 64

#define ALL_BITS(count) ((1u << (count)) - 1)

/* What one section says, before it becomes one test an architecture. */
struct section {
	struct test test;
	unsigned archs; /* bit set of enum arch */
	const char *file;
	struct mistakes *mistakes;
};

#define mistake(s, key, ...) mistake_add((s)->mistakes, (s)->file, (key)->line, __VA_ARGS__)

static bool is_name(const char *s, const char *more)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789-";

	if (!*s || strlen(s) > NAME_MAX_LEN)
		return false;
	for (; *s; s++) {
		if (!strchr(plain, *s) && !strchr(more, *s))
			return false;
	}
	return true;
}

static void set_number(struct section *s, const struct ini_key *key, u64 min, u64 max,
		       unsigned *value)
{
	u64 number;

	if (text_to_u64(key->value, min, max, &number))
		mistake(s, key, "%s = %s: must be a whole number from %llu to %llu", key->name,
			key->value, (unsigned long long)min, (unsigned long long)max);
	else
		*value = number;
}

static void set_bool(struct section *s, const struct ini_key *key, bool *value)
{
	if (!strcmp(key->value, "yes"))
		*value = true;
	else if (!strcmp(key->value, "no"))
		*value = false;
	else
		mistake(s, key, "%s = %s: must be yes or no", key->name, key->value);
}

static void set_string(char **field, const char *value)
{
	free(*field);
	*field = text_copy(value);
}

/* Names with commas or blanks between them, each an index below count, to a set of bits. */
static void set_bits(struct section *s, const struct ini_key *key, const char *(*name_of)(int),
		     int count, unsigned allowed, unsigned *bits)
{
	char **words = words_split(key->value, ", \t");
	unsigned set = 0;

	for (size_t i = 0; words[i]; i++) {
		struct text names = { 0 };
		int found = -1;

		for (int j = 0; j < count; j++) {
			if (!(allowed & BIT(j)))
				continue;
			text_printf(&names, "%s%s", names.len ? ", " : "", name_of(j));
			if (!strcmp(name_of(j), words[i]))
				found = j;
		}
		if (found < 0)
			mistake(s, key, "%s = %s: '%s' is unknown; there are: %s", key->name,
				key->value, words[i], text_string(&names));
		else
			set |= BIT(found);
		text_free(&names);
	}
	if (set)
		*bits = set;
	words_free(words);
}

static const char *name_of_arch(int i)
{
	return arch_to_name(i);
}

static const char *name_of_accel(int i)
{
	return accel_to_name(i);
}

static const char *name_of_vmm(int i)
{
	return vmm_kind_name(i);
}

static void set_arch(struct section *s, const struct ini_key *key)
{
	set_bits(s, key, name_of_arch, ARCH_COUNT, ALL_BITS(ARCH_COUNT), &s->archs);
}

static void set_image(struct section *s, const struct ini_key *key)
{
	if (is_name(key->value, "_"))
		set_string(&s->test.image, key->value);
	else
		mistake(s, key,
			"image = %s: must be the C file's name without directory and suffix "
			"(a-z, 0-9, '-' and '_', at most %d)",
			key->value, NAME_MAX_LEN);
}

static void set_args(struct section *s, const struct ini_key *key)
{
	if (strlen(key->value) > ARGS_MAX)
		mistake(s, key, "args: %zu bytes, more than %d", strlen(key->value), ARGS_MAX);
	else
		set_string(&s->test.args, key->value);
}

static void set_smp(struct section *s, const struct ini_key *key)
{
	set_number(s, key, 1, 64, &s->test.smp);
}

static void set_maxcpus(struct section *s, const struct ini_key *key)
{
	set_number(s, key, 2, 64, &s->test.maxcpus);
}

static void set_memory(struct section *s, const struct ini_key *key)
{
	set_number(s, key, 16, 65536, &s->test.memory_mib);
}

static void set_groups(struct section *s, const struct ini_key *key)
{
	char **groups = words_split(key->value, ", \t");

	for (size_t i = 0; groups[i]; i++) {
		if (!is_name(groups[i], ""))
			mistake(s, key, "groups: '%s' is no name (a-z, 0-9 and '-', at most %d)",
				groups[i], NAME_MAX_LEN);
	}
	words_free(s->test.groups);
	s->test.groups = groups;
}

static void set_timeout(struct section *s, const struct ini_key *key)
{
	set_number(s, key, 1, 86400, &s->test.timeout_s);
}

static void set_timing(struct section *s, const struct ini_key *key)
{
	set_bool(s, key, &s->test.timing);
}

static void set_default(struct section *s, const struct ini_key *key)
{
	set_bool(s, key, &s->test.is_default);
}

static void set_el2(struct section *s, const struct ini_key *key)
{
	set_bool(s, key, &s->test.el2);
}

static void set_counter_offset(struct section *s, const struct ini_key *key)
{
	if (text_to_u64(key->value, 1, UINT64_MAX, &s->test.counter_offset))
		mistake(s, key, "counter-offset = %s: must be a whole number of ticks, above 0",
			key->value);
}

static void set_cpu(struct section *s, const struct ini_key *key)
{
	set_string(&s->test.cpu, key->value);
}

static void set_machine(struct section *s, const struct ini_key *key)
{
	set_string(&s->test.machine, key->value);
}

static void set_vmm(struct section *s, const struct ini_key *key)
{
	set_bits(s, key, name_of_vmm, VMM_COUNT, ALL_BITS(VMM_COUNT), &s->test.vmms);
}

static void set_accel(struct section *s, const struct ini_key *key)
{
	set_bits(s, key, name_of_accel, ACCEL_COUNT, ALL_BITS(ACCEL_COUNT) & ~BIT(ACCEL_AUTO),
		 &s->test.accels);
}

/* Which architectures have it, add_test() finds. */
static void set_fault(struct section *s, const struct ini_key *key)
{
	words_free(s->test.faults);
	s->test.faults = words_split(key->value, ", \t");
}

static void set_limit(struct section *s, const struct ini_key *key)
{
	struct error err;

	if (limits_check_text(key->value, &err))
		mistake(s, key, "limit: %s", err.text);
	else
		set_string(&s->test.limits, key->value);
}

static const struct {
	const char *name;
	void (*set)(struct section *s, const struct ini_key *key);
} config_keys[] = {
	{ "arch", set_arch },
	{ "image", set_image },
	{ "args", set_args },
	{ "smp", set_smp },
	{ "maxcpus", set_maxcpus },
	{ "memory", set_memory },
	{ "groups", set_groups },
	{ "timeout", set_timeout },
	{ "timing", set_timing },
	{ "default", set_default },
	{ "el2", set_el2 },
	{ "cpu", set_cpu },
	{ "machine", set_machine },
	{ "limit", set_limit },
	{ "vmm", set_vmm },
	{ "accel", set_accel },
	{ "counter-offset", set_counter_offset },
	{ "fault", set_fault },
};

static void unknown_key(struct section *s, const struct ini_key *key)
{
	const char *names[ARRAY_SIZE(config_keys) + 1] = { 0 };
	const char *nearest;
	char *all;

	for (size_t i = 0; i < ARRAY_SIZE(config_keys); i++)
		names[i] = config_keys[i].name;
	nearest = text_nearest(key->name, names);
	all = words_join((char *const *)names, ", ");
	if (nearest)
		mistake(s, key, "unknown key '%s'; did you mean '%s'?", key->name, nearest);
	else
		mistake(s, key, "unknown key '%s'; the keys are: %s", key->name, all);
	free(all);
}

static void read_key(struct section *s, const struct ini_key *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(config_keys); i++) {
		if (strcmp(config_keys[i].name, key->name))
			continue;
		if (!words_any(key->value, ", \t") && config_keys[i].set != set_args)
			mistake(s, key, "key '%s' has no value", key->name);
		else
			config_keys[i].set(s, key);
		return;
	}
	unknown_key(s, key);
}

static void test_free(struct test *test)
{
	free(test->name);
	free(test->key);
	free(test->image);
	free(test->args);
	words_free(test->groups);
	free(test->cpu);
	free(test->machine);
	free(test->limits);
	words_free(test->faults);
}

static const struct test *find_test(const struct config *config, const char *key)
{
	for (size_t i = 0; i < config->count; i++) {
		if (!strcmp(config->tests[i].key, key))
			return &config->tests[i];
	}
	return NULL;
}

static void check_faults(struct section *s, enum arch arch)
{
	struct error err;

	for (size_t i = 0; s->test.faults && s->test.faults[i]; i++) {
		if (fault_set_add(NULL, arch, s->test.faults[i], &err))
			mistake(s, &s->test, "fault = %s: %s", s->test.faults[i], err.text);
	}
}

/* Adds the section's test for one architecture: a copy of all that it says. */
static void add_test(struct config *config, struct section *s, enum arch arch)
{
	struct test test = s->test;
	const struct test *other;

	check_faults(s, arch);
	test.arch = arch;
	test.key = text_format("%s/%s", arch_to_name(arch), s->test.name);
	other = find_test(config, test.key);
	if (other) {
		mistake(s, &s->test,
			"test '%s' for %s is there already, in line %u; a name may stand twice "
			"only for different architectures (arch = …)",
			s->test.name, arch_to_name(arch), other->line);
		free(test.key);
		return;
	}
	test.name = text_copy(s->test.name);
	test.image = text_copy(s->test.image ? s->test.image : s->test.name);
	test.args = text_copy(s->test.args ? s->test.args : "");
	test.groups = words_copy(s->test.groups);
	test.cpu = text_copy(s->test.cpu);
	test.machine = text_copy(s->test.machine);
	test.limits = text_copy(s->test.limits);
	test.faults = s->test.faults ? words_copy(s->test.faults) : NULL;
	config->tests = memory_resize(config->tests, config->count + 1, sizeof(*config->tests));
	config->tests[config->count++] = test;
}

static void read_section(struct config *config, const struct ini_section *section,
			 struct mistakes *m)
{
	struct section s = {
		.test = { .name = text_copy(section->name),
			  .smp = 1,
			  .memory_mib = 32,
			  .timeout_s = 30,
			  .is_default = true,
			  .vmms = ALL_BITS(VMM_COUNT),
			  .accels = ALL_BITS(ACCEL_COUNT),
			  .line = section->line },
		.archs = ALL_BITS(ARCH_COUNT),
		.file = config->path,
		.mistakes = m,
	};

	if (!is_name(section->name, ""))
		mistake(&s, section, "'%s' is no name for a test (a-z, 0-9 and '-', at most %d)",
			section->name, NAME_MAX_LEN);
	for (size_t i = 0; i < section->nr_keys; i++)
		read_key(&s, &section->keys[i]);
	if (s.test.el2 && s.archs != BIT(ARCH_ARM64))
		mistake(&s, section, "test '%s' has el2 = yes, which needs arch = arm64",
			section->name);
	if (s.test.maxcpus && s.test.maxcpus <= s.test.smp)
		mistake(&s, section,
			"test '%s' has maxcpus = %u, which has to be more than its smp = %u",
			section->name, s.test.maxcpus, s.test.smp);
	if (s.test.counter_offset && (s.archs != BIT(ARCH_ARM64) || s.test.vmms != BIT(VMM_KVM)))
		mistake(&s, section,
			"test '%s' has a counter-offset, which needs arch = arm64 and vmm = kvm",
			section->name);
	for (int arch = 0; arch < ARCH_COUNT; arch++) {
		if (s.archs & BIT(arch))
			add_test(config, &s, arch);
	}
	test_free(&s.test);
}

int config_read(const char *path, struct config *config, struct mistakes *m)
{
	size_t mistakes_before = m->count;
	struct ini ini;

	*config = (struct config){ .path = text_copy(path) };
	if (!ini_read(path, &ini, m) && !ini.nr_sections)
		mistake_add(m, path, 0, "has no test: write a section, [name]");
	for (size_t i = 0; i < ini.nr_sections; i++)
		read_section(config, &ini.sections[i], m);
	ini_free(&ini);
	if (m->count == mistakes_before)
		return 0;
	config_free(config);
	return -1;
}

int config_load(const char *path, struct config *config)
{
	struct mistakes m = { 0 };
	int ret = config_read(path, config, &m);

	mistakes_tell(&m);
	mistakes_free(&m);
	return ret;
}

static void add_fault(struct test *test, const char *fault)
{
	size_t count = test->faults ? words_count(test->faults) : 0;

	test->faults = memory_resize(test->faults, count + 2, sizeof(*test->faults));
	test->faults[count] = text_copy(fault);
	test->faults[count + 1] = NULL;
}

void config_add_faults(struct config *config, char *const *faults)
{
	struct error ignored;

	for (size_t i = 0; faults && faults[i]; i++) {
		for (size_t t = 0; t < config->count; t++) {
			if (!fault_set_add(NULL, config->tests[t].arch, faults[i], &ignored))
				add_fault(&config->tests[t], faults[i]);
		}
	}
}

void config_free(struct config *config)
{
	for (size_t i = 0; i < config->count; i++)
		test_free(&config->tests[i]);
	free(config->tests);
	free(config->path);
	*config = (struct config){ 0 };
}

bool test_in_group(const struct test *test, const char *group)
{
	return words_have(test->groups, group);
}
