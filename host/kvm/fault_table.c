// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of faults, and how they are asked for.
 */
#include "kvm/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "util/text.h"

#define X86  BIT(ARCH_X86_64)
#define ARM  BIT(ARCH_ARM64)
#define BOTH (X86 | ARM)

#define STATE	    FAULT_BY_STATE
#define MSR	    FAULT_BY_MSR
#define DESCRIPTION FAULT_BY_DESCRIPTION

/*
 * id, name, architectures, mechanism, ids of the catalogue, check that has to fail, unit of the
 * argument and its standard, what it does
 */
#define FAULT(id, ...) [FAULT_##id] = { __VA_ARGS__ }

/* clang-format off */
const struct fault faults[FAULT_COUNT] = {
	FAULT(PAUSED, "paused", BOTH, STATE, "", NULL, "ms", 50,
	      "the guest stands still now and then and is not told: nothing may fail"),
	FAULT(EXIT_SLOW, "exit-slow", BOTH, STATE, "", NULL, "ns", 20000,
	      "every exit to the VMM takes longer: nothing may fail, only a comparison tells"),

	FAULT(DEADLINE_EARLY, "deadline-early", X86, MSR, "L9",
	      "tsc-deadline-irq.spinning/never-early", "cycles", 200000,
	      "IA32_TSC_DEADLINE is taken for a deadline that much earlier"),
	FAULT(DEADLINE_LATE, "deadline-late", X86, MSR, "L2",
	      "tsc-deadline-irq.spinning/lateness", "cycles", 100000000,
	      "and for one that much later"),
	FAULT(DEADLINE_LOST, "deadline-lost", X86, MSR, "L3 L5",
	      "tsc-deadline-irq.halted/counted", "nth", 7,
	      "every nth deadline that is written is lost"),
	FAULT(DEADLINE_LOST_NEAR, "deadline-lost-near", X86, MSR, "L8",
	      "tsc-deadline.fires/sweep", "cycles", 1000,
	      "a deadline that is nearer than that is lost"),
	FAULT(DEADLINE_DOUBLED, "deadline-doubled", X86, MSR, "",
	      "tsc-deadline-irq.spinning/counted", NULL, 0,
	      "the next deadline's write brings the interrupt of the last one again"),
	FAULT(DEADLINE_HELD, "deadline-held", X86, MSR, "L1",
	      "tsc-deadline-irq.halted/counted", NULL, 0,
	      "a deadline is armed only when the vCPU exits to the VMM the next time"),
	FAULT(DEADLINE_OTHER_VALUE, "deadline-other-value", X86, MSR, "T10",
	      "tsc-deadline.registers/read-back", "cycles", 1,
	      "RDMSR of an armed IA32_TSC_DEADLINE gives that much more than was written"),
	FAULT(DEADLINE_KEPT, "deadline-kept", X86, MSR, "T10",
	      "tsc-deadline.registers/zero-after-expiry", NULL, 0,
	      "IA32_TSC_DEADLINE reads as written after it has expired"),
	FAULT(DEADLINE_ZERO_IGNORED, "deadline-zero-ignored", X86, MSR, "",
	      "tsc-deadline.registers/zero-disarms", NULL, 0,
	      "writing 0 to IA32_TSC_DEADLINE does not disarm it"),
	FAULT(DEADLINE_BY_HOST_TSC, "deadline-by-host-tsc", X86, MSR, "T9",
	      "tsc-deadline-irq.spinning/never-early", NULL, 0,
	      "IA32_TSC_DEADLINE is compared with the host's TSC"),
	FAULT(TSC_WRITE_IGNORED, "tsc-write-ignored", X86, MSR, "T15",
	      "tsc-write.written/forward", NULL, 0,
	      "WRMSR of IA32_TSC changes nothing"),
	FAULT(TSC_WRITE_KEEPS_ADJUST, "tsc-write-keeps-adjust", X86, MSR, "T16",
	      "tsc-adjust.tsc-moves-adjust/second", NULL, 0,
	      "WRMSR of IA32_TSC moves the TSC and leaves IA32_TSC_ADJUST alone"),
	FAULT(TSC_ADJUST_MOVES_NOTHING, "tsc-adjust-moves-nothing", X86, MSR, "T16",
	      "tsc-adjust.adjust-moves-tsc/second", NULL, 0,
	      "IA32_TSC_ADJUST keeps what is written and the TSC stays"),
	FAULT(TSC_ADJUST_OF_VCPU1, "tsc-adjust-of-vcpu1", X86, STATE, "T2",
	      "tsc-adjust.equal", "cycles", 1000,
	      "vCPU 1 starts with that in IA32_TSC_ADJUST, the others with 0"),
	FAULT(TSC_MSR_AHEAD, "tsc-msr-ahead", X86, MSR, "",
	      "counter.same/msr", "cycles", 10000000,
	      "RDMSR of IA32_TSC gives that much more than RDTSC"),

	FAULT(KVMCLOCK_EMPTY, "kvmclock-empty", X86, DESCRIPTION, "K11",
	      "kvmclock.page/filled", NULL, 0,
	      "kvmclock's page is never filled"),
	FAULT(KVMCLOCK_ODD, "kvmclock-odd", X86, DESCRIPTION, "",
	      "kvmclock.version/protocol", NULL, 0,
	      "the version in kvmclock's page is odd for ever"),
	FAULT(KVMCLOCK_RATE, "kvmclock-rate", X86, DESCRIPTION, "K3",
	      "kvmclock-rate.frequency/cpuid", "ppm", 200,
	      "tsc_to_system_mul in kvmclock's page is off"),
	FAULT(KVMCLOCK_STABLE_LIE, "kvmclock-stable-lie", X86, DESCRIPTION, "K19",
	      "kvmclock.cross-cpu/stable", "ns", 100000,
	      "kvmclock is that much behind on every further vCPU and says that it is stable"),
	FAULT(KVMCLOCK_STALE, "kvmclock-stale", X86, DESCRIPTION, "T8 K2",
	      "kvmclock-tsc.adjust/second", NULL, 0,
	      "kvmclock's page is filled once and not again when the TSC moves"),

	FAULT(CPUID_TSC_KHZ, "cpuid-tsc-khz", X86, DESCRIPTION, "T5 K10",
	      "counter.frequency/cpuid-0x40000010", "ppm", 10000,
	      "the TSC frequency in CPUID is off"),
	FAULT(CPUID_VCPU1_NO_DEADLINE, "cpuid-vcpu1-no-deadline", X86, DESCRIPTION, "",
	      "tsc-deadline-irq.all-cpus/own-deadline", NULL, 0,
	      "vCPU 1 has no TSC-deadline timer, the others have"),
	FAULT(CPUID_VCPU1_INVARIANT, "cpuid-vcpu1-invariant", X86, DESCRIPTION, "",
	      "tsc.invariant/cpuid", NULL, 0,
	      "vCPU 1 says the opposite of the others on whether its TSC is invariant"),

	FAULT(TSC_JUMP, "tsc-jump", X86, STATE, "",
	      "counter.monotonic/rdtsc", "cycles", -10000000,
	      "the TSC jumps on all vCPUs, now and then"),
	FAULT(TSC_SKEW, "tsc-skew", X86, STATE, "T2",
	      "counter.cross-cpu/2", "cycles", -1000000,
	      "vCPU 1's TSC is that far from the others'"),
	FAULT(TSC_RATE, "tsc-rate", X86, STATE, "T5 T7",
	      "counter.frequency/cpuid-0x40000010", "ppm", 10000,
	      "the TSC runs at another rate, by small steps"),
	FAULT(LAPIC_STORM, "lapic-storm", X86, STATE, "L7",
	      "lapic-timer.silent/after-expiry", NULL, 0,
	      "the local APIC's timer interrupts some thousand times a second, armed or not"),

	FAULT(DT_TIMER_PPI, "dt-timer-ppi", ARM, DESCRIPTION, "A22",
	      "timer-irq.virtual/one-shot", NULL, 0,
	      "the devicetree gives the virtual timer another one's interrupt"),
	FAULT(DT_CLOCK_FREQUENCY, "dt-clock-frequency", ARM, DESCRIPTION, "A15",
	      "counter.frequency/devicetree", "ppm", 10000,
	      "clock-frequency in the devicetree is off by that from CNTFRQ_EL0"),
	FAULT(DT_PMU_PPI, "dt-pmu-ppi", ARM, DESCRIPTION, "",
	      "pmu-overflow.interrupt/once", NULL, 0,
	      "the devicetree gives the PMU another interrupt"),

	FAULT(CNTVCT_JUMP, "cntvct-jump", ARM, STATE, "A21",
	      "counter.monotonic/cntvct", "ticks", -1000000,
	      "the virtual counter jumps, now and then"),
	FAULT(COUNTERS_JUMP, "counters-jump", ARM, STATE, "A21",
	      "counter.monotonic/cntpct", "ticks", -1000000,
	      "both counters jump together, now and then"),
	FAULT(CNTVCT_RATE, "cntvct-rate", ARM, STATE, "A11",
	      "counter.bracket/offset", "ppm", 200,
	      "the virtual counter's rate is off, by small steps"),
	FAULT(COUNTERS_RATE, "counters-rate", ARM, STATE, "A15",
	      "counter.frequency/cntvct", "ppm", 10000,
	      "both counters' rate is off, by small steps"),
	FAULT(PMCCNTR_JUMP, "pmccntr-jump", ARM, STATE, "P7",
	      "pmu.rate/monotonic", "cycles", -100000000,
	      "the cycle counter jumps, now and then"),

	FAULT(RESTORE_NO_DEADLINE, "restore-no-deadline", X86, STATE, "L3",
	      "host-timers.restore/tsc-deadline/idle", NULL, 0,
	      "IA32_TSC_DEADLINE is not restored, but on the vCPU where it is the latest"),
	FAULT(RESTORE_NO_APIC_COUNT, "restore-no-apic-count", X86, STATE, "L2",
	      "host-timers.restore/one-shot/idle", NULL, 0,
	      "nor are the counts of the local APIC's timer"),
	FAULT(RESTORE_NO_IRR, "restore-no-irr", X86, STATE, "L1",
	      "host-timers.restore/tsc-deadline/pending", NULL, 0,
	      "interrupts that are pending in the local APIC are lost, but on vCPU 0"),
	FAULT(RESTORE_NO_TSC, "restore-no-tsc", X86, STATE, "T13 H1",
	      "host-continuity.restore/tsc/monotonic", NULL, 0,
	      "the TSC is not restored: it begins anew"),
	FAULT(RESTORE_NO_KVMCLOCK, "restore-no-kvmclock", X86, STATE, "K11",
	      "host-continuity.restore/kvmclock/monotonic", NULL, 0,
	      "KVM_SET_CLOCK is not called"),
	FAULT(RESTORE_OTHER_TSC_ADJUST, "restore-other-tsc-adjust", X86, STATE, "T2",
	      "host-continuity.restore/machine/constants", "cycles", 1000,
	      "IA32_TSC_ADJUST has that in it after a restore"),
	FAULT(RESTORE_OTHER_CPUID, "restore-other-cpuid", X86, DESCRIPTION, "",
	      "host-continuity.restore/machine/constants", NULL, 0,
	      "the restored machine's CPUID has no TSC-deadline timer"),
	FAULT(RESTORE_DEADLINE_BEFORE_LAPIC, "restore-deadline-before-lapic", X86, STATE, "L5 H4",
	      "host-timers.restore/tsc-deadline/idle", NULL, 0,
	      "IA32_TSC_DEADLINE is restored before the local APIC"),
	FAULT(RESTORE_DEADLINE_BEFORE_TSC, "restore-deadline-before-tsc", X86, STATE, "L3 H3",
	      "host-timers.restore/tsc-deadline/idle", NULL, 0,
	      "IA32_TSC_DEADLINE is restored before the TSC"),
	FAULT(RESTORE_KVMCLOCK_LATE, "restore-kvmclock-late", X86, STATE, "K2 K5",
	      "host-continuity.restore/kvmclock/monotonic", "ms", 20,
	      "KVM_SET_CLOCK is called that long after the vCPUs run again"),
	FAULT(RESTORE_TSC_SKEW, "restore-tsc-skew", X86, STATE, "T2",
	      "host-continuity.restore/tsc/ordered", "cycles", -1000000,
	      "vCPU 1's TSC is restored that far from the others'"),
	FAULT(RESTORE_TSC_STALE, "restore-tsc-stale", X86, STATE, "T15",
	      "host-continuity.restore/tsc/monotonic", "cycles", 1000000000,
	      "the TSCs are restored from values that are older by that"),
	FAULT(RESTORE_TWICE_NO_DEADLINE, "restore-twice-no-deadline", X86, STATE, "L3",
	      "host-timers.restore-twice/tsc-deadline/idle", NULL, 0,
	      "IA32_TSC_DEADLINE is not restored likewise, the second time a guest is"),
	FAULT(RESTORE_YOUNG_NO_TSC, "restore-young-no-tsc", X86, STATE, "T1",
	      "host-continuity.restore/tsc/monotonic", NULL, 0,
	      "the TSC of a guest that is younger than a second is not restored"),
	FAULT(PAUSE_HIDDEN_X86, "pause-hidden", X86, STATE, "A16 K22",
	      "host-continuity.pause/tsc/elapsed", NULL, 0,
	      "the TSC stands still in a pause, and the policy says that it runs"),
	FAULT(RESET_KEEPS_TSC, "reset-keeps-tsc", X86, STATE, "T2",
	      "host-reset.ordered", NULL, 0,
	      "a reset sets no TSC anew but the first vCPU's"),
	FAULT(RESET_KEEPS_TSC_ADJUST, "reset-keeps-tsc-adjust", X86, STATE, "T2",
	      "host-reset.tsc-adjust", "cycles", 1000,
	      "vCPU 1's IA32_TSC_ADJUST has that in it after a reset"),
	FAULT(RESET_KEEPS_LAPIC, "reset-keeps-lapic", X86, STATE, "L15",
	      "host-reset.timer-off", NULL, 0,
	      "the local APIC and its timer are not reset"),

	FAULT(RESTORE_NO_VTIMER, "restore-no-vtimer", ARM, STATE, "A17",
	      "host-timers.restore/virtual/idle", NULL, 0,
	      "the virtual timer is not restored, but on the vCPU where it is due last"),
	FAULT(RESTORE_NO_PTIMER, "restore-no-ptimer", ARM, STATE, "A17",
	      "host-timers.restore/physical/idle", NULL, 0,
	      "nor is the physical timer"),
	FAULT(RESTORE_TIMER_EARLY, "restore-timer-early", ARM, STATE, "",
	      "host-timers.restore/virtual/idle", "ticks", 6000000,
	      "compare values are restored lower by that: timers fire early"),
	FAULT(RESTORE_TIMER_LATE, "restore-timer-late", ARM, STATE, "A23",
	      "host-timers.restore/virtual/idle", "ticks", 60000000,
	      "compare values are restored higher by that: timers fire late"),
	FAULT(RESTORE_NO_CNTKCTL, "restore-no-cntkctl", ARM, STATE, "",
	      "host-continuity.restore/machine/constants", NULL, 0,
	      "CNTKCTL_EL1 is restored with its access bits turned round"),
	FAULT(RESTORE_NO_PMU, "restore-no-pmu", ARM, STATE, "P5",
	      "host-pmu.restore", NULL, 0,
	      "the cycle counter is not enabled again by a restore"),
	FAULT(RESTORE_NO_PMCCNTR, "restore-no-pmccntr", ARM, STATE, "P7",
	      "host-pmu.restore", NULL, 0,
	      "the cycle counter's value is not restored"),
	FAULT(RESTORE_NO_COUNTERS, "restore-no-counters", ARM, STATE, "A14 A15",
	      "host-continuity.restore/cntvct/monotonic", NULL, 0,
	      "the counters are not restored: the virtual one begins anew"),
	FAULT(RESTORE_SKEW, "restore-skew", ARM, STATE, "A11",
	      "host-continuity.restore/cntpct/offset", "ticks", 10000000,
	      "the virtual counter is restored that far from the physical one"),
	FAULT(RESTORE_COUNTERS_LATE, "restore-counters-late", ARM, STATE, "A15",
	      "host-continuity.restore/cntvct/monotonic", "ms", 20,
	      "the counters are restored that long after the vCPUs run again"),
	FAULT(RESTORE_COUNTERS_STALE, "restore-counters-stale", ARM, STATE, "A15",
	      "host-continuity.restore/cntvct/monotonic", "ticks", 60000000,
	      "the virtual counter is restored from a value that is older by that"),
	FAULT(RESTORE_TWICE_NO_VTIMER, "restore-twice-no-vtimer", ARM, STATE, "A17",
	      "host-timers.restore-twice/virtual/idle", NULL, 0,
	      "the virtual timer is not restored likewise, the second time a guest is"),
	FAULT(RESTORE_YOUNG_NO_COUNTERS, "restore-young-no-counters", ARM, STATE, "A15",
	      "host-continuity.restore/cntvct/monotonic", NULL, 0,
	      "the counters of a guest that is younger than a second are not restored"),
	FAULT(PAUSE_HIDDEN_ARM, "pause-hidden", ARM, STATE, "A16 K22",
	      "host-continuity.pause/cntvct/elapsed", NULL, 0,
	      "the virtual counter stands still in a pause, and the policy says that it runs"),
	FAULT(RESET_TIMER_ON, "reset-timer-on", ARM, STATE, "L15",
	      "host-reset.timers-off", NULL, 0,
	      "the virtual timer is enabled after a reset"),
	FAULT(RESET_PMU_ON, "reset-pmu-on", ARM, STATE, "P10",
	      "host-reset.pmu-off", NULL, 0,
	      "the PMU's cycle counter is enabled after a reset"),
};
/* clang-format on */

