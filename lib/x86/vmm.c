// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What our own VMM offers by its CPUID leaves: the bulk console and a way to power off.
 */
#include "bulk_console.h"
#include "startup.h"
#include "vmm_interface.h"
#include <arch/cpuid.h>
#include <arch/io.h>

static u16 bulk_port, power_off_port;

static void set_address(u64 address)
{
	outl(bulk_port + BULK_CONSOLE_ADDRESS, address);
}

static void print(u32 length)
{
	outl(bulk_port + BULK_CONSOLE_LENGTH, length);
}

static const struct bulk_console bulk = { .set_address = set_address, .print = print };

void vmm_init(void)
{
	u32 base = cpuid_hypervisor_base(VMM_CPUID_SIGNATURE);
	struct cpuid offer;

	if (!base)
		return;
	offer = cpuid(base + 1);
	power_off_port = offer.ebx;
	bulk_port = offer.eax;
	if (bulk_port)
		bulk_console_init(&bulk);
}

void vmm_power_off(void)
{
	if (power_off_port)
		outw(power_off_port, VMM_POWER_OFF_VALUE);
}
