// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Asks the host what it is. Everything may be missing: in kernel mode's initramfs most of it is.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch.h"
#include "environment.h"
#include "results_json.h"
#include "util/process.h"
#include "util/text.h"
#include "version.h"

#define GIT_TIMEOUT_NS 3000000000ULL

/* The first line of a file without blanks at its ends, or NULL. Malloced. */
static char *first_line(const char *path)
{
	FILE *file = fopen(path, "re");
	char buf[4096];
	char *line;

	if (!file)
		return NULL;
	line = fgets(buf, sizeof(buf), file);
	fclose(file);
	return line ? text_copy(text_trim(line)) : NULL;
}

/* Takes value over. */
static void set(json_t *object, const char *key, char *value)
{
	if (value && *value)
		json_object_set_new(object, key, json_text(value));
	free(value);
}

/* The value of the first line "key : value" of /proc/cpuinfo, or NULL. */
static char *cpuinfo(const char *key)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char *line = NULL, *value = NULL;
	size_t cap = 0;

	if (!file)
		return NULL;
	while (!value && getline(&line, &cap, file) > 0) {
		char *colon = strchr(line, ':');

		if (!colon)
			continue;
		*colon = '\0';
		if (!strcmp(text_trim(line), key))
			value = text_copy(text_trim(colon + 1));
	}
	free(line);
	fclose(file);
	return value;
}

/* x86 has a name; arm64 has the numbers of MIDR_EL1 (arch/arm64/kernel/cpuinfo.c). */
static char *cpu_model(void)
{
	static const char *const midr[] = { "CPU implementer", "CPU part", "CPU variant",
					    "CPU revision" };
	char *name = cpuinfo("model name");
	struct text t = { 0 };

	if (name)
		return name;
	for (size_t i = 0; i < ARRAY_SIZE(midr); i++) {
		char *value = cpuinfo(midr[i]);

		if (value)
			text_printf(&t, "%s%s %s", t.len ? ", " : "", midr[i] + strlen("CPU "),
				    value);
		free(value);
	}
	return text_take(&t);
}

static int is_visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static json_t *module_parameters(const char *module)
{
	char *dir = text_format("/sys/module/%s/parameters", module);
	json_t *object = json_object();
	struct dirent **names;
	int count = scandir(dir, &names, is_visible, alphasort);

	for (int i = 0; i < count; i++) {
		char *path = text_format("%s/%s", dir, names[i]->d_name);

		set(object, names[i]->d_name, first_line(path));
		free(path);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	free(dir);
	return object;
}

/* kvm and whatever implements it: kvm_intel, kvm_amd, kvm_pvm, … */
static int is_kvm(const struct dirent *d)
{
	return !strcmp(d->d_name, "kvm") || text_starts_with(d->d_name, "kvm_");
}

static json_t *kvm_modules(void)
{
	json_t *object = json_object();
	struct dirent **names;
	int count = scandir("/sys/module", &names, is_kvm, alphasort);

	for (int i = 0; i < count; i++) {
		json_object_set_new(object, names[i]->d_name, module_parameters(names[i]->d_name));
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	return object;
}

static json_t *host_json(void)
{
	json_t *host = json_object();
	struct utsname u;

	json_object_set_new(host, "arch", json_string(arch_to_name(arch_native())));
	set(host, "kernel", text_copy(environment_kernel()));
	if (!uname(&u)) {
		set(host, "kernel_version", text_copy(u.version));
		set(host, "machine", text_copy(u.machine));
	}
	set(host, "cmdline", first_line("/proc/cmdline"));
	set(host, "cpu", cpu_model());
	json_object_set_new(host, "cpus", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
	set(host, "smt", first_line("/sys/devices/system/cpu/smt/control"));
	set(host, "governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
	set(host, "clocksource",
	    first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
	json_object_set_new(host, "kvm", kvm_modules());
	return host;
}

/* What "make install" and "make dist" noted of the checkout they were made from, or NULL. */
static char *noted_version(const char *root)
{
	char *path = text_format("%s/git-version", root);
	char *version = first_line(path);

	free(path);
	return version;
}

/* "v0.1-3-gabcdef-dirty" of the checkout, or NULL where nothing tells. */
static char *git_version(void)
{
	const char *root = getenv("KTT_ROOT");
	char *git_dir = text_format("%s/.git", root ? root : ".");
	char *argv[] = { "git",	     "-C",	 (char *)(root ? root : "."),
			 "describe", "--always", "--tags",
			 "--dirty",  NULL };
	struct text out = { 0 }, errors = { 0 };
	struct error err;
	char *version = NULL;
	int status;

	if (!access(git_dir, F_OK) &&
	    !process_capture(argv, NULL, GIT_TIMEOUT_NS, &out, &errors, &status, &err) &&
	    WIFEXITED(status) && !WEXITSTATUS(status) && out.len)
		version = text_copy(text_trim(out.data));
	text_free(&out);
	text_free(&errors);
	free(git_dir);
	return version ? version : noted_version(root ? root : ".");
}

json_t *environment_collect(void)
{
	json_t *environment = json_object();
	json_t *suite = json_object();

	json_object_set_new(suite, "version", json_string(SUITE_VERSION));
	set(suite, "git", git_version());
	json_object_set_new(environment, "host", host_json());
	json_object_set_new(environment, "suite", suite);
	return environment;
}

const char *environment_kernel(void)
{
	static struct utsname u;

	return uname(&u) ? "" : u.release;
}
