// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the command line, and finds the suite's own files.
 */
#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "backend.h"
#include "build_config.h"
#include "fetch.h"
#include "kvm/fault.h"
#include "util/memory.h"
#include "util/text.h"

#define DEFAULT_JOBS_MAX 4
#define JOBS_MAX	 64
#define TIMEOUT_S_MAX	 86400
#define REPEAT_MAX	 100000
#define SHARDS_MAX	 10000
#define KERNEL_SMP_MAX	 64
#define PREEMPT_US_MAX	 10000000
#define PERCENT_MAX	 1000
#define THRESHOLD	 0.02
#define SEED_MAX	 0xffffffffu
#define BENCH_GROUP	 "bench"

void options_usage(FILE *out)
{
	fputs("Usage: run_tests.sh [options] [test ...]\n"
	      "\n"
	      "Runs the tests that are named, else those of the groups, else all that run by\n"
	      "default. A test is named as in unittests.cfg (counter), or with its architecture\n"
	      "(arm64/counter). Names and groups add up.\n"
	      "\n"
	      "  -l, --list            list the tests and exit\n"
	      "  --list-checks         list the checks of the tests that are named, else of all, "
	      "by\n"
	      "                        asking their images: name, defects, story; exit\n"
	      "  --explain CHECK       what a check (counter.cross-cpu) or a test is about, what "
	      "its\n"
	      "                        failure means, how to run it alone; exit\n"
	      "  -g, --group LIST      tests of these groups\n"
	      "  -a, --arch LIST       x86_64, arm64, or both with a comma (default: what was "
	      "built)\n"
	      "  -j, --jobs N          tests at a time (default: the number of CPUs, at most 4);\n"
	      "                        tests that measure time run alone whatever N is\n"
	      "  -o, --output DIR      where results go (default: results/DATE-TIME, and\n"
	      "                        results/latest points to it)\n"
	      "  --vmm NAME            what runs the guests: qemu (default) or kvm\n"
	      "  --accel NAME          kvm, tcg or icount; never replaced by another (default: "
	      "kvm\n"
	      "                        where it works for the architecture, else tcg)\n"
	      "  --timeout S           seconds for every test, instead of its own limit\n"
	      "  --repeat N            run every test N times\n"
	      "  --append WORDS        further arguments for every image, such as\n"
	      "                        check=NAME (this check alone) or budget-ms=N\n"
	      "  --restore METHOD      how our own VMM (--vmm kvm, --kernel) gives a restored "
	      "guest its\n"
	      "                        counters: by value, by offset (as it was), or by sequence\n"
	      "                        (computed from clocks); default: offset, on arm64 value\n"
	      "  --account RULE        what of the stop the guest sees then: frozen (nothing),\n"
	      "                        realtime (all), limit=MS; default: all, by value nothing\n"
	      "  --preempt-us N        sleep before each setting of a counter or clock then\n"
	      "  --policy WHAT=PROMISE judge time across host actions by this and not by what the\n"
	      "                        VMM promises: WHAT is CLOCK.ACTION, as counter.pause\n"
	      "                        (docs/results.md); PROMISE frozen, running, caught-up or\n"
	      "                        unknown\n"
	      "  --ktap                print KTAP instead of the report\n"
	      "  -v, --verbose         show all checks, VMM command lines and what VMMs say\n"
	      "  --qemu [ARCH=]PATH    QEMU to use (default: as ./configure found it), or\n"
	      "                        debian:SUITE (trixie), which is fetched\n"
	      "  --config FILE         tests (default: unittests.cfg of the suite)\n"
	      "  --expected DIR        expected results (default: expected/ of the suite)\n"
	      "  --images DIR          images, in DIR/x86_64/x86 and DIR/arm64/arm (default: "
	      "build/)\n"
	      "\n"
	      "Reports, see docs/reports.md:\n"
	      "  --report FORMAT[=FILE] ktap, junit, markdown or html; again for more (default\n"
	      "                        FILE: in the results' directory; - is stdout)\n"
	      "  --from DIR            no run: the reports of the results in DIR\n"
	      "\n"
	      "For CI, see docs/gating.md and docs/scale.md:\n"
	      "  --shard I/N           the I-th of N parts of the tests: by the hash of a test's\n"
	      "                        name, so that it stays in its part whatever else there is\n"
	      "  --merge DIR...        no run: the results in these directories as those of one\n"
	      "                        run, with its reports\n"
	      "  --update-expected[=FILE]\n"
	      "                        write a diff of expected/ that makes this run as expected,\n"
	      "                        to be reviewed (default FILE: expected.diff in the "
	      "results'\n"
	      "                        directory)\n"
	      "  --bisect[=COMMAND]    for git bisect run in the tree of --kernel: build it first\n"
	      "                        (default: make olddefconfig, then make); status 0 good,\n"
	      "                        1 bad, 125 cannot be told, 128 and above stop\n"
	      "\n"
	      "Kernel mode: the tests run by our own VMM on a kernel that is booted for it.\n"
	      "  --kernel WHAT         debian:VERSION (6.12) or debian:SUITE, which is fetched; a\n"
	      "                        kernel build tree; a bzImage, vmlinuz or Image\n"
	      "                        two times, with --bench: both in turn, and compared\n"
	      "  --modules DIR         where its KVM modules are, if not beside it\n"
	      "  --kernel-append WORDS for the kernel's command line, such as kvm-arm.mode=nvhe\n"
	      "  --kernel-cpu MODEL    CPU of its machine (arm64: neoverse-n1; x86_64: max)\n"
	      "  --kernel-smp N        CPUs of its machine (default: as the widest guest)\n"
	      "  --kernel-timeout S    seconds until it has booted, and of silence afterwards\n"
	      "\n"
	      "Benchmarks, see docs/measuring.md:\n"
	      "  --bench               boot the tests again and again in random order, and print\n"
	      "                        what their operations cost (default: the group bench)\n"
	      "  --boots N             boots of each (default: 10; under icount, where figures\n"
	      "                        are exact, 2)\n"
	      "  --seed N              of the order (default: another one in each run, which\n"
	      "                        results.json has; 1 under icount)\n"
	      "  --save FILE           the benchmarks alone, to compare with later\n"
	      "  --pin LIST            keep every VMM on these CPUs of the host: 3 or 2,4-6\n"
	      "  --compare OLD NEW     compare the benchmarks of two results.json or result\n"
	      "                        directories; status 2 where something became slower\n"
	      "  --threshold PERCENT   differences below it count for nothing (default: 2)\n"
	      "\n"
	      "  --fault NAME[=N]      make the machines of our own VMM wrong on purpose: the "
	      "tests\n"
	      "                        have to notice (docs/detection.md)\n"
	      "  --list-faults         list the faults and the checks that have to fail; exit\n"
	      "  --check-config        check that every image has a test and the reverse; exit\n"
	      "  -h, --help            this text\n"
	      "\n"
	      "Status: 0 all as expected; 1 a test failed, was in error or ran out of time, and\n"
	      "was not expected to; 2 a regression against a baseline; 3 the run could not be\n"
	      "made or recorded, or was interrupted.\n",
	      out);
}

