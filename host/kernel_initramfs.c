// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packs the initramfs of kernel mode's machine.
 */
#include "kernel_initramfs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "image.h"
#include "initramfs.h"
#include "modules.h"
#include "pid1.h"
#include "util/text.h"

#define SUITE_DIR "/suite"

static int add_to_suite(struct initramfs *fs, const char *name, const char *source,
			struct error *err)
{
	char *path = text_format(SUITE_DIR "/%s", name);
	int result = initramfs_add_file(fs, path, 0644, source, err);

	free(path);
	return result;
}

static int add_expected(struct initramfs *fs, const char *dir, struct error *err)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	int result = 0;

	if (!d)
		return error_set(err, "%s: %s", dir, strerror(errno));
	while (result == 0 && (entry = readdir(d))) {
		char *name, *source;

		if (!text_ends_with(entry->d_name, ".cfg"))
			continue;
		name = text_format("expected/%s", entry->d_name);
		source = text_format("%s/%s", dir, entry->d_name);
		result = add_to_suite(fs, name, source, err);
		free(name);
		free(source);
	}
	closedir(d);
	return result;
}

static bool is_first_with_image(const struct selection *s, size_t test)
{
	for (size_t i = 0; i < test; i++) {
		if (s->tests[i]->arch == s->tests[test]->arch &&
		    strcmp(s->tests[i]->image, s->tests[test]->image) == 0)
			return false;
	}
	return true;
}

/* An image that is missing is left out: its test is then an ERROR in the machine, and says so. */
static int add_images(struct initramfs *fs, enum arch arch, const struct options *o,
		      const struct selection *s, struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < s->count && result == 0; i++) {
		char *source, *path;

		if (s->tests[i]->arch != arch || !is_first_with_image(s, i))
			continue;
		source = image_path(o->images, arch, s->tests[i]->image);
		path = image_path(SUITE_DIR "/build", arch, s->tests[i]->image);
		if (image_check(source, arch, err) == 0)
			result = initramfs_add_program(fs, path, 0644, source, err);
		free(source);
		free(path);
	}
	return result;
}

static int add_host_programs(struct initramfs *fs, enum arch arch, const char *images,
			     struct error *err)
{
	char *runner = text_format("%s/%s/host/runner", images, arch_to_name(arch));
	char *vmm = text_format("%s/%s/host/vmm", images, arch_to_name(arch));
	char *vmm_path = text_format(SUITE_DIR "/build/%s/host/vmm", arch_to_name(arch));
	int result = initramfs_add_program(fs, "/init", 0755, runner, err);

	if (result == 0)
		result = initramfs_add_program(fs, vmm_path, 0755, vmm, err);
	if (result)
		error_prefix(err,
			     "kernel mode needs the host programs for %s (./configure says "
			     "what is missing to build them)",
			     arch_to_name(arch));
	free(runner);
	free(vmm);
	free(vmm_path);
	return result;
}

/* Each word ends in a NUL. */
static void add_word(struct text *args, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void add_word(struct text *args, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_vprintf(args, fmt, ap);
	va_end(ap);
	text_append_char(args, '\0');
}

static void add_restore_rule(struct text *args, const struct clock_rule *rule)
{
	char *account = clock_rule_account_text(rule);

	if (rule->method)
		add_word(args, "--restore=%s", restore_method_name(rule->method));
	if (account)
		add_word(args, "--account=%s", account);
	if (rule->preempt_us)
		add_word(args, "--preempt-us=%llu", (unsigned long long)rule->preempt_us);
	free(account);
}

static int add_args(struct initramfs *fs, const struct kernel_host *host, const struct options *o,
		    const struct selection *s, struct error *err)
{
	/* Under icount tests beside one another take turns in an order that nothing fixes. */
	unsigned int jobs = host->outer.accel == ACCEL_ICOUNT ? 1 : MIN(o->jobs, host->smp);
	struct text args = { 0 };
	char **policies;
	int result;

	add_word(&args, "--stream");
	add_word(&args, "--vmm=kvm");
	add_word(&args, "--accel=kvm");
	add_word(&args, "--arch=%s", arch_to_name(host->arch));
	add_word(&args, "--config=" SUITE_DIR "/unittests.cfg");
	add_word(&args, "--expected=" SUITE_DIR "/expected");
	add_word(&args, "--images=" SUITE_DIR "/build");
	add_word(&args, "--output=/results");
	add_word(&args, "--outer-qemu=%s", host->outer.probe.version);
	add_word(&args, "--jobs=%u", jobs);
	if (o->bench) {
		add_word(&args, "--bench");
		add_word(&args, "--boots=%u", o->repeat);
		add_word(&args, "--seed=%llu", (unsigned long long)o->seed);
	} else {
		add_word(&args, "--repeat=%u", o->repeat);
	}
	if (o->timeout_s)
		add_word(&args, "--timeout=%u", o->timeout_s);
	add_restore_rule(&args, &o->restore_rule);
	policies = words_split(o->policy ? o->policy : "", " ");
	for (size_t i = 0; policies[i]; i++)
		add_word(&args, "--policy=%s", policies[i]);
	words_free(policies);
	if (o->append)
		add_word(&args, "--append=%s", o->append);
	for (size_t i = 0; o->faults && o->faults[i]; i++)
		add_word(&args, "--fault=%s", o->faults[i]);
	add_word(&args, "--");
	for (size_t i = 0; i < s->count; i++) {
		if (s->tests[i]->arch == host->arch)
			add_word(&args, "%s", s->tests[i]->key);
	}
	result = initramfs_add_data(fs, PID1_ARGS_FILE, 0644, args.data, args.len, err);
	text_free(&args);
	return result;
}

/* On arm64 KVM cannot be a module; what is not here is built in or absent, as PID 1 will find. */
static int add_modules(struct initramfs *fs, const struct kernel_host *host, struct error *err)
{
	static const char *const names[] = { "kvm_amd", "kvm_intel", NULL };
	struct module_list list = { 0 };
	struct modules *modules;
	int result;

	if (host->arch != ARCH_X86_64 || !host->image.modules_dir)
		return 0;
	modules = modules_open(host->image.modules_dir, err);
	if (!modules)
		return -1;
	result = modules_select(modules, host->arch, names, &list, err);
	if (result == 0)
		result = module_list_pack(&list, PID1_MODULES_FILE, fs, err);
	module_list_free(&list);
	modules_close(modules);
	return result;
}

int kernel_initramfs_write(const char *path, const struct kernel_host *host,
			   const struct options *o, const struct selection *selection,
			   struct error *err)
{
	struct initramfs *fs = initramfs_new();
	int result = initramfs_add_basic_devices(fs, err);

	if (result == 0)
		result = add_host_programs(fs, host->arch, o->images, err);
	if (result == 0)
		result = add_to_suite(fs, "unittests.cfg", o->config, err);
	if (result == 0)
		result = add_expected(fs, o->expected, err);
	if (result == 0)
		result = add_images(fs, host->arch, o, selection, err);
	if (result == 0)
		result = add_args(fs, host, o, selection, err);
	if (result == 0)
		result = add_modules(fs, host, err);
	if (result == 0)
		result = initramfs_write(fs, path, NULL, err);
	initramfs_free(fs);
	return result;
}
