/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may read the counters and use the timers at EL0: exactly those whom CNTKCTL_EL1 lets (at EL2
 * with E2H and TGE, CNTHCTL_EL2), on this CPU and no other. What is let through is the register that
 * the image's own level sees; what is not raises an exception that names the register, and neither
 * reads nor changes it.
 *
 * A hypervisor that emulates a counter or a timer and does not look at the guest's enable bits lets
 * time leak to programs from which it was to be hidden, and fails trapped; or keeps it from those
 * that may have it, and fails allowed. One that emulates the physical counter from the virtual
 * timer's state fails allowed as well (A11).
 *
 * Arguments: el=2.
 */
#include "libcflat.h"
#include <arch/el0.h>
#include <arch/exception.h>
#include <arch/timer.h>

#define ALL_ENABLES (CNTKCTL_EL0PCTEN | CNTKCTL_EL0VCTEN | CNTKCTL_EL0VTEN | CNTKCTL_EL0PTEN)

#define ROUNDS 100

/*
 * TVAL as the checks set it up, as EL0 writes it, and how far it may have counted down when it is
 * read: each is a second or more at 1 GHz, and further from the others than that.
 */
#define TVAL_OWN    0x7f000000U
#define TVAL_EL0    0x20000000U
#define TVAL_WITHIN 0x40000000U

/* ESR_EL1.ISS of a trapped MRS or MSR (Arm ARM, ESR_EL1, exceptions from MSR, MRS). */
#define SYSREG_ISS(crm, op2) (3U << 20 | (op2) << 17 | 3U << 14 | 14U << 10 | (crm) << 1)
#define SYSREG_ISS_READ	     1U
#define SYSREG_ISS_RT	     (0x1fU << 5)

/* ---- at EL0 ------------------------------------------------------------------------------------ */

/* One access: what is written, or was read, and whether it came through. */
struct access {
	u64 value;
	bool done;
};

/* The first survives a trap and tells of it; the second is left in it. */
#define EL0_READ(reg, name)                                  \
	static u64 reg##_read(void *arg)                     \
	{                                                    \
		struct access *a = arg;                      \
                                                             \
		a->done = sysreg_read_safe(name, &a->value); \
		return 0;                                    \
	}                                                    \
	static u64 reg##_read_raw(void *arg)                 \
	{                                                    \
		return read_sysreg(name);                    \
	}

#define EL0_WRITE(reg, name)                                 \
	static u64 reg##_write(void *arg)                    \
	{                                                    \
		struct access *a = arg;                      \
                                                             \
		a->done = sysreg_write_safe(a->value, name); \
		return 0;                                    \
	}

EL0_READ(cntvct_el0, cntvct_el0)
EL0_READ(cntpct_el0, cntpct_el0)
EL0_READ(cntvctss_el0, CNTVCTSS_EL0)
EL0_READ(cntpctss_el0, CNTPCTSS_EL0)
EL0_READ(cntfrq_el0, cntfrq_el0)
EL0_READ(cntv_ctl_el0, cntv_ctl_el0)
EL0_READ(cntv_cval_el0, cntv_cval_el0)
EL0_READ(cntv_tval_el0, cntv_tval_el0)
EL0_READ(cntp_ctl_el0, cntp_ctl_el0)
EL0_READ(cntp_cval_el0, cntp_cval_el0)
EL0_READ(cntp_tval_el0, cntp_tval_el0)
EL0_WRITE(cntv_ctl_el0, cntv_ctl_el0)
EL0_WRITE(cntv_cval_el0, cntv_cval_el0)
EL0_WRITE(cntv_tval_el0, cntv_tval_el0)
EL0_WRITE(cntp_ctl_el0, cntp_ctl_el0)
EL0_WRITE(cntp_cval_el0, cntp_cval_el0)
EL0_WRITE(cntp_tval_el0, cntp_tval_el0)

/* ---- the registers ----------------------------------------------------------------------------- */

enum kind {
	COUNTER, /* lies between two reads at the image's own level */
	CONSTANT,
	DOWNCOUNT, /* 32 bits, falling */
};