static int mistake(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Returns the exit status. */
static int mistake(const char *fmt, ...)
{
	va_list args;

	fputs("run_tests.sh: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs("\n", stderr);
	return 3;
}

enum {
	OPTION_VMM = 256,
	OPTION_ACCEL,
	OPTION_TIMEOUT,
	OPTION_REPEAT,
	OPTION_APPEND,
	OPTION_RESTORE,
	OPTION_ACCOUNT,
	OPTION_PREEMPT_US,
	OPTION_POLICY,
	OPTION_KTAP,
	OPTION_QEMU,
	OPTION_CONFIG,
	OPTION_EXPECTED,
	OPTION_IMAGES,
	OPTION_CHECK_CONFIG,
	OPTION_EXPLAIN,
	OPTION_LIST_CHECKS,
	OPTION_SHARD,
	OPTION_MERGE,
	OPTION_UPDATE_EXPECTED,
	OPTION_BISECT,
	OPTION_MACHINES,
	OPTION_KERNEL,
	OPTION_MODULES,
	OPTION_KERNEL_APPEND,
	OPTION_KERNEL_CPU,
	OPTION_KERNEL_SMP,
	OPTION_KERNEL_TIMEOUT,
	OPTION_STREAM,
	OPTION_OUTER_QEMU,
	OPTION_REPORT,
	OPTION_FROM,
	OPTION_BENCH,
	OPTION_BOOTS,
	OPTION_SEED,
	OPTION_SAVE,
	OPTION_PIN,
	OPTION_COMPARE,
	OPTION_THRESHOLD,
	OPTION_FAULT,
	OPTION_LIST_FAULTS,
};

static const struct option long_options[] = {
	{ "list", no_argument, NULL, 'l' },
	{ "group", required_argument, NULL, 'g' },
	{ "arch", required_argument, NULL, 'a' },
	{ "jobs", required_argument, NULL, 'j' },
	{ "output", required_argument, NULL, 'o' },
	{ "vmm", required_argument, NULL, OPTION_VMM },
	{ "accel", required_argument, NULL, OPTION_ACCEL },
	{ "timeout", required_argument, NULL, OPTION_TIMEOUT },
	{ "repeat", required_argument, NULL, OPTION_REPEAT },
	{ "append", required_argument, NULL, OPTION_APPEND },
	{ "restore", required_argument, NULL, OPTION_RESTORE },
	{ "account", required_argument, NULL, OPTION_ACCOUNT },
	{ "preempt-us", required_argument, NULL, OPTION_PREEMPT_US },
	{ "policy", required_argument, NULL, OPTION_POLICY },
	{ "ktap", no_argument, NULL, OPTION_KTAP },
	{ "verbose", no_argument, NULL, 'v' },
	{ "qemu", required_argument, NULL, OPTION_QEMU },
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "expected", required_argument, NULL, OPTION_EXPECTED },
	{ "images", required_argument, NULL, OPTION_IMAGES },
	{ "check-config", no_argument, NULL, OPTION_CHECK_CONFIG },
	{ "list-checks", no_argument, NULL, OPTION_LIST_CHECKS },
	{ "explain", required_argument, NULL, OPTION_EXPLAIN },
	{ "shard", required_argument, NULL, OPTION_SHARD },
	{ "merge", no_argument, NULL, OPTION_MERGE },
	{ "update-expected", optional_argument, NULL, OPTION_UPDATE_EXPECTED },
	{ "bisect", optional_argument, NULL, OPTION_BISECT },
	{ "machines", no_argument, NULL, OPTION_MACHINES },
	{ "kernel", required_argument, NULL, OPTION_KERNEL },
	{ "modules", required_argument, NULL, OPTION_MODULES },
	{ "kernel-append", required_argument, NULL, OPTION_KERNEL_APPEND },
	{ "kernel-cpu", required_argument, NULL, OPTION_KERNEL_CPU },
	{ "kernel-smp", required_argument, NULL, OPTION_KERNEL_SMP },
	{ "kernel-timeout", required_argument, NULL, OPTION_KERNEL_TIMEOUT },
	{ "stream", no_argument, NULL, OPTION_STREAM },
	{ "outer-qemu", required_argument, NULL, OPTION_OUTER_QEMU },
	{ "report", required_argument, NULL, OPTION_REPORT },
	{ "from", required_argument, NULL, OPTION_FROM },
	{ "bench", no_argument, NULL, OPTION_BENCH },
	{ "boots", required_argument, NULL, OPTION_BOOTS },
	{ "seed", required_argument, NULL, OPTION_SEED },
	{ "save", required_argument, NULL, OPTION_SAVE },
	{ "pin", required_argument, NULL, OPTION_PIN },
	{ "compare", no_argument, NULL, OPTION_COMPARE },
	{ "threshold", required_argument, NULL, OPTION_THRESHOLD },
	{ "fault", required_argument, NULL, OPTION_FAULT },
	{ "list-faults", no_argument, NULL, OPTION_LIST_FAULTS },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* ---- values ---------------------------------------------------------------------------------- */

static int take_number(const char *option, const char *value, u64 max, unsigned int *number)
{
	u64 n;

	if (text_to_u64(value, 1, max, &n))
		return mistake("%s '%s': a number from 1 to %llu is wanted", option, value,
			       (unsigned long long)max);
	*number = n;
	return -1;
}

static int take_seed(struct options *o, const char *value)
{
	if (text_to_u64(value, 1, SEED_MAX, &o->seed))
		return mistake("--seed '%s': a number from 1 to %u is wanted", value, SEED_MAX);
	return -1;
}

/* "3" or "4-6". */
static int add_cpus(const char *word, cpu_set_t *cpus)
{
	char *first = text_copy(word), *dash = strchr(first, '-');
	u64 from, to;
	int result;

	if (dash)
		*dash++ = '\0';
	result = text_to_u64(first, 0, CPU_SETSIZE - 1, &from) ||
		 text_to_u64(dash ? dash : first, from, CPU_SETSIZE - 1, &to);
	for (u64 cpu = from; !result && cpu <= to; cpu++)
		CPU_SET(cpu, cpus);
	free(first);
	return result ? -1 : 0;
}

static int take_pin(struct options *o, const char *value)
{
	char **words = words_split(value, ",");
	cpu_set_t allowed, both;
	int result = words[0] ? 0 : -1;

	CPU_ZERO(&o->pin);
	for (size_t i = 0; words[i] && !result; i++)
		result = add_cpus(words[i], &o->pin);
	words_free(words);
	if (result)
		return mistake("--pin '%s': CPUs of this host are wanted, such as 3 or 2,4-6",
			       value);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	CPU_AND(&both, &allowed, &o->pin);
	if (!CPU_EQUAL(&both, &o->pin))
		return mistake("--pin '%s': not all of them are CPUs that this process may run on "
			       "(see taskset -p $$)",
			       value);
	o->pinned = true;
	return -1;
}

const cpu_set_t *options_pin(const struct options *o)
{
	return o->pinned ? &o->pin : NULL;
}

static int take_percent(const char *option, const char *value, double *part)
{
	char *end;
	double percent = strtod(value, &end);

	if (end == value || *end || !(percent >= 0 && percent <= PERCENT_MAX))
		return mistake("%s '%s': a percentage from 0 to %d is wanted, such as 2 or 0.5",
			       option, value, PERCENT_MAX);
	*part = percent / 100;
	return -1;
}

/* "2/5": the second of five. */
static int take_shard(struct options *o, const char *value)
{
	char **words = words_split(value, "/");
	u64 shard, count;
	int status = -1;

	if (words_count(words) != 2 || text_to_u64(words[1], 1, SHARDS_MAX, &count) ||
	    text_to_u64(words[0], 1, count, &shard)) {
		status = mistake("--shard '%s': I/N is wanted, such as 1/3: the first of three "
				 "parts, of at most %d",
				 value, SHARDS_MAX);
	} else {
		o->shard = shard;
		o->nr_shards = count;
	}
	words_free(words);
	return status;
}

static int take_archs(struct options *o, const char *value)
{
	char **words = words_split(value, ", ");
	int status = -1;

	if (!words[0])
		status = mistake("--arch '%s': no architecture: x86_64, arm64, or both", value);
	for (size_t i = 0; words[i] && status < 0; i++) {
		int arch = arch_from_name(words[i]);

		if (arch < 0)
			status = mistake("unknown architecture '%s': it is x86_64 or arm64",
					 words[i]);
		else
			o->archs[arch] = true;
	}
	words_free(words);
	return status;
}

static int take_groups(struct options *o, const char *value)
{
	char *joined = words_join(o->groups, ","), *both = text_format("%s,%s", joined, value);

	words_free(o->groups);
	o->groups = words_split(both, ", ");
	free(joined);
	free(both);
	return o->groups[0] ? -1 : mistake("--group '%s': no group is named", value);
}

static int take_vmm(struct options *o, const char *value)
{
	o->vmm = value;
	if (backend_by_name(value))
		return -1;
	for (int kind = 0; kind < VMM_COUNT; kind++) {
		if (!strcmp(vmm_kind_name(kind), value))
			return mistake("--vmm %s: this runner was built without it", value);
	}
	return mistake("--vmm '%s': it is qemu or kvm", value);
}

static int take_accel(struct options *o, const char *value)
{
	int accel = accel_from_name(value);

	if (accel < 0)
		return mistake("--accel '%s': it is kvm, tcg or icount", value);
	o->accel = accel;
	return -1;
}

static int take_report(struct options *o, const char *value)
{
	struct error err;

	return reports_add(&o->reports, value, &err) ? mistake("%s", err.text) : -1;
}

/* Given twice, the words add up. */
static int take_words(char **words, const char *value)
{
	char *both = *words ? text_format("%s %s", *words, value) : text_copy(value);

	free(*words);
	*words = both;
	return -1;
}

static int take_restore(struct options *o, const char *value)
{
	struct error err;

	return clock_rule_set_method(&o->restore_rule, value, &err)
		       ? mistake("--restore: %s", err.text)
		       : -1;
}

static int take_account(struct options *o, const char *value)
{
	struct error err;

	return clock_rule_set_account(&o->restore_rule, value, &err)
		       ? mistake("--account: %s", err.text)
		       : -1;
}

static int take_preempt_us(struct options *o, const char *value)
{
	if (!text_to_u64(value, 0, PREEMPT_US_MAX, &o->restore_rule.preempt_us))
		return -1;
	return mistake("--preempt-us '%s': a number from 0 to %d is wanted", value, PREEMPT_US_MAX);
}

static int take_policy(struct options *o, const char *value)
{
	struct policy policy = { 0 };
	struct error err;

	if (policy_override(&policy, value, &err))
		return mistake("--policy: %s", err.text);
	return take_words(&o->policy, value);
}

static int take_path(char **path, const char *value)
{
	free(*path);
	*path = text_copy(value);
	return -1;
}

/* One that no architecture has is a mistake at once; see main.c for the rest. */
static int take_fault(struct options *o, const char *value)
{
	size_t count = o->faults ? words_count(o->faults) : 0;
	struct error err;
	bool known = false;

	for (int arch = 0; arch < ARCH_COUNT && !known; arch++)
		known = !fault_set_add(NULL, arch, value, &err);
	if (!known)
		return mistake("--fault: %s", err.text);
	o->faults = memory_resize(o->faults, count + 2, sizeof(*o->faults));
	o->faults[count] = text_copy(value);
	o->faults[count + 1] = NULL;
	return -1;
}

/* Only our own VMM has faults. */
static int check_faults(const struct options *o)
{
	if (!o->faults || o->kernel || !strcmp(o->vmm, vmm_kind_name(VMM_KVM)))
		return -1;
	return mistake("--fault %s: QEMU has none; our own VMM does: --kernel, or --vmm kvm",
		       o->faults[0]);
}

/* Once, or a second time for the other kernel. */
static int take_two(const char *option, char **first, char **second, const char *value)
{
	if (*second)
		return mistake("%s '%s': there are two already", option, value);
	return take_path(*first ? second : first, value);
}

/* ---- QEMU ------------------------------------------------------------------------------------ */

/* As ./configure found it; where it is not there any more, the one of that name in PATH. */
static const char *qemu_configured(enum arch arch)
{
	const char *path = arch == ARCH_X86_64 ? CONFIG_QEMU_X86_64 : CONFIG_QEMU_ARM64;
	const char *slash = strrchr(path, '/');

	return slash && access(path, X_OK) ? slash + 1 : path;
}

/*
 * "ARCH=PATH", or a PATH whose architecture its name tells ("qemu-system-aarch64"), or which is the
 * only one that was asked for.
 */
static int take_qemu(struct options *o, const char *value)
{
	const char *name = strrchr(value, '/') ? strrchr(value, '/') + 1 : value;
	int arch, only = -1;

	for (arch = 0; arch < ARCH_COUNT; arch++) {
		const char *arch_name = arch_to_name(arch);
		size_t len = strlen(arch_name);

		if (!strncmp(value, arch_name, len) && value[len] == '=') {
			return take_path(&o->qemu[arch], value + len + 1);
		}
	}
	if (text_starts_with(value, FETCH_PREFIX)) {
		for (arch = 0; arch < ARCH_COUNT; arch++)
			take_path(&o->qemu[arch], value);
		return -1;
	}
	if (strstr(name, "aarch64") || strstr(name, "arm64"))
		return take_path(&o->qemu[ARCH_ARM64], value);
	if (strstr(name, "x86_64"))
		return take_path(&o->qemu[ARCH_X86_64], value);
	for (arch = 0; arch < ARCH_COUNT; arch++) {
		if (o->archs[arch])
			only = only == -1 ? arch : -2;
	}
	if (only < 0)
		return mistake("--qemu '%s': for which architecture? Say --qemu x86_64=PATH or "
			       "--qemu arm64=PATH",
			       value);
	return take_path(&o->qemu[only], value);
}

static int take_qemus(struct options *o, const char *lines)
{
	char **values = words_split(lines, "\n");
	int status = -1;

	for (size_t i = 0; values[i] && status < 0; i++)
		status = take_qemu(o, values[i]);
	words_free(values);
	return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The directory with the suite's files: told by the wrapper, or three above build/ARCH/host/. */
static char *find_root(void)
{
	const char *told = getenv("KTT_ROOT");
	char path[PATH_MAX];
	ssize_t n;

	if (told && *told)
		return text_copy(told);
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	for (int i = 0; i < 4; i++) {
		char *slash = strrchr(path, '/');

		if (slash)
			*slash = '\0';
	}
	if (*path) {
		char *config = text_format("%s/unittests.cfg", path);
		bool there = !access(config, F_OK);

		free(config);
		if (there)
			return text_copy(path);
	}
	return text_copy(".");
}

static char *below_root(const struct options *o, const char *name)
{
	/* Short names where the suite is the current directory, for messages that can be read. */
	char *here = getcwd(NULL, 0), *real = realpath(o->root, NULL);
	bool same = here && real && !strcmp(here, real);

	free(here);
	free(real);
	return same ? text_copy(name) : text_format("%s/%s", o->root, name);
}

static void set_defaults(struct options *o)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!o->jobs)
		o->jobs = MIN(MAX(cpus, 1), DEFAULT_JOBS_MAX);
	if (!o->repeat)
		o->repeat = 1;
	if (o->bench && !o->tests[0] && !o->groups)
		take_groups(o, BENCH_GROUP);
	if (!o->vmm)
		o->vmm = vmm_kind_name(VMM_QEMU);
	if (!o->config)
		o->config = below_root(o, "unittests.cfg");
	if (!o->expected)
		o->expected = below_root(o, "expected");
	if (!o->images)
		o->images = below_root(o, "build");
	for (int arch = 0; arch < ARCH_COUNT; arch++) {
		if (!o->qemu[arch])
			o->qemu[arch] = text_copy(qemu_configured(arch));
	}
}

static int take_option(struct options *o, int option, struct text *qemu)
{
	switch (option) {
	case 'l':
		o->list = true;
		return -1;
	case 'g':
		return take_groups(o, optarg);
	case 'a':
		return take_archs(o, optarg);
	case 'j':
		return take_number("--jobs", optarg, JOBS_MAX, &o->jobs);
	case 'o':
		o->out_dir = optarg;
		return *optarg ? -1 : mistake("--output needs the name of a directory");
	case 'v':
		o->verbose = true;
		return -1;
	case OPTION_VMM:
		return take_vmm(o, optarg);
	case OPTION_ACCEL:
		return take_accel(o, optarg);
	case OPTION_TIMEOUT:
		return take_number("--timeout", optarg, TIMEOUT_S_MAX, &o->timeout_s);
	case OPTION_REPEAT:
		return take_number("--repeat", optarg, REPEAT_MAX, &o->repeat);
	case OPTION_APPEND:
		return take_words(&o->append, optarg);
	case OPTION_RESTORE:
		return take_restore(o, optarg);
	case OPTION_ACCOUNT:
		return take_account(o, optarg);
	case OPTION_PREEMPT_US:
		return take_preempt_us(o, optarg);
	case OPTION_POLICY:
		return take_policy(o, optarg);
	case OPTION_KTAP:
		o->ktap = true;
		return -1;
	case OPTION_QEMU:
		text_printf(qemu, "%s\n", optarg); /* -a may come after it */
		return -1;
	case OPTION_CONFIG:
		return take_path(&o->config, optarg);
	case OPTION_EXPECTED:
		return take_path(&o->expected, optarg);
	case OPTION_IMAGES:
		return take_path(&o->images, optarg);
	case OPTION_CHECK_CONFIG:
		o->check_config = true;
		return -1;
	case OPTION_SHARD:
		return take_shard(o, optarg);
	case OPTION_MERGE:
		o->merge = true;
		return -1;
	case OPTION_UPDATE_EXPECTED:
		o->update_expected = true;
		o->expected_diff = optarg;
		return -1;
	case OPTION_BISECT:
		o->bisect = true;
		o->bisect_build = optarg;
		return -1;
	case OPTION_MACHINES:
		o->machines = true;
		o->list = true;
		return -1;
	case OPTION_LIST_CHECKS:
		o->list_checks = true;
		o->list = true;
		return -1;
	case OPTION_EXPLAIN:
		o->explain = optarg;
		return -1;
	case OPTION_KERNEL:
		return take_two("--kernel", &o->kernel, &o->other_kernel, optarg);
	case OPTION_MODULES:
		return take_two("--modules", &o->modules, &o->other_modules, optarg);
	case OPTION_KERNEL_APPEND:
		return take_words(&o->kernel_append, optarg);
	case OPTION_KERNEL_CPU:
		return take_path(&o->kernel_cpu, optarg);
	case OPTION_KERNEL_SMP:
		return take_number("--kernel-smp", optarg, KERNEL_SMP_MAX, &o->kernel_smp);
	case OPTION_KERNEL_TIMEOUT:
		return take_number("--kernel-timeout", optarg, TIMEOUT_S_MAX, &o->kernel_timeout_s);
	case OPTION_STREAM:
		o->stream = true;
		return -1;
	case OPTION_OUTER_QEMU:
		return take_path(&o->outer_qemu, optarg);
	case OPTION_REPORT:
		return take_report(o, optarg);
	case OPTION_FROM:
		return take_path(&o->from, optarg);
	case OPTION_BENCH:
		o->bench = true;
		return -1;
	case OPTION_BOOTS:
		return take_number("--boots", optarg, REPEAT_MAX, &o->boots);
	case OPTION_SEED:
		return take_seed(o, optarg);
	case OPTION_SAVE:
		return take_path(&o->save, optarg);
	case OPTION_PIN:
		return take_pin(o, optarg);
	case OPTION_COMPARE:
		o->compare = true;
		return -1;
	case OPTION_THRESHOLD:
		return take_percent("--threshold", optarg, &o->threshold);
	case OPTION_FAULT:
		return take_fault(o, optarg);
	case OPTION_LIST_FAULTS:
		o->list_faults = true;
		return -1;
	case 'h':
		options_usage(stdout);
		return 0;
	default:
		return 3;
	}
}

/* What getopt_long() stumbled over, in words of our own. */
static int refuse(int argc, char **argv, int option)
{
	const char *word = optind > 0 && optind <= argc ? argv[optind - 1] : "";

	if (option == ':')
		return mistake("option '%s' needs a value; run_tests.sh --help tells which", word);
	if (optopt && optopt < 256 && strncmp(word, "--", 2))
		return mistake("unknown option '-%c'; run_tests.sh --help lists them", optopt);
	return mistake("unknown option '%s'; run_tests.sh --help lists them", word);
}

/* Options that say how a test is run, not which, how often, or what becomes of the results. */
static void keep_for_rerun(struct options *o, int option)
{
	static const int kept[] = {
		OPTION_VMM,	      OPTION_ACCEL,	     OPTION_TIMEOUT,	OPTION_APPEND,
		OPTION_QEMU,	      OPTION_CONFIG,	     OPTION_EXPECTED,	OPTION_IMAGES,
		OPTION_KERNEL,	      OPTION_MODULES,	     OPTION_KERNEL_CPU, OPTION_KERNEL_SMP,
		OPTION_KERNEL_APPEND, OPTION_KERNEL_TIMEOUT, OPTION_POLICY,	OPTION_RESTORE,
		OPTION_ACCOUNT,	      OPTION_PREEMPT_US,     OPTION_FAULT,
	};

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		if (kept[i] != option)
			continue;
		for (const struct option *known = long_options; known->name; known++) {
			if (known->val == option)
				text_printf(&o->rerun, "%s--%s ", o->rerun.len ? " " : "",
					    known->name);
		}
		text_append_quoted(&o->rerun, optarg);
	}
}

