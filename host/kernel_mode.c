// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel mode: boots kernels as KVM hosts and records what the runner in them finds.
 */
#include "kernel_mode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "image.h"
#include "interrupt.h"
#include "kernel_initramfs.h"
#include "kernel_machine.h"
#include "result_record.h"
#include "symbolise.h"
#include "util/memory.h"
#include "util/text.h"

/* Under icount a virtual second takes several real ones; a boot of 7.x takes some 20 s. */
#define BOOT_TIMEOUT_S	  180
#define SILENCE_S	  240
#define ICOUNT_SLOWDOWN	  5
#define MEMORY_MIB_X86_64 1024
#define MEMORY_MIB_ARM64  512

/* One boot of one host, while it goes on. */
struct boot {
	const struct kernel_mode_spec *spec;
	const struct kernel_host *host;
	struct loop *loop;
	u64 start_ns;
	u64 first_record_ns;	  /* 0: none came */
	u64 vm_start_ns, test_ns; /* sums over its tests */
	bool *received;		  /* by test of the selection and repetition */
	char *trouble;
	bool ended;
	struct error *err; /* of the recording: the run ends */
	bool failed;
};

/* ---- preparation ------------------------------------------------------------------------------ */

/*
 * What a kernel under emulation can do without: found to work and to be quick on Debian's 6.1, 6.12
 * and 7.x. mitigations=off is part of what deterministic costs depend on, so it is recorded.
 */
static const char *base_command_line(enum arch arch)
{
	if (arch == ARCH_ARM64)
		return "console=ttyAMA0 quiet nokaslr mitigations=off cryptomgr.notests "
		       "rdinit=/init";
	return "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable no_timer_check nokaslr "
	       "audit=0 apparmor=0 nowatchdog cryptomgr.notests rdinit=/init";
}

/*
 * As many CPUs as the widest guest. Under icount more than 4 only take turns, and an x86 kernel does
 * not get its second CPU up within minutes: it polls for it with PAUSE, each of which is a turn.
 */
static unsigned int choose_smp(enum arch arch, const struct options *o,
			       const struct selection *selection, enum accel accel)
{
	unsigned int smp = 1;

	if (o->kernel_smp)
		return o->kernel_smp;
	if (accel == ACCEL_ICOUNT && arch == ARCH_X86_64)
		return 1;
	for (size_t i = 0; i < selection->count; i++) {
		if (selection->tests[i]->arch == arch)
			smp = MAX(smp, selection->tests[i]->smp);
	}
	return accel == ACCEL_ICOUNT ? MIN(smp, 4u) : smp;
}

static const char *default_cpu(enum arch arch)
{
	/* QEMU's "max" for arm64 boots a kernel four times slower unless pauth is cheap. */
	return arch == ARCH_ARM64 ? "neoverse-n1" : "max";
}

/*
 * QEMU before 10, without icount, loses the STI shadow of a guest under SVM: an interrupt lands
 * between STI and HLT, and the guest sleeps for ever (9 times in 10,202 rounds with 7.2; never in
 * 48,000 with 10.0 and 11.1).
 */
static bool loses_interrupts(const struct kernel_host *h)
{
	return h->arch == ARCH_X86_64 && h->outer.accel == ACCEL_TCG &&
	       strtoul(h->outer.probe.version, NULL, 10) < 10;
}

/* The outer machine's VMM is QEMU, whatever runs the guests in it. */
static int choose_outer(struct kernel_host *h, const struct options *o, struct error *err)
{
	struct options outer = *o;

	outer.vmm = "qemu";
	/* What there is of KVM on this host may nest or not: emulation always does. */
	if (outer.accel == ACCEL_AUTO)
		outer.accel = ACCEL_TCG;
	target_choose(&h->outer, h->arch, &outer);
	if (o->accel == ACCEL_AUTO && h->outer.usable && loses_interrupts(h)) {
		target_free(&h->outer);
		outer.accel = ACCEL_ICOUNT;
		target_choose(&h->outer, h->arch, &outer);
	}
	if (!h->outer.usable)
		return error_set(err, "%s cannot run the machine for the kernel: %s",
				 h->outer.vmm_path, h->outer.accel_reason);
	snprintf(h->outer.probe.cpu, sizeof(h->outer.probe.cpu), "%s",
		 o->kernel_cpu ? o->kernel_cpu : default_cpu(h->arch));
	return 0;
}

