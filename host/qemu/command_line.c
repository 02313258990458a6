// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * QEMU's arguments: the smallest machine that has what time tests need, the same on every QEMU from
 * 7.2 on.
 */
#include "qemu/command_line.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "util/memory.h"
#include "util/text.h"

struct words {
	char **list;
	size_t count;
};

static void add(struct words *w, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void add(struct words *w, const char *fmt, ...)
{
	struct text t = { 0 };
	va_list args;

	va_start(args, fmt);
	text_vprintf(&t, fmt, args);
	va_end(args);
	w->list = memory_resize(w->list, w->count + 2, sizeof(*w->list));
	w->list[w->count++] = text_take(&t);
	w->list[w->count] = NULL;
}

static void add_machine(struct words *w, const struct machine_spec *spec)
{
	const char *extra = spec->machine ? spec->machine : "";
	struct text t = { 0 };

	text_append(&t, spec->arch == ARCH_X86_64 ? "pc" : "virt");
	if (spec->arch == ARCH_ARM64 && !strstr(extra, "gic-version=")) {
		/* Under KVM the GIC is the one that the host's hardware can virtualise. */
		text_printf(&t, ",gic-version=%s", spec->accel == ACCEL_KVM ? "host" : "3");
	}
	if (spec->el2)
		text_append(&t, ",virtualization=on");
	if (*extra)
		text_printf(&t, ",%s", extra);
	add(w, "-M");
	add(w, "%s", text_string(&t));
	text_free(&t);
}

static void add_accel(struct words *w, enum accel accel)
{
	add(w, "-accel");
	if (accel != ACCEL_ICOUNT) {
		add(w, "%s", accel_to_name(accel));
		return;
	}
	/*
	 * One instruction is one nanosecond of virtual time, and an idle guest's time jumps to its
	 * next timer. Without a fixed date and seed two runs would differ.
	 */
	add(w, "tcg,thread=single");
	add(w, "-icount");
	add(w, "shift=0,sleep=off");
	add(w, "-rtc");
	add(w, "base=2026-01-01,clock=vm");
	add(w, "-seed");
	add(w, "1");
}

static void add_cpu(struct words *w, const struct machine_spec *spec)
{
	const char *cpu = spec->cpu ? spec->cpu : "max";
	/* A tick of the generic timer is then one instruction, not 16 as at QEMU's 62.5 MHz. */
	bool exact =
		spec->arch == ARCH_ARM64 && spec->accel == ACCEL_ICOUNT && !strstr(cpu, "cntfrq=");

	add(w, "-cpu");
	add(w, "%s%s", cpu, exact ? ",cntfrq=1000000000" : "");
}

/* What the machine is, whoever starts it. */
static void add_hardware(struct words *w, const struct machine_spec *spec)
{
	add_machine(w, spec);
	add_accel(w, spec->accel);
	add_cpu(w, spec);
	add(w, "-smp");
	if (spec->maxcpus > spec->smp)
		add(w, "%u,maxcpus=%u", spec->smp, spec->maxcpus);
	else
		add(w, "%u", spec->smp);
	add(w, "-m");
	add(w, "%u", spec->memory_mib);
	add(w, "-nodefaults");
	add(w, "-no-user-config");
	add(w, "-display");
	add(w, "none");
	add(w, "-no-reboot");
}

static void add_common(struct words *w, const struct machine_spec *spec)
{
	add(w, "%s", spec->vmm_path);
	add_hardware(w, spec);
	add(w, "-S");
	if (spec->firmware && *spec->firmware) {
		add(w, "-bios");
		add(w, "%s", spec->firmware);
	}
}

static void add_monitor(struct words *w)
{
	add(w, "-mon");
	add(w, "chardev=qmp,mode=control");
}

char **qemu_command_line(const struct machine_spec *spec, int console_fd, int qmp_fd)
{
	struct words w = { 0 };

	add_common(&w, spec);
	add(&w, "-chardev");
	add(&w, "socket,id=qmp,fd=%d", qmp_fd);
	add_monitor(&w);
	add(&w, "-chardev");
	add(&w, "socket,id=console,fd=%d", console_fd);
	add(&w, "-serial");
	add(&w, "chardev:console");
	add(&w, "-kernel");
	add(&w, "%s", spec->image);
	if (spec->initrd) {
		add(&w, "-initrd");
		add(&w, "%s", spec->initrd);
	}
	add(&w, "-append");
	add(&w, "%s", spec->args);
	if (spec->restore_path || spec->incoming_fd) {
		add(&w, "-incoming");
		add(&w, "defer");
	}
	return w.list;
}

char **qemu_trial_command_line(const struct machine_spec *spec)
{
	struct words w = { 0 };

	add_common(&w, spec);
	add(&w, "-chardev");
	add(&w, "stdio,id=qmp,signal=off");
	add_monitor(&w);
	return w.list;
}

char **qemu_machine_words(const struct machine_spec *spec)
{
	struct words w = { 0 };

	add_hardware(&w, spec);
	return w.list;
}
