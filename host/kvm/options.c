// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the command line; every mistake is told with the option it is in.
 */
#include "kvm/options.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_MISTAKE 3
#define MEMORY_MIB_MIN 8
#define MEMORY_MIB_MAX 65536
/* arm64's lies in a devicetree, x86's in a page; libcflat takes 1024. */
#define APPEND_MAX 4000

static const char usage[] =
	"Usage: vmm --image FILE [OPTION]...\n"
	"       vmm --restore FILE [OPTION]...\n"
	"Runs a bare-metal image in a virtual machine on /dev/kvm. The guest's console is on "
	"stdout\n"
	"and stdin.\n"
	"\n"
	"  --image FILE      x86_64: an ELF with a PVH note or a multiboot 1 header; arm64: an "
	"Image\n"
	"  --append TEXT     the image's command line\n"
	"  --smp N           vCPUs (1)\n"
	"  --maxcpus N       x86_64: vCPUs that there can be when others are plugged in (--smp)\n"
	"  --memory MIB      MiB of memory (32)\n"
	"  --el2             arm64: the guest starts at EL2 (needs nested virtualisation in KVM)\n"
	"  --cpu LIST        x86_64: hv-time, hv-stimer: Hyper-V's clock and timers as well\n"
	"  --counter-offset N arm64: both counters lag behind the host's by N ticks; the guest's\n"
	"                    command line gets counter-offset=N\n"
	"  --no-bulk-console offer the UART alone\n"
	"  --save-to FILE    write a snapshot after --save-after MS (1000) and end\n"
	"  --restore FILE    go on from a snapshot\n"
	"  --restore-method M  set its counters by value, offset (as saved) or sequence (computed\n"
	"                    from clocks); arm64: at the start as well (offset, on arm64 value)\n"
	"  --account RULE    what of the stop the guest sees: frozen, realtime, or limit=MS\n"
	"                    (realtime, by value frozen)\n"
	"  --preempt-us N    sleep before each setting of a counter or clock\n"
	"  --control FD      obey, and report to, the program at the other end of this socket\n"
	"  --stats           at the end, say on stderr how often the guest exited and why\n"
	"  --fault NAME[=N]  be wrong on purpose; more than one are possible\n"
	"  --list-faults     how, and which check of the suite has to fail then\n"
	"  --probe           only say whether this VMM can run here\n"
	"  --help\n"
	"\n"
	"Exit status: 0 the guest ended by itself, 1 it failed, 3 it could not be run.\n";

enum {
	OPT_IMAGE = 1,
	OPT_APPEND,
	OPT_SMP,
	OPT_MAXCPUS,
	OPT_MEMORY,
	OPT_EL2,
	OPT_CPU,
	OPT_COUNTER_OFFSET,
	OPT_NO_BULK_CONSOLE,
	OPT_SAVE_TO,
	OPT_SAVE_AFTER,
	OPT_RESTORE,
	OPT_RESTORE_METHOD,
	OPT_ACCOUNT,
	OPT_PREEMPT,
	OPT_CONTROL,
	OPT_STATS,
	OPT_FAULT,
	OPT_LIST_FAULTS,
	OPT_PROBE,
	OPT_HELP,
};

static const struct option long_options[] = {
	{ "image", required_argument, NULL, OPT_IMAGE },
	{ "append", required_argument, NULL, OPT_APPEND },
	{ "smp", required_argument, NULL, OPT_SMP },
	{ "maxcpus", required_argument, NULL, OPT_MAXCPUS },
	{ "memory", required_argument, NULL, OPT_MEMORY },
	{ "el2", no_argument, NULL, OPT_EL2 },
	{ "cpu", required_argument, NULL, OPT_CPU },
	{ "counter-offset", required_argument, NULL, OPT_COUNTER_OFFSET },
	{ "no-bulk-console", no_argument, NULL, OPT_NO_BULK_CONSOLE },
	{ "save-to", required_argument, NULL, OPT_SAVE_TO },
	{ "save-after", required_argument, NULL, OPT_SAVE_AFTER },
	{ "restore", required_argument, NULL, OPT_RESTORE },
	{ "restore-method", required_argument, NULL, OPT_RESTORE_METHOD },
	{ "account", required_argument, NULL, OPT_ACCOUNT },
	{ "preempt-us", required_argument, NULL, OPT_PREEMPT },
	{ "control", required_argument, NULL, OPT_CONTROL },
	{ "stats", no_argument, NULL, OPT_STATS },
	{ "fault", required_argument, NULL, OPT_FAULT },
	{ "list-faults", no_argument, NULL, OPT_LIST_FAULTS },
	{ "probe", no_argument, NULL, OPT_PROBE },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

static int mistake(const char *fmt, ...) PRINTF_LIKE(1, 2);

static int mistake(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "vmm: ");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "; vmm --help lists the options\n");
	return STATUS_MISTAKE;
}

static int parse_number(const char *option, u64 min, u64 max, u64 *value)
{
	if (!text_to_u64(optarg, min, max, value))
		return -1;
	return mistake("%s %s: a number from %llu to %llu is wanted", option, optarg,
		       (unsigned long long)min, (unsigned long long)max);
}

/* QEMU wants them named; here what hv-time and hv-stimer need comes with them. */
static bool is_implied(const char *word)
{
	static const char *const implied[] = { "hv-frequencies",   "hv-synic", "hv-vpindex",
					       "hv-stimer-direct", "max",      "host" };

	for (size_t i = 0; i < ARRAY_SIZE(implied); i++) {
		if (!strcmp(word, implied[i]))
			return true;
	}
	return false;
}

