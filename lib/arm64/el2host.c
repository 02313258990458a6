// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * EL2 under the image's own feet: el2host.h. E2H stays set, so that EL2's translation and vectors
 * are those that the image began with, and the way down is the one that start.S takes for images
 * that run at EL1.
 */
#include "libcflat.h"
#include "el2host.h"
#include "startup.h"
#include <arch/cpu.h>
#include <arch/el.h>
#include <arch/exception.h>
#include <arch/percpu.h>

/* HCR_EL2 for EL1 in AArch64, as el2_drop() leaves it. */
#define HCR_RW	BIT(31)
#define HCR_E2H BIT(34)

/* ISS of a trapped MSR or MRS (Arm ARM, ESR_EL2, "ISS encoding for ... MSR, MRS"). */
#define ISS_IS_READ   BIT(0)
#define ISS_RT(iss)   ((iss) >> 5 & 0x1f)
#define ISS_SYSREG(s) ((s)&SYSREG_ID(3, 7, 15, 15, 7))
#define RT_ZERO	      31

/* HVC's immediate, which tells a call of ours from a stray one. */
#define HVC_CALL      0x4554
#define HVC_IMMEDIATE 0xffff /* in the ISS */

bool el2host_active(void)
{
	return this_cpu()->el2host != NULL;
}

void el2host_set_hcr(u64 bits)
{
	write_sysreg(HCR_RW | HCR_E2H | bits, hcr_el2);
	isb();
}

void el2host_enter(const struct el2host *host)
{
	char *stack = alloc_aligned(EXCEPTION_STACK_SIZE, 16);
	u64 daif = irq_save();

	assert(current_el() == 2);
	this_cpu()->el2host = host;
	if (host->setup)
		host->setup();
	el2_drop(host->hcr, stack + EXCEPTION_STACK_SIZE);
	irq_restore(daif);
}

u64 el2host_call(u64 (*fn)(u64 arg), u64 arg)
{
	register u64 x0 __asm__("x0") = (u64)fn;
	register u64 x1 __asm__("x1") = arg;

	__asm__ volatile("hvc %2" : "+r"(x0), "+r"(x1) : "i"(HVC_CALL) : "memory");
	return x0;
}

/* ---- at EL2 ------------------------------------------------------------------------------------ */

static const struct el2_register *find_register(const struct el2host *host, u32 sysreg)
{
	for (size_t i = 0; i < host->nr_registers; i++) {
		if (host->registers[i].sysreg == sysreg)
			return &host->registers[i];
	}
	return NULL;
}

static bool handle_access(const struct el2host *host, struct exception_frame *frame)
{
	u32 iss = ESR_ISS(frame->esr);
	u32 rt = ISS_RT(iss);
	struct el2_access access = {
		.sysreg = ISS_SYSREG(iss),
		.is_write = !(iss & ISS_IS_READ),
	};
	const struct el2_register *r = find_register(host, access.sysreg);

	if (!r)
		return false;
	if (access.is_write && rt != RT_ZERO)
		access.value = frame->x[rt];
	r->access(&access);
	if (!access.is_write && rt != RT_ZERO)
		frame->x[rt] = access.value;
	frame->pc += 4;
	return true;
}

/* The preferred return address of an HVC is the instruction behind it. */
static void handle_call(struct exception_frame *frame)
{
	u64 (*fn)(u64 arg) = (u64(*)(u64))frame->x[0];

	frame->x[0] = fn(frame->x[1]);
}

bool el2host_handle(struct exception_frame *frame)
{
	const struct el2host *host = this_cpu()->el2host;

	if (!host)
		return false;
	switch (ESR_EC(frame->esr)) {
	case EC_SYSREG:
		return handle_access(host, frame);
	case EC_HVC64:
		if ((ESR_ISS(frame->esr) & HVC_IMMEDIATE) != HVC_CALL)
			return false;
		handle_call(frame);
		return true;
	default:
		return false;
	}
}