int kernel_host_prepare(struct kernel_host *h, enum arch arch, const struct options *o,
			const struct selection *selection, struct error *err)
{
	memset(h, 0, sizeof(*h));
	h->arch = arch;
	if (choose_outer(h, o, err))
		return -1;
	if (kernel_image_find(o->kernel, arch, o->modules, o->root, &h->image, err))
		return -1;
	h->smp = choose_smp(arch, o, selection, h->outer.accel);
	h->command_line =
		text_format("%s%s%s", base_command_line(arch), o->kernel_append ? " " : "",
			    o->kernel_append ? o->kernel_append : "");
	return 0;
}

void kernel_host_free(struct kernel_host *h)
{
	kernel_image_free(&h->image);
	target_free(&h->outer);
	free(h->command_line);
}

struct results_target kernel_host_target(const struct kernel_host *h)
{
	struct machine_spec spec = { .arch = h->arch, .accel = ACCEL_KVM };
	struct results_target target = {
		.arch = h->arch,
		.vmm = "kvm",
		.accel = ACCEL_KVM,
		.accel_reason = h->image.name,
		.vmm_version = h->image.version,
		.vmm_path = h->image.path,
		.cpu = h->outer.probe.cpu,
		.exact = h->outer.accel == ACCEL_ICOUNT,
	};

	backend_policy(backend_get(VMM_KVM), &spec, h->outer.policy, &target.policy);
	return target;
}

void kernel_host_show(const struct kernel_host *h, struct progress *p)
{
	char *text =
		text_format("%-6s  kvm on kernel %s%s%s  under qemu %s, %s, CPU %s, %u CPUs",
			    arch_to_name(h->arch), h->image.name, h->image.version ? " = " : "",
			    h->image.version ? h->image.version : "", h->outer.probe.version,
			    accel_to_name(h->outer.accel), h->outer.probe.cpu, h->smp);

	progress_note(p, text);
	free(text);
	if (loses_interrupts(h))
		progress_note(
			p, "x86_64  warning: QEMU before 10 loses interrupts of guests under "
			   "emulated SVM now and then; use --accel icount or --qemu debian:trixie");
}

/* ---- records ---------------------------------------------------------------------------------- */

static void set_trouble(struct boot *b, const char *text)
{
	if (!b->trouble)
		b->trouble = text_copy(text);
}

static void fail(struct boot *b)
{
	b->failed = true;
	loop_quit(b->loop);
}

static size_t find_test(const struct boot *b, const char *key)
{
	const struct selection *s = b->spec->selection;
	size_t i;

	for (i = 0; key && i < s->count && strcmp(s->tests[i]->key, key) != 0; i++)
		;
	return key ? i : s->count;
}

static bool *received(struct boot *b, size_t test, unsigned int repetition)
{
	return &b->received[test * b->spec->options->repeat + repetition - 1];
}

/* The kernel's own log; each boot has one. Malloced, without directory and suffix. */
static char *log_name(const struct boot *b)
{
	unsigned int before = b->spec->repetitions_before;

	return before ? text_format("kernel.%u", before + 1) : text_copy("kernel");
}

/* In the machine there is no addr2line: its backtraces are bare addresses, one a line. */
static void put_names(struct boot *b, struct test_result *r, json_t *record)
{
	u64 pcs[64];
	size_t count = 0;
	char **lines, *elf;

	if (!r->backtrace)
		return;
	lines = words_split(r->backtrace, "\n");
	for (size_t i = 0; lines[i] && count < ARRAY_SIZE(pcs); i++)
		pcs[count++] = strtoull(lines[i], NULL, 16);
	words_free(lines);
	free(r->backtrace);
	elf = image_symbols_path(b->spec->options->images, r->test->arch, r->test->image);
	r->backtrace = symbolise(r->test->arch, elf, pcs, count);
	free(elf);
	json_object_set_new(record, "backtrace", json_string(r->backtrace));
}

/* The record's log goes to a file of its own. */
static int write_log(struct boot *b, struct test_result *r, json_t *record)
{
	const char *text = json_string_value(json_object_get(record, "log_text"));
	size_t len = json_string_length(json_object_get(record, "log_text"));
	FILE *log;
	bool torn;

	free(r->log);
	r->log = NULL;
	log = results_open_log(b->spec->results, r, b->err);
	if (!log)
		return -1;
	fwrite(text ? text : "", 1, len, log);
	torn = ferror(log);
	torn |= fclose(log) != 0;
	if (torn)
		return error_set(b->err, "%s/%s: %s: free some space, or see -o",
				 results_dir(b->spec->results), r->log, strerror(errno));
	json_object_del(record, "log_text");
	json_object_set_new(record, "log", json_string(r->log));
	return 0;
}