struct el0_register {
	const char *name;
	enum kind kind;
	bool ecv;
	u64 enables; /* each of them lets EL0 in */
	u32 iss;
	u64 (*own)(void);
	u64 (*read)(void *arg);
	u64 (*read_raw)(void *arg);
	u64 (*write)(void *arg); /* NULL: read-only at EL0 */
	const struct timer_ops *timer;
};

#define READ_ONLY(reg, kind_, enables_, crm, op2, ecv_)                        \
	{                                                                      \
		.name = #reg, .kind = kind_, .ecv = ecv_, .enables = enables_, \
		.iss = SYSREG_ISS(crm, op2), .own = reg, .read = reg##_read,   \
		.read_raw = reg##_read_raw,                                    \
	}
#define READ_WRITE(reg, kind_, enables_, crm, op2, timer_)                                        \
	{                                                                                         \
		.name = #reg, .kind = kind_, .enables = enables_, .iss = SYSREG_ISS(crm, op2),    \
		.own = reg, .read = reg##_read, .read_raw = reg##_read_raw, .write = reg##_write, \
		.timer = timer_,                                                                  \
	}

static const struct el0_register cntvct = //
	READ_ONLY(cntvct_el0, COUNTER, CNTKCTL_EL0VCTEN, 0U, 2U, false);
static const struct el0_register cntpct =
	READ_ONLY(cntpct_el0, COUNTER, CNTKCTL_EL0PCTEN, 0U, 1U, false);
static const struct el0_register cntvctss =
	READ_ONLY(cntvctss_el0, COUNTER, CNTKCTL_EL0VCTEN, 0U, 6U, true);
static const struct el0_register cntpctss =
	READ_ONLY(cntpctss_el0, COUNTER, CNTKCTL_EL0PCTEN, 0U, 5U, true);
static const struct el0_register cntfrq =
	READ_ONLY(cntfrq_el0, CONSTANT, CNTKCTL_EL0PCTEN | CNTKCTL_EL0VCTEN, 0U, 0U, false);
static const struct el0_register cntv_ctl =
	READ_WRITE(cntv_ctl_el0, CONSTANT, CNTKCTL_EL0VTEN, 3U, 1U, &virtual_timer);
static const struct el0_register cntv_cval =
	READ_WRITE(cntv_cval_el0, CONSTANT, CNTKCTL_EL0VTEN, 3U, 2U, &virtual_timer);
static const struct el0_register cntv_tval =
	READ_WRITE(cntv_tval_el0, DOWNCOUNT, CNTKCTL_EL0VTEN, 3U, 0U, &virtual_timer);
static const struct el0_register cntp_ctl =
	READ_WRITE(cntp_ctl_el0, CONSTANT, CNTKCTL_EL0PTEN, 2U, 1U, &physical_timer);
static const struct el0_register cntp_cval =
	READ_WRITE(cntp_cval_el0, CONSTANT, CNTKCTL_EL0PTEN, 2U, 2U, &physical_timer);
static const struct el0_register cntp_tval =
	READ_WRITE(cntp_tval_el0, DOWNCOUNT, CNTKCTL_EL0PTEN, 2U, 0U, &physical_timer);

/* ---- what is tried ----------------------------------------------------------------------------- */

static void set_enables(u64 enables)
{
	set_cntkctl_el1((cntkctl_el1() & ~ALL_ENABLES) | enables);
}

/* The state that an access finds: the register's timer enabled, masked and far from due. */
static const struct el0_register *begin(u64 *old_cntkctl)
{
	const struct el0_register *reg = report_subject();

	if (reg->ecv && !cpu_has_ecv()) {
		report_skip("the CPU has no FEAT_ECV (ID_AA64MMFR0_EL1.ECV is 0)");
		return NULL;
	}
	*old_cntkctl = cntkctl_el1();
	if (reg->timer) {
		reg->timer->set_tval(TVAL_OWN);
		reg->timer->set_ctl(TIMER_CTL_ENABLE | TIMER_CTL_IMASK);
	}
	return reg;
}

static void end(const struct el0_register *reg, u64 old_cntkctl)
{
	if (reg->timer)
		reg->timer->set_ctl(0);
	set_cntkctl_el1(old_cntkctl);
}

