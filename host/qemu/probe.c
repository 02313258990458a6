// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Trials: QEMU is started without a guest, with each CPU model and firmware that would do, the best
 * first, and asked over QMP what it runs under. The first that comes up is used. No list of hosts
 * or versions: a KVM that refuses a feature makes QEMU end by itself before it answers.
 */
#include "qemu/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qemu/command_line.h"
#include "util/process.h"
#include "util/text.h"

#define TRIAL_TIMEOUT_NS 30000000000ULL

static const char questions[] = "{\"execute\":\"qmp_capabilities\"}\n"
				"{\"execute\":\"query-version\",\"id\":\"version\"}\n"
				"{\"execute\":\"query-kvm\",\"id\":\"kvm\"}\n"
				"{\"execute\":\"quit\"}\n";

/*
 * arch-capabilities: QEMU offers it to every x86 guest of KVM by default, and some KVMs refuse the
 * write of its MSR. pmu: a KVM without a virtual PMU may refuse it on arm64.
 */
static const char *const cpus_kvm_x86[] = { "host", "max", "host,-arch-capabilities",
					    "max,-arch-capabilities", NULL };
static const char *const cpus_kvm_arm64[] = { "host", "host,pmu=off", NULL };
static const char *const cpus_tcg[] = { "max", NULL };

/* An empty text: no -bios, which is SeaBIOS on x86 and no firmware on arm64. */
static const char *const firmware_x86[] = { "qboot.rom", "", NULL };
static const char *const firmware_arm64[] = { "", NULL };

static const char *const *cpus_for(enum arch arch, enum accel accel)
{
	if (accel != ACCEL_KVM)
		return cpus_tcg;
	return arch == ARCH_X86_64 ? cpus_kvm_x86 : cpus_kvm_arm64;
}

struct answers {
	bool have_kvm; /* query-kvm was answered */
	bool kvm;      /* KVM is in use */
	char version[64];
};

static void read_version(const json_t *value, struct answers *a)
{
	const json_t *qemu = json_object_get(value, "qemu");
	int part[3];

	part[0] = json_integer_value(json_object_get(qemu, "major"));
	part[1] = json_integer_value(json_object_get(qemu, "minor"));
	part[2] = json_integer_value(json_object_get(qemu, "micro"));
	snprintf(a->version, sizeof(a->version), "%d.%d.%d", part[0], part[1], part[2]);
}

static void read_answers(const char *text, struct answers *a)
{
	char **lines = words_split(text, "\r\n");

	for (size_t i = 0; lines[i]; i++) {
		json_t *message = json_loads(lines[i], 0, NULL);
		const char *id = json_string_value(json_object_get(message, "id"));
		const json_t *value = json_object_get(message, "return");

		if (id && value && !strcmp(id, "version")) {
			read_version(value, a);
		} else if (id && value && !strcmp(id, "kvm")) {
			a->have_kvm = true;
			a->kvm = json_is_true(json_object_get(value, "enabled"));
		}
		json_decref(message);
	}
	words_free(lines);
}

/* What a program complained of, for one line: the last of its lines. */
static void complaint(const char *program, const struct text *errors, int status, struct error *err)
{
	char **lines = words_split(text_string(errors), "\r\n");
	size_t count = words_count(lines);
	char *how = process_status_text(status);

	if (count)
		error_set(err, "%s", lines[count - 1]);
	else
		error_set(err, "%s answered no question: it %s", program, how);
	free(how);
	words_free(lines);
}

/* 0: QEMU came up so, under the accelerator that was asked for. */
static int trial(const struct machine_spec *spec, struct vmm_probe *probe, struct error *err)
{
	struct text out = { 0 }, errors = { 0 };
	char **argv = qemu_trial_command_line(spec);
	struct answers a = { 0 };
	int status, result = -1;

	if (process_capture(argv, questions, TRIAL_TIMEOUT_NS, &out, &errors, &status, err))
		goto out;
	read_answers(text_string(&out), &a);
	if (!a.have_kvm || status != 0)
		complaint(argv[0], &errors, status, err);
	else if (a.kvm != (spec->accel == ACCEL_KVM))
		error_set(err, "asked for %s, runs under %s", accel_to_name(spec->accel),
			  a.kvm ? "kvm" : "tcg");
	else
		result = 0;
	snprintf(probe->version, sizeof(probe->version), "%s", a.version);
out:
	text_free(&out);
	text_free(&errors);
	words_free(argv);
	return result;
}

/* What needs no QEMU to be known. */
static int check_kvm(enum arch arch, struct error *err)
{
	int fd;

	if (arch != arch_native())
		return error_set(err, "KVM on this %s host runs no %s guests",
				 arch_to_name(arch_native()), arch_to_name(arch));
	fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (errno == ENOENT)
		return error_set(err, "no /dev/kvm");
	if (errno == EACCES || errno == EPERM)
		return error_set(err, "/dev/kvm: %s (is this user in the group kvm?)",
				 strerror(errno));
	return error_set(err, "/dev/kvm: %s", strerror(errno));
}

static void found(struct vmm_probe *probe, const struct machine_spec *spec, const char *first_cpu,
		  const struct error *refused)
{
	probe->usable = true;
	snprintf(probe->cpu, sizeof(probe->cpu), "%s", spec->cpu);
	snprintf(probe->firmware, sizeof(probe->firmware), "%s", spec->firmware);
	if (strcmp(spec->cpu, first_cpu))
		snprintf(probe->detail, sizeof(probe->detail), "-cpu %s, since -cpu %s: %.160s",
			 spec->cpu, first_cpu, refused->text);
}

void qemu_probe(enum arch arch, enum accel accel, const char *vmm_path, struct vmm_probe *probe)
{
	const char *const *cpus = cpus_for(arch, accel);
	const char *const *firmware = arch == ARCH_X86_64 ? firmware_x86 : firmware_arm64;
	struct machine_spec spec = {
		.arch = arch, .accel = accel, .smp = 1, .memory_mib = 32, .vmm_path = vmm_path
	};
	struct error err = { "" }, first = { "" };

	memset(probe, 0, sizeof(*probe));
	if (accel == ACCEL_KVM && check_kvm(arch, &first))
		goto unusable;
	for (; *firmware; firmware++) {
		for (size_t i = 0; cpus[i]; i++) {
			spec.firmware = *firmware;
			spec.cpu = cpus[i];
			if (!trial(&spec, probe, &err)) {
				found(probe, &spec, cpus[0], &first);
				return;
			}
			/* The next CPU model does not bring the firmware's file back. */
			if (**firmware && strstr(err.text, *firmware))
				break;
			if (!first.text[0])
				first = err;
		}
	}
unusable:
	snprintf(probe->detail, sizeof(probe->detail), "%.250s", first.text);
}