/* What goes with what. */
static int check_views(const struct options *o)
{
	if (o->from && !o->reports.count)
		return mistake("--from %s: say with --report what to make of it", o->from);
	if (o->from && o->tests[0])
		return mistake("--from %s takes no test: '%s'", o->from, o->tests[0]);
	return -1;
}

static int check_bench(const struct options *o)
{
	const char *alone = o->boots ? "--boots" : o->seed ? "--seed" : o->save ? "--save" : NULL;

	if (alone && !o->bench)
		return mistake("%s is for benchmarks: add --bench", alone);
	if (o->bench && o->repeat)
		return mistake("--bench boots every test several times itself: instead of "
			       "--repeat, say --boots %u",
			       o->repeat);
	if (o->other_kernel && !o->bench)
		return mistake("two times --kernel: benchmarks of two kernels can be compared, by "
			       "--bench; tests run on one");
	if (o->other_modules && !o->other_kernel)
		return mistake("two times --modules is for two times --kernel");
	if (o->other_kernel && o->save)
		return mistake("--save %s: of which kernel? The results of both are kept, in a "
			       "directory each (-o)",
			       o->save);
	if (o->compare && o->bench)
		return mistake("--compare reads two files and runs nothing: leave out --bench");
	if (o->compare && words_count(o->tests) != 2)
		return mistake("--compare needs two names, OLD and NEW: results.json files, result "
			       "directories, or what --save wrote");
	return -1;
}