/* Runs the access at EL0; false, reported, when something else than it was raised there. */
static bool run_at_el0(u64 (*fn)(void *arg), struct access *a)
{
	struct exception caught;
	u64 unused;

	a->done = false;
	if (!el0_try(fn, a, &unused, &caught))
		return true;
	report_error("EL0 raised: %s, ESR %#lx at %#lx", exception_class_name(ESR_EC(caught.esr)),
		     caught.esr, caught.pc);
	return false;
}

static bool lies_between(enum kind kind, u64 before, u64 value, u64 after)
{
	switch (kind) {
	case COUNTER:
		return before <= value && value <= after;
	case CONSTANT:
		return value == before && value == after;
	case DOWNCOUNT:
		return (u32)(before - value) <= (u32)(before - after);
	}
	return false;
}

/* Whether the register, of a timer, has this value, or had it a short while ago. */
static bool still_is(const struct el0_register *reg, u64 value)
{
	if (reg->kind == DOWNCOUNT)
		return (u32)(value - reg->own()) < TVAL_WITHIN;
	return reg->own() == value;
}

static bool read_is_allowed(const struct el0_register *reg)
{
	struct access a = { 0 };
	u64 before, after;

	before = reg->own();
	if (!run_at_el0(reg->read, &a))
		return false;
	after = reg->own();
	return report_expect(a.done, "EL0 may not read %s with CNTKCTL_EL1 = %#lx", reg->name,
			     cntkctl_el1()) &&
	       report_expect(lies_between(reg->kind, before, a.value, after),
			     "EL0 read %s as %#lx, before and after it was %#lx and %#lx",
			     reg->name, a.value, before, after);
}

/* Another value, that keeps the timer from being due; read back at the own level. */
static void write_is_allowed(const struct el0_register *reg)
{
	struct access a;

	a.value = reg->kind == CONSTANT ? reg->own() ^ TIMER_CTL_IMASK : TVAL_EL0;
	if (!run_at_el0(reg->write, &a))
		return;
	report_expect(a.done, "EL0 may not write %s with CNTKCTL_EL1 = %#lx", reg->name,
		      cntkctl_el1());
	report_expect(still_is(reg, a.value), "EL0 wrote %s as %#lx, and it is %#lx", reg->name,
		      a.value, reg->own());
}

/* By each of its enables alone. */
static void allowed(void)
{
	u64 old_cntkctl;
	const struct el0_register *reg = begin(&old_cntkctl);

	if (!reg)
		return;
	for (int bit = 0; bit < 64; bit++) {
		if (!(reg->enables & BIT(bit)))
			continue;
		set_enables(BIT(bit));
		for (int round = 0; round < ROUNDS && read_is_allowed(reg); round++)
			;
		if (reg->write)
			write_is_allowed(reg);
	}
	end(reg, old_cntkctl);
}

/* The exception has to name register and direction; what it says of Rt is the compiler's choice. */
static void expect_syndrome(const struct el0_register *reg)
{
	struct exception caught;
	u64 value;

	if (!report_expect(el0_try(reg->read_raw, NULL, &value, &caught),
			   "EL0 read %s as %#lx with CNTKCTL_EL1 = %#lx", reg->name, value,
			   cntkctl_el1()))
		return;
	report_expect(ESR_EC(caught.esr) == EC_SYSREG && (ESR_ISS(caught.esr) & ~SYSREG_ISS_RT) ==
								 (reg->iss | SYSREG_ISS_READ),
		      "a read of %s at EL0 raised: %s, ISS %#x, to be %#x without Rt", reg->name,
		      exception_class_name(ESR_EC(caught.esr)), ESR_ISS(caught.esr),
		      reg->iss | SYSREG_ISS_READ);
}

