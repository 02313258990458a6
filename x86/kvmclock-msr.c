// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kvmclock's MSRs with addresses that no sound guest writes: none of them may end the guest, write
 * anywhere but where it was told to, or leave the clock unusable. Whether such a write raises #GP or
 * is taken is the hypervisor's choice.
 *
 * A hypervisor that takes the address for good and maps it later crashes or kills its guest, here
 * and in no other test, which is why these have an image of their own. One that rounds the address,
 * or writes across the end of a page as if the next one followed, overwrites what it was not given.
 */
#include "kvmclocktest.h"
#include "libcflat.h"
#include <arch/cpuid.h>
#include <arch/msr.h>

static void system_time(void);
static void system_time_bounds(void);
static void wall_clock(void);
static void wall_clock_bounds(void);

#define BUFFER_SIZE (2 * PAGE_SIZE)

/* Physical addresses. */
static const u64 zero = 0;
static const u64 local_apic = 0xfee00000;
static const u64 top_of_4_gib = 0xffffffe0;
static const u64 beyond_memory = BIT(40);
static const u64 beyond_address_width = BIT(60);
static const u64 all_ones = ~PVCLOCK_ENABLE;

/* Offsets in the image's own buffer. */
static const u64 unaligned = 0x102;
static const u64 across_pages = PAGE_SIZE - 16;
static const u64 wall_clock_across_pages = PAGE_SIZE - 4;
static const u64 end_of_page = PAGE_SIZE - 32;

static const struct check system_times[] = {
	{ "physical-zero", system_time, .subject = &zero, .story = "page 0" },
	{ "local-apic", system_time, .subject = &local_apic, .story = "a device's registers" },
	{ "top-of-4-gib", system_time, .subject = &top_of_4_gib, .story = "firmware's place" },
	{ "beyond-memory", system_time, .subject = &beyond_memory, .story = "no memory at all" },
	{ "beyond-address-width", system_time, .subject = &beyond_address_width,
	  .story = "an address that no CPU has" },
	{ "all-ones", system_time, .subject = &all_ones, .story = "all bits set" },
	{ "unaligned", system_time_bounds, .subject = &unaligned,
	  .story = "only the 32 bytes at the address may change" },
	{ "across-pages", system_time_bounds, .subject = &across_pages,
	  .story = "only the 32 bytes across the boundary may change" },
	{ "end-of-page", system_time_bounds, .subject = &end_of_page,
	  .story = "only the last 32 bytes of the page may change" },
};

static const struct check wall_clocks[] = {
	{ "zero", wall_clock, .subject = &zero, .story = "page 0, or nothing" },
	{ "local-apic", wall_clock, .subject = &local_apic, .story = "a device's registers" },
	{ "top-of-4-gib", wall_clock, .subject = &top_of_4_gib, .story = "firmware's place" },
	{ "beyond-memory", wall_clock, .subject = &beyond_memory, .story = "no memory at all" },
	{ "beyond-address-width", wall_clock, .subject = &beyond_address_width,
	  .story = "an address that no CPU has" },
	{ "all-ones", wall_clock, .subject = &all_ones, .story = "all bits set" },
	{ "unaligned", wall_clock_bounds, .subject = &unaligned,
	  .story = "only the 12 bytes at the address may change" },
	{ "across-pages", wall_clock_bounds, .subject = &wall_clock_across_pages,
	  .story = "only the 12 bytes across the boundary may change" },
};

static const struct check checks[] = {
	{ "system-time", .checks = system_times, .nr_checks = ARRAY_SIZE(system_times) },
	{ "wall-clock", .checks = wall_clocks, .nr_checks = ARRAY_SIZE(wall_clocks) },
};

#define PATTERN 0xa5

static u8 buffer[BUFFER_SIZE] __attribute__((aligned(4096)));

static bool offered(void)
{
	if (pvclock_offered())
		return true;
	report_skip("no kvmclock: CPUID does not offer MSR_KVM_SYSTEM_TIME_NEW");
	return false;
}

/* Both MSRs work as ever, and no time was lost; which also shows that this CPU still runs. */
static void expect_clock_works(u64 before_ns)
{
	struct pvclock_wall_clock wall __attribute__((aligned(64))) = { 0 };
	u64 now_ns;

	if (!kvmclock_open())
		return;
	now_ns = pvclock_read_ns();
	report_expect(now_ns >= before_ns, "kvmclock was at %lu ns before, now at %lu", before_ns,
		      now_ns);
	report_expect(wrmsr_safe(MSR_KVM_WALL_CLOCK_NEW, (u64)&wall) == NO_EXCEPTION &&
			      READ_ONCE(wall.sec),
		      "MSR_KVM_WALL_CLOCK_NEW gives no time any more");
	kvmclock_close();
}

static u64 clock_now_ns(void)
{
	u64 now_ns = 0;

	if (kvmclock_open()) {
		now_ns = pvclock_read_ns();
		kvmclock_close();
	}
	return now_ns;
}

/* What the hypervisor writes it may write at a later exit: CPUID is one. */
static void write_msr(u32 msr, u64 value)
{
	int vector = wrmsr_safe(msr, value);

	report_expect(vector == NO_EXCEPTION || vector == VECTOR_GP,
		      "writing 0x%lx to MSR 0x%x raises %s", value, msr, exception_name(vector));
	for (int i = 0; i < 10; i++)
		cpuid(0);
	report_info("0x%lx: %s", value, vector == NO_EXCEPTION ? "taken" : "refused");
}

static void system_time(void)
{
	u64 address = *(const u64 *)report_subject();
	u64 before_ns;

	if (!offered())
		return;
	before_ns = clock_now_ns();
	write_msr(MSR_KVM_SYSTEM_TIME_NEW, address | PVCLOCK_ENABLE);
	pvclock_disable();
	expect_clock_works(before_ns);
}

static void wall_clock(void)
{
	u64 address = *(const u64 *)report_subject();
	u64 before_ns;

	if (!offered())
		return;
	before_ns = clock_now_ns();
	write_msr(MSR_KVM_WALL_CLOCK_NEW, address);
	expect_clock_works(before_ns);
}

/* Whatever the hypervisor made of the address, the rest of the buffer is as it was. */
static void expect_untouched(u64 offset, u64 size)
{
	for (u64 i = 0; i < BUFFER_SIZE; i++) {
		if (i >= offset && i < offset + size)
			continue;
		if (READ_ONCE(buffer[i]) == PATTERN)
			continue;
		report_fail("byte %ld from the address that was given was overwritten",
			    (s64)(i - offset));
		return;
	}
	report_pass();
}

static void check_bounds(u32 msr, u64 flags, u64 size)
{
	u64 offset = *(const u64 *)report_subject();
	u64 before_ns;

	if (!offered())
		return;
	before_ns = clock_now_ns();
	memset(buffer, PATTERN, sizeof(buffer));
	write_msr(msr, ((u64)buffer + offset) | flags);
	pvclock_disable();
	expect_untouched(offset, size);
	expect_clock_works(before_ns);
}

static void system_time_bounds(void)
{
	check_bounds(MSR_KVM_SYSTEM_TIME_NEW, PVCLOCK_ENABLE,
		     sizeof(struct pvclock_vcpu_time_info));
}

static void wall_clock_bounds(void)
{
	check_bounds(MSR_KVM_WALL_CLOCK_NEW, 0, sizeof(struct pvclock_wall_clock));
}

int main(void)
{
	return report_run("kvmclock-msr", checks, ARRAY_SIZE(checks));
}