static int check_restore(const struct options *o)
{
	const struct clock_rule *rule = &o->restore_rule;

	if (!rule->method && !rule->account && !rule->preempt_us)
		return -1;
	if (o->kernel || (o->vmm && !strcmp(o->vmm, "kvm")))
		return -1;
	return mistake(
		"--restore, --account and --preempt-us are for our own VMM: say --vmm kvm or "
		"--kernel as well");
}

int options_parse(struct options *o, int argc, char **argv)
{
	struct text qemu = { 0 };
	int option, status = -1;

	memset(o, 0, sizeof(*o));
	o->threshold = THRESHOLD;
	opterr = 0;
	optind = 0; /* begin anew, as glibc has it */
	while (status < 0 &&
	       (option = getopt_long(argc, argv, ":lg:a:j:o:vh", long_options, NULL)) != -1) {
		if (option == '?' || option == ':')
			status = refuse(argc, argv, option);
		else
			status = take_option(o, option, &qemu);
		if (status < 0)
			keep_for_rerun(o, option);
	}
	if (status < 0)
		status = take_qemus(o, text_string(&qemu));
	text_free(&qemu);
	if (status >= 0)
		return status;
	o->tests = words_copy(argv + optind);
	if (o->merge && !o->tests[0])
		return mistake("--merge needs names of result directories");
	if (o->bisect && !o->kernel)
		return mistake("--bisect needs --kernel DIR, the kernel's build tree");
	status = check_bench(o);
	if (status >= 0)
		return status;
	o->root = find_root();
	set_defaults(o);
	status = check_views(o);
	if (status < 0)
		status = check_restore(o);
	return status < 0 ? check_faults(o) : status;
}

void options_free(struct options *o)
{
	words_free(o->groups);
	words_free(o->tests);
	words_free(o->faults);
	free(o->append);
	free(o->policy);
	free(o->save);
	free(o->kernel);
	free(o->modules);
	free(o->other_kernel);
	free(o->other_modules);
	free(o->kernel_append);
	free(o->kernel_cpu);
	free(o->outer_qemu);
	free(o->from);
	reports_free(&o->reports);
	text_free(&o->rerun);
	free(o->config);
	free(o->expected);
	free(o->images);
	free(o->root);
	for (int arch = 0; arch < ARCH_COUNT; arch++)
		free(o->qemu[arch]);
	memset(o, 0, sizeof(*o));
}