int machine_options_set_cpu(struct machine_options *o, const char *list, struct error *err)
{
	static const char *const names[] = { "hv-time",	 "hv-frequencies", "hv-stimer",
					     "hv-synic", "hv-vpindex",	   "hv-stimer-direct",
					     "max",	 "host",	   NULL };
	char **words = words_split(list, ",");
	int result = 0;

	for (size_t i = 0; words[i] && !result; i++) {
		const char *meant = text_nearest(words[i], names);

		if (!strcmp(words[i], "hv-time"))
			o->hv_time = true;
		else if (!strcmp(words[i], "hv-stimer"))
			o->hv_stimer = true;
		else if (!is_implied(words[i]))
			result = error_set(err, "there is no CPU feature \"%s\"%s%s%s", words[i],
					   meant ? "; is \"" : "", meant ? meant : "",
					   meant ? "\" meant?" : "");
	}
	words_free(words);
	return result;
}

static int set_cpu(struct machine_options *o, const char *list)
{
	struct error err;

	return machine_options_set_cpu(o, list, &err) ? mistake("--cpu: %s", err.text) : -1;
}

/* -1: goes on, as in all of these. */
static int set_restore_method(struct clock_rule *rule)
{
	struct error err;

	return clock_rule_set_method(rule, optarg, &err) ? mistake("--restore-method: %s", err.text)
							 : -1;
}

static int set_account(struct clock_rule *rule)
{
	struct error err;

	return clock_rule_set_account(rule, optarg, &err) ? mistake("--account: %s", err.text) : -1;
}

static int add_fault(struct vmm_options *o)
{
	struct error err;

	o->machine.faults = &o->faults;
	return fault_set_add(&o->faults, VMM_ARCH, optarg, &err) ? mistake("--fault: %s", err.text)
								 : -1;
}

static int set_number(struct vmm_options *o, int option)
{
	u64 value = 0;
	int status;

	switch (option) {
	case OPT_SMP:
		status = parse_number("--smp", 1, VCPUS_MAX, &value);
		o->machine.smp = value;
		return status;
	case OPT_MAXCPUS:
		status = parse_number("--maxcpus", 1, VCPUS_MAX, &value);
		o->machine.maxcpus = value;
		return status;
	case OPT_MEMORY:
		status = parse_number("--memory", MEMORY_MIB_MIN, MEMORY_MIB_MAX, &value);
		o->machine.memory_mib = value;
		return status;
	case OPT_PREEMPT:
		return parse_number("--preempt-us", 0, 10000000, &o->machine.clock_rule.preempt_us);
	case OPT_COUNTER_OFFSET:
		return parse_number("--counter-offset", 1, UINT64_MAX, &o->machine.counter_offset);
	case OPT_SAVE_AFTER:
		return parse_number("--save-after", 0, 86400000, &o->save_after_ms);
	default:
		status = parse_number("--control", 0, 1u << 20, &value);
		if (status < 0 && fcntl(value, F_GETFD) < 0)
			return mistake("--control %s: no such descriptor is open", optarg);
		o->control_fd = value;
		return status;
	}
}

static int set_option(struct vmm_options *o, int option)
{
	switch (option) {
	case OPT_IMAGE:
		o->machine.image = optarg;
		return -1;
	case OPT_APPEND:
		o->machine.append = optarg;
		return strlen(optarg) <= APPEND_MAX
			       ? -1
			       : mistake("--append: more than %d bytes", APPEND_MAX);
	case OPT_EL2:
		o->machine.el2 = true;
		return -1;
	case OPT_CPU:
		return set_cpu(&o->machine, optarg);
	case OPT_NO_BULK_CONSOLE:
		o->machine.no_bulk_console = true;
		return -1;
	case OPT_SAVE_TO:
		o->save_to = optarg;
		return -1;
	case OPT_RESTORE:
		o->restore = optarg;
		return -1;
	case OPT_RESTORE_METHOD:
		return set_restore_method(&o->machine.clock_rule);
	case OPT_ACCOUNT:
		return set_account(&o->machine.clock_rule);
	case OPT_STATS:
		o->stats = true;
		return -1;
	case OPT_FAULT:
		return add_fault(o);
	case OPT_LIST_FAULTS:
		fault_list(stdout);
		return 0;
	case OPT_PROBE:
		o->probe = true;
		return -1;
	case OPT_HELP:
		fputs(usage, stdout);
		return 0;
	case '?': /* getopt has told it */
		return STATUS_MISTAKE;
	default:
		return set_number(o, option);
	}
}

int vmm_options_parse(struct vmm_options *o, int argc, char **argv)
{
	int option, status;

	*o = (struct vmm_options){
		.machine = { .append = "", .smp = 1, .memory_mib = 32 },
		.save_after_ms = 1000,
		.control_fd = -1,
	};
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		status = set_option(o, option);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		return mistake("\"%s\" belongs to no option", argv[optind]);
	if (!o->machine.image && !o->restore && !o->probe)
		return mistake("neither --image nor --restore");
	o->faults.restoring = o->restore;
	if (o->machine.image && o->restore)
		return mistake(
			"--image and --restore exclude each other: a snapshot names its image");
	if (o->machine.counter_offset && o->restore)
		return mistake(
			"--counter-offset and --restore exclude each other: a snapshot has its "
			"counters");
	return -1;
}
