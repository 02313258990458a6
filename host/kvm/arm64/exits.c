// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The one exit that only arm64 has, and where a guest is when it fails.
 */
#include <stddef.h>
#include <stdio.h>
#include "kvm/vm.h"

/* api.rst, 4.68: core registers by their place in struct kvm_regs, in 32-bit words. */
#define CORE_REG(field)                                        \
	(KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE | \
	 (offsetof(struct kvm_regs, field) / sizeof(u32)))

static const struct {
	const char *name;
	u64 id;
} system_registers[] = {
	{ "sctlr_el1", ARM64_SYS_REG(3, 0, 1, 0, 0) },
	{ "ttbr0_el1", ARM64_SYS_REG(3, 0, 2, 0, 0) },
	{ "tcr_el1", ARM64_SYS_REG(3, 0, 2, 0, 2) },
	{ "esr_el1", ARM64_SYS_REG(3, 0, 5, 2, 0) },
	{ "far_el1", ARM64_SYS_REG(3, 0, 6, 0, 0) },
	{ "vbar_el1", ARM64_SYS_REG(3, 0, 12, 0, 0) },
	/* KVM's names for CNTV_CTL_EL0, CNTV_CVAL_EL0 and CNTVCT_EL0, and for CNTP's. */
	{ "cntv_ctl", KVM_REG_ARM_TIMER_CTL },
	{ "cntv_cval", KVM_REG_ARM_TIMER_CVAL },
	{ "cntvct", KVM_REG_ARM_TIMER_CNT },
	{ "cntp_ctl", KVM_REG_ARM_PTIMER_CTL },
	{ "cntp_cval", KVM_REG_ARM_PTIMER_CVAL },
	{ "cntpct", KVM_REG_ARM_PTIMER_CNT },
};

/*
 * Only simple loads and stores tell in ESR_EL2 what they wanted (Arm ARM D17.2.37, "ISV"). What KVM
 * cannot emulate for want of that comes here; where nothing is, none of it is right.
 */
static void report_no_syndrome(struct vcpu *vcpu)
{
	vcpu_error(vcpu,
		   "access to device memory at 0x%llx by an instruction that cannot be emulated "
		   "(a pair, an exclusive, a vector or one with writeback): ESR ISS 0x%llx",
		   (unsigned long long)vcpu->run->arm_nisv.fault_ipa,
		   (unsigned long long)vcpu->run->arm_nisv.esr_iss);
}

bool arch_handle_exit(struct vcpu *vcpu)
{
	if (vcpu->run->exit_reason != KVM_EXIT_ARM_NISV)
		return false;
	report_no_syndrome(vcpu);
	return true;
}

static void dump(struct vcpu *vcpu, const char *name, u64 id, struct text *out, const char *after)
{
	u64 value;

	if (register_get(vcpu, id, &value))
		text_printf(out, "%-9s unreadable       %s", name, after);
	else
		text_printf(out, "%-9s %016llx%s", name, (unsigned long long)value, after);
}

void arch_dump_registers(struct vcpu *vcpu, struct text *out)
{
	char name[8];

	dump(vcpu, "pc", CORE_REG(regs.pc), out, "  ");
	dump(vcpu, "pstate", CORE_REG(regs.pstate), out, "  ");
	dump(vcpu, "sp", CORE_REG(regs.sp), out, "  ");
	dump(vcpu, "sp_el1", CORE_REG(sp_el1), out, "\n");
	for (unsigned int i = 0; i < 31; i++) {
		snprintf(name, sizeof(name), "x%u", i);
		dump(vcpu, name, CORE_REG(regs.regs[0]) + 2 * i, out, i % 4 == 3 ? "\n" : "  ");
	}
	text_append_char(out, '\n');
	dump(vcpu, "elr_el1", CORE_REG(elr_el1), out, "\n");
	for (size_t i = 0; i < ARRAY_SIZE(system_registers); i++)
		dump(vcpu, system_registers[i].name, system_registers[i].id, out,
		     i % 3 == 2 ? "\n" : "  ");
}
