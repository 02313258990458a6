// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares environments field by field. A field that one of the two lacks is a difference; the
 * kernel is none: it is what is mostly compared.
 */
#include "compare_environment.h"

#include <stdlib.h>
#include <string.h>
#include "arch.h"

/* Where a field is looked for, and whose figures it moves. */
enum place {
	PLACE_HOST,    /* environment.host; instructions are counted alike on every host */
	PLACE_SUITE,   /* environment.suite */
	PLACE_TARGET,  /* the element of targets of this architecture */
	PLACE_MACHINE, /* environment.kernel_mode.ARCH */
	PLACE_INNER,   /* its field host */
	PLACE_OUTER,   /* its field outer */
};

static const struct field {
	enum place place;
	const char *name;
	const char *what;
	bool fatal;
} fields[] = {
	{ PLACE_HOST, "cpu", "CPU of the host", true },
	{ PLACE_TARGET, "vmm", "VMM", true },
	{ PLACE_TARGET, "accel", "accelerator", true },
	{ PLACE_TARGET, "cpu", "CPU model", true },
	{ PLACE_OUTER, "accel", "accelerator of the kernel's machine", true },
	{ PLACE_OUTER, "cpu", "CPU model of the kernel's machine", true },
	{ PLACE_HOST, "governor", "frequency governor" },
	{ PLACE_HOST, "smt", "SMT" },
	{ PLACE_HOST, "cpus", "CPUs online" },
	{ PLACE_HOST, "clocksource", "clock source" },
	{ PLACE_HOST, "cmdline", "kernel command line of the host" },
	{ PLACE_HOST, "kvm", "parameters of KVM's modules" },
	{ PLACE_TARGET, "vmm_version", "version of the VMM" },
	{ PLACE_OUTER, "qemu", "QEMU of the kernel's machine" },
	{ PLACE_OUTER, "smp", "CPUs of the kernel's machine" },
	{ PLACE_MACHINE, "command_line", "kernel command line" },
	{ PLACE_INNER, "kvm", "parameters of KVM's modules" },
	{ PLACE_SUITE, "version", "version of the suite" },
	{ PLACE_SUITE, "git", "commit of the suite" },
};

static const json_t *target_of(const json_t *head, const char *arch)
{
	const json_t *targets = json_object_get(head, "targets");

	for (size_t i = 0; i < json_array_size(targets); i++) {
		const json_t *target = json_array_get(targets, i);
		const char *name = json_string_value(json_object_get(target, "arch"));

		if (name && !strcmp(name, arch))
			return target;
	}
	return NULL;
}

static const json_t *machine_of(const json_t *head, const char *arch)
{
	const json_t *environment = json_object_get(head, "environment");

	return json_object_get(json_object_get(environment, "kernel_mode"), arch);
}

static const json_t *place_of(const json_t *head, const char *arch, enum place place)
{
	const json_t *environment = json_object_get(head, "environment");

	switch (place) {
	case PLACE_HOST:
		return json_object_get(environment, "host");
	case PLACE_SUITE:
		return json_object_get(environment, "suite");
	case PLACE_TARGET:
		return target_of(head, arch);
	case PLACE_MACHINE:
		return machine_of(head, arch);
	case PLACE_INNER:
		return json_object_get(machine_of(head, arch), "host");
	case PLACE_OUTER:
		return json_object_get(machine_of(head, arch), "outer");
	}
	return NULL;
}

/* In kernel mode the target's version is the kernel's, and its CPU the machine's. */
static bool is_of_kernel(const struct field *f, const json_t *old, const json_t *new,
			 const char *arch)
{
	return f->place == PLACE_TARGET && strcmp(f->name, "vmm") != 0 && machine_of(old, arch) &&
	       machine_of(new, arch);
}

/* A boot loader's words about which kernel file it took belong to the kernel. */
static json_t *without_boot_words(const json_t *value)
{
	char **words = words_split(json_string_value(value), " ");
	struct text kept = { 0 };
	json_t *result;

	for (size_t i = 0; words[i]; i++) {
		if (!text_starts_with(words[i], "BOOT_IMAGE=") &&
		    !text_starts_with(words[i], "initrd="))
			text_printf(&kept, "%s%s", kept.len ? " " : "", words[i]);
	}
	result = json_string(text_string(&kept));
	words_free(words);
	text_free(&kept);
	return result;
}

/* A new reference, or NULL where there is no such field. */
static json_t *value_of(const struct field *f, const json_t *head, const char *arch)
{
	json_t *value = json_object_get(place_of(head, arch, f->place), f->name);

	if (json_is_string(value) && !strcmp(f->name, "cmdline"))
		return without_boot_words(value);
	return json_incref(value);
}

static char *value_text(const json_t *value)
{
	if (!value)
		return text_copy("not known");
	if (json_is_string(value))
		return text_format("'%s'", json_string_value(value));
	return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
}

/* Of modules with their parameters, those that both have and have differently. */
static void compare_parameters(const json_t *before, const json_t *after, const char *arch,
			       struct text *to)
{
	const char *module, *name;
	json_t *parameters, *value;

	json_object_foreach((json_t *)before, module, parameters) {
		json_object_foreach(parameters, name, value) {
			const json_t *now = json_object_get(json_object_get(after, module), name);

			if (now && !json_equal(value, now))
				text_printf(to, "%s%sparameter %s of %s: '%s', then '%s'\n",
					    arch ? arch : "", arch ? ": " : "", name, module,
					    json_string_value(value), json_string_value(now));
		}
	}
}

/* arch is NULL where the place is the same for all. */
static void compare_field(const struct field *f, const json_t *old, const json_t *new,
			  const char *arch, struct environment_differences *d)
{
	json_t *before = value_of(f, old, arch), *after = value_of(f, new, arch);
	struct text *to = f->fatal ? &d->fatal : &d->warnings;
	bool same = before && after ? json_equal(before, after) : before == after;

	if (json_is_object(before) && json_is_object(after)) {
		compare_parameters(before, after, arch, to);
	} else if (!same) {
		char *before_text = value_text(before), *after_text = value_text(after);

		text_printf(to, "%s%s%s: %s, then %s\n", arch ? arch : "", arch ? ": " : "",
			    f->what, before_text, after_text);
		free(before_text);
		free(after_text);
	}
	json_decref(before);
	json_decref(after);
}

void environment_compare(const json_t *old, const json_t *new, bool exact,
			 struct environment_differences *d)
{
	*d = (struct environment_differences){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct field *f = &fields[i];

		if (f->place == PLACE_HOST && exact)
			continue;
		if (f->place == PLACE_HOST || f->place == PLACE_SUITE) {
			compare_field(f, old, new, NULL, d);
			continue;
		}
		for (int arch = 0; arch < ARCH_COUNT; arch++) {
			const char *name = arch_to_name(arch);

			/* What only one of them ran is not compared at all. */
			if (target_of(old, name) && target_of(new, name) &&
			    !is_of_kernel(f, old, new, name))
				compare_field(f, old, new, name, d);
		}
	}
}

void environment_differences_free(struct environment_differences *d)
{
	text_free(&d->fatal);
	text_free(&d->warnings);
}