/* Nothing comes through although all other registers are enabled, and nothing changes. */
static void trapped(void)
{
	u64 old_cntkctl, before;
	const struct el0_register *reg = begin(&old_cntkctl);
	struct access a = { 0 };

	if (!reg)
		return;
	set_enables(ALL_ENABLES & ~reg->enables);
	before = reg->own();
	for (int round = 0; round < ROUNDS; round++) {
		a.value = 0;
		if (!run_at_el0(reg->read, &a) ||
		    !report_expect(!a.done && !a.value,
				   "EL0 read %s as %#lx with CNTKCTL_EL1 = %#lx", reg->name,
				   a.value, cntkctl_el1()))
			break;
	}
	expect_syndrome(reg);
	if (reg->write) {
		a.value = 0;
		run_at_el0(reg->write, &a);
		report_expect(!a.done, "EL0 wrote %s with CNTKCTL_EL1 = %#lx", reg->name,
			      cntkctl_el1());
		report_expect(still_is(reg, before),
			      "%s was %#lx and is %#lx after EL0 was kept from it", reg->name,
			      before, reg->own());
	}
	end(reg, old_cntkctl);
}

/* ---- each CPU by itself ------------------------------------------------------------------------ */

struct cpu_access {
	struct smp_barrier barrier;
	u32 wrong;
	u64 denied[MAX_CPUS], let[MAX_CPUS];
};

/* Even CPUs let EL0 in, odd ones do not, then the other way round; all at once. */
static void try_on_cpu(void *arg)
{
	struct cpu_access *c = arg;
	u64 old_cntkctl = cntkctl_el1();
	int self = smp_id();

	for (int round = 0; round < ROUNDS; round++) {
		bool let = (round + self) % 2 == 0;
		struct access a = { 0 };

		set_enables(let ? CNTKCTL_EL0VCTEN : 0);
		smp_barrier_wait(&c->barrier);
		if (run_at_el0(cntvct.read, &a) && a.done != let)
			__atomic_fetch_add(&c->wrong, 1, __ATOMIC_RELAXED);
		c->let[self] += a.done;
		c->denied[self] += !a.done;
		smp_barrier_wait(&c->barrier);
	}
	set_cntkctl_el1(old_cntkctl);
}

static void per_cpu(void)
{
	struct cpu_access *c = alloc(sizeof(*c));
	u64 let = 0, denied = 0;

	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	smp_barrier_init(&c->barrier, smp_count());
	on_all_cpus(try_on_cpu, c);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		let += c->let[cpu];
		denied += c->denied[cpu];
	}
	report_expect(!c->wrong,
		      "%u of %lu reads of CNTVCT_EL0 at EL0 were let through or not against their "
		      "own CPU's CNTKCTL_EL1",
		      c->wrong, let + denied);
	report_info("%lu reads let through and %lu denied on %d CPUs", let, denied, smp_count());
}

/* The image's own level is not concerned. */
static void own_level(void)
{
	u64 old_cntkctl = cntkctl_el1(), virtual_ticks, physical_ticks;

	set_enables(0);
	virtual_ticks = cntvct_el0();
	physical_ticks = cntpct_el0();
	report_expect(spin_until(cntvct_el0() > virtual_ticks && cntpct_el0() > physical_ticks,
				 NSEC_PER_SEC),
		      "a counter stands still while EL0 may not read it");
	set_cntkctl_el1(old_cntkctl);
}

/* ---- the checks -------------------------------------------------------------------------------- */

static const struct check access_checks[] = {
	{ "allowed", allowed, .guards = "A11",
	  .story = "each enable bit lets EL0 use the register, and it is the same register" },
	{ "trapped", trapped,
	  .story = "without it an exception names the register, and nothing leaks or changes" },
};

#define ACCESS(name_)                                                                    \
	{                                                                                \
#name_, .checks = access_checks, .nr_checks = ARRAY_SIZE(access_checks), \
			.subject = &name_,                                               \
	}

static const struct check checks[] = {
	ACCESS(cntvct),
	ACCESS(cntpct),
	ACCESS(cntvctss),
	ACCESS(cntpctss),
	ACCESS(cntfrq),
	ACCESS(cntv_ctl),
	ACCESS(cntv_cval),
	ACCESS(cntv_tval),
	ACCESS(cntp_ctl),
	ACCESS(cntp_cval),
	ACCESS(cntp_tval),
	{ "per-cpu", per_cpu, .story = "each CPU goes by its own CNTKCTL_EL1" },
	{ "own-level", own_level, .story = "CNTKCTL_EL1 concerns EL0 alone" },
};

int main(void)
{
	return report_run("counter-el0", checks, ARRAY_SIZE(checks));
}