static void record_test(struct boot *b, const struct test *test, json_t *record)
{
	struct test_result r;

	if (test_result_from_record(&r, test, record, b->err) == 0) {
		json_object_set_new(record, "start_ms",
				    json_real((b->first_record_ns - b->spec->run_start_ns) / 1e6 +
					      r.start_ns / 1e6));
		put_names(b, &r, record);
		if (write_log(b, &r, record) ||
		    results_add_record(b->spec->results, test, record, b->err))
			fail(b);
		b->vm_start_ns += r.boot_ns;
		b->test_ns += r.duration_ns - MIN(r.boot_ns, r.duration_ns);
		progress_result(b->spec->progress, &r);
	} else {
		set_trouble(b, b->err->text);
	}
	test_result_free(&r);
}

static void take_test(struct boot *b, const json_t *content)
{
	const char *key = json_string_value(json_object_get(content, "key"));
	json_int_t repetition = json_integer_value(json_object_get(content, "repetition"));
	size_t i = find_test(b, key);
	json_t *record;

	if (i == b->spec->selection->count || repetition < 1 ||
	    repetition > b->spec->options->repeat || *received(b, i, repetition)) {
		set_trouble(b, "a result came that nobody had asked for");
		return;
	}
	*received(b, i, repetition) = true;
	record = json_deep_copy(content);
	json_object_set_new(record, "repetition",
			    json_integer(repetition + b->spec->repetitions_before));
	record_test(b, b->spec->selection->tests[i], record);
	json_decref(record);
}

static void take_started(struct boot *b, const json_t *content)
{
	const json_t *keys = json_object_get(content, "keys");
	size_t count = MIN(json_array_size(keys), (size_t)64);
	const char *names[64];

	for (size_t i = 0; i < count; i++) {
		names[i] = json_string_value(json_array_get(keys, i));
		if (!names[i])
			return;
	}
	progress_running(b->spec->progress, names, count);
}

/* What the machine says of itself, and what it was told. */
static json_t *describe(const struct kernel_host *h, const json_t *environment)
{
	json_t *machine = environment ? json_deep_copy(environment) : json_object();
	json_t *outer =
		json_pack("{s:s, s:s, s:s, s:s, s:i}", "qemu", h->outer.probe.version, "qemu_path",
			  h->outer.vmm_path, "accel", accel_to_name(h->outer.accel), "cpu",
			  h->outer.probe.cpu, "smp", (int)h->smp);

	json_object_set_new(machine, "kernel_name", json_string(h->image.name));
	json_object_set_new(machine, "kernel_path", json_string(h->image.path));
	json_object_set_new(machine, "command_line", json_string(h->command_line));
	json_object_set_new(machine, "outer", outer);
	return machine;
}

static void on_record(void *ctx, const char *kind, const json_t *content)
{
	struct boot *b = ctx;

	if (!b->first_record_ns)
		b->first_record_ns = now_ns();
	if (strcmp(kind, "begin") == 0) {
		results_set_environment(b->spec->results, arch_to_name(b->host->arch),
					describe(b->host, json_object_get(content, "environment")));
	} else if (strcmp(kind, "started") == 0) {
		take_started(b, content);
	} else if (strcmp(kind, "test") == 0) {
		take_test(b, content);
	}
}

static void on_ended(void *ctx, const char *trouble)
{
	struct boot *b = ctx;

	b->ended = true;
	if (trouble)
		set_trouble(b, trouble);
	loop_quit(b->loop);
}

static const struct kernel_machine_events machine_events = {
	.record = on_record,
	.ended = on_ended,
};

/* ---- one boot --------------------------------------------------------------------------------- */