static const char *arch_name(enum arch arch)
{
	return arch == ARCH_X86_64 ? "x86_64" : "arm64";
}

/* ---- asking ------------------------------------------------------------------------------------- */

static int unknown(enum arch arch, const char *name, struct error *err)
{
	const char *names[FAULT_COUNT + 1] = { 0 };
	const char *meant;
	size_t count = 0;

	for (size_t i = 0; i < FAULT_COUNT; i++) {
		if (faults[i].archs & BIT(arch))
			names[count++] = faults[i].name;
	}
	meant = text_nearest(name, names);
	return error_set(err, "there is no fault \"%s\" for %s%s%s%s; --list-faults lists them",
			 name, arch_name(arch), meant ? ", is \"" : "", meant ? meant : "",
			 meant ? "\" meant?" : "");
}

static int read_argument(const struct fault *f, const char *text, s64 *arg, struct error *err)
{
	char *end;

	*arg = f->standard;
	if (!text)
		return 0;
	if (!f->unit)
		return error_set(err, "the fault \"%s\" has no argument", f->name);
	errno = 0;
	*arg = strtoll(text, &end, 10);
	if (errno || end == text || *end)
		return error_set(err, "fault %s=%s: a whole number of %s is wanted", f->name, text,
				 f->unit);
	return 0;
}