/* Tests of this host that brought nothing are errors, for what became of the host. */
static void record_missing(struct boot *b, const char *tail)
{
	const struct selection *s = b->spec->selection;
	unsigned int repeat = b->spec->options->repeat;
	char *name = log_name(b);

	for (size_t i = 0; i < s->count * repeat && !b->failed; i++) {
		const struct test *test = s->tests[i / repeat];
		struct test_result r;

		if (b->received[i] || test->arch != b->host->arch)
			continue;
		test_result_init(&r, test, b->spec->repetitions_before + i % repeat + 1);
		r.verdict = VERDICT_ERROR;
		r.raw = VERDICT_ERROR;
		r.reason = text_format("kernel %s: %s", b->host->image.name,
				       b->trouble ? b->trouble : "no result came of this test");
		r.start_ns = b->start_ns - b->spec->run_start_ns;
		r.log = text_format("logs/%s/%s.log", arch_to_name(b->host->arch), name);
		r.log_tail = text_copy(tail);
		if (results_add(b->spec->results, &r, b->err))
			fail(b);
		progress_result(b->spec->progress, &r);
		test_result_free(&r);
	}
	free(name);
}

static void note_times(const struct boot *b)
{
	u64 boot_ns = (b->first_record_ns ? b->first_record_ns : now_ns()) - b->start_ns;
	char *text = text_format("%s: kernel boot %.1f s, VM starts %.1f s, tests %.1f s",
				 arch_to_name(b->host->arch), boot_ns / 1e9, b->vm_start_ns / 1e9,
				 b->test_ns / 1e9);

	progress_note(b->spec->progress, text);
	free(text);
}

static unsigned int scale(const struct kernel_host *h, unsigned int seconds)
{
	return h->outer.accel == ACCEL_ICOUNT ? seconds * ICOUNT_SLOWDOWN : seconds;
}

static int run_machine(struct boot *b, const char *initrd, FILE *log, int *signo)
{
	const struct options *o = b->spec->options;
	const struct kernel_host *h = b->host;
	struct kernel_machine_spec spec = {
		.loop = b->loop,
		.backend = h->outer.backend,
		.machine = {
			.arch = h->arch,
			.accel = h->outer.accel,
			.image = h->image.path,
			.initrd = initrd,
			.args = h->command_line,
			.smp = h->smp,
			.memory_mib = h->arch == ARCH_X86_64 ? MEMORY_MIB_X86_64 : MEMORY_MIB_ARM64,
			.el2 = h->arch == ARCH_ARM64,
			.cpu = h->outer.probe.cpu,
			.firmware = h->outer.probe.firmware,
			.vmm_path = h->outer.vmm_path,
			.pin = options_pin(o),
		},
		.log = log,
		.boot_timeout_s = o->kernel_timeout_s ? o->kernel_timeout_s :
							 scale(h, BOOT_TIMEOUT_S),
		.silence_s = o->kernel_timeout_s ? o->kernel_timeout_s : scale(h, SILENCE_S),
	};
	struct kernel_machine *machine;
	struct interrupt interrupt;
	char *tail;

	machine = kernel_machine_start(&spec, &machine_events, b, b->err);
	if (!machine)
		return -1;
	interrupt_watch(&interrupt, b->loop);
	loop_run(b->loop);
	interrupt_unwatch(&interrupt);
	*signo = interrupt.signo;
	tail = kernel_machine_tail(machine);
	kernel_machine_free(machine);
	if (!*signo)
		record_missing(b, tail);
	free(tail);
	return b->failed ? -1 : 0;
}

static int boot_host(struct boot *b, int *signo)
{
	const char *dir = results_dir(b->spec->results);
	char *initrd = text_format("%s/.initramfs-%s.cpio", dir, arch_to_name(b->host->arch));
	char *name = log_name(b);
	FILE *log = results_open_side_log(b->spec->results, b->host->arch, name, b->err);
	int result = -1;

	if (log && kernel_initramfs_write(initrd, b->host, b->spec->options, b->spec->selection,
					  b->err) == 0)
		result = run_machine(b, initrd, log, signo);
	unlink(initrd);
	free(initrd);
	free(name);
	if (log)
		fclose(log);
	if (result == 0 && !*signo)
		note_times(b);
	return result;
}

int kernel_mode_run(const struct kernel_mode_spec *spec, int *signo, struct error *err)
{
	size_t planned = spec->selection->count * spec->options->repeat;
	int result = 0;

	*signo = 0;
	for (int arch = 0; arch < ARCH_COUNT && result == 0 && !*signo; arch++) {
		struct boot b = { .spec = spec, .host = &spec->hosts[arch], .err = err };

		if (!b.host->image.path)
			continue;
		b.start_ns = now_ns();
		b.received = memory_zalloc(planned + 1);
		b.loop = loop_new();
		result = boot_host(&b, signo);
		loop_free(b.loop);
		free(b.received);
		free(b.trouble);
	}
	progress_running(spec->progress, NULL, 0);
	return result;
}