int fault_set_add(struct fault_set *set, enum arch arch, const char *request, struct error *err)
{
	const char *equals = strchr(request, '=');
	size_t len = equals ? (size_t)(equals - request) : strlen(request);
	char *name = text_copy_bytes(request, len);
	int result = -1;
	s64 arg;
	size_t i;

	for (i = 0; i < FAULT_COUNT; i++) {
		if (faults[i].archs & BIT(arch) && !strcmp(faults[i].name, name))
			break;
	}
	if (i == FAULT_COUNT)
		unknown(arch, name, err);
	else
		result = read_argument(&faults[i], equals ? equals + 1 : NULL, &arg, err);
	free(name);
	if (!result && set) {
		set->on[i] = true;
		set->arg[i] = arg;
	}
	return result;
}

/* ---- listing ------------------------------------------------------------------------------------ */

static void print_guards(const struct fault *f, struct text *line)
{
	char **ids = words_split(f->guards, " ");
	char *joined = words_join(ids, ",");

	text_append(line, *joined ? joined : "-");
	free(joined);
	words_free(ids);
}

static void print_fault(const struct fault *f, FILE *out)
{
	static const char *const mechanisms[] = {
		[FAULT_BY_STATE] = "state",
		[FAULT_BY_MSR] = "msr",
		[FAULT_BY_DESCRIPTION] = "description",
	};
	struct text argument = { 0 }, ids = { 0 };

	if (f->unit)
		text_printf(&argument, "%lld:%s", (long long)f->standard, f->unit);
	print_guards(f, &ids);
	fprintf(out, "%-26s %-12s %-11s %-18s %-42s %-7s %s\n", f->name,
		f->archs == BOTH ? "x86_64,arm64" : arch_name(f->archs == ARM),
		mechanisms[f->mechanism], f->unit ? text_string(&argument) : "-",
		f->check ? f->check : "-", text_string(&ids), f->what);
	text_free(&argument);
	text_free(&ids);
}

void fault_list(FILE *out)
{
	for (size_t i = 0; i < FAULT_COUNT; i++)
		print_fault(&faults[i], out);
}
