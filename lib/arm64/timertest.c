// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Timers with their interrupts, counted and judged: timertest.h.
 */
#include "libcflat.h"
#include "timertest.h"
#include <arch/cpu.h>
#include <arch/el.h>
#include <arch/gic.h>

#define FIRST_PPI 16
#define NR_PPIS	  16

#define MAX_FURTHER 8

static struct timer_line *lines[MAX_CPUS][NR_PPIS];

/* ---- all timers --------------------------------------------------------------------------------- */

static const struct timer_ops *const el1_timers[] = { &virtual_timer, &physical_timer };
static const char *const el1_names[] = { "virtual", "physical" };
static const struct timer_ops *const el2_timers[] = {
	&virtual_timer,
	&physical_timer,
	&el1_virtual_timer,
	&el1_physical_timer,
};
static const char *const el2_names[] = { "hyp-virtual", "hyp-physical", "virtual", "physical" };

const struct timer_ops *const *timer_all(int *count)
{
	bool el2 = wanted_el() == 2;

	*count = el2 ? ARRAY_SIZE(el2_timers) : ARRAY_SIZE(el1_timers);
	return el2 ? el2_timers : el1_timers;
}

int timer_report_run(const char *image, const struct check *each, size_t nr_each,
		     const struct check *further, size_t nr_further)
{
	static struct check checks[TIMER_MAX_TIMERS + MAX_FURTHER];
	const char *const *names = wanted_el() == 2 ? el2_names : el1_names;
	const struct timer_ops *const *timers;
	int count;

	timers = timer_all(&count);
	assert(nr_further <= MAX_FURTHER);
	for (int i = 0; i < count; i++)
		checks[i] = (struct check){
			.name = names[i],
			.checks = each,
			.nr_checks = nr_each,
			.subject = timers[i],
		};
	memcpy(&checks[count], further, nr_further * sizeof(*further));
	return report_run(image, checks, count + nr_further);
}

/* ---- the interrupt ----------------------------------------------------------------------------- */

void timer_stop(struct timer_line *line)
{
	line->timer->set_ctl(0);
}

void timer_mask(struct timer_line *line)
{
	line->timer->set_ctl(TIMER_CTL_ENABLE | TIMER_CTL_IMASK);
}

static void timer_interrupt(u32 intid, struct exception_frame *frame)
{
	struct timer_line *line = lines[smp_id()][intid - FIRST_PPI];
	u64 ctl;

	if (!line) {
		report_fail("interrupt %u came on CPU %d after it was disabled", intid, smp_id());
		gic_disable(intid);
		return;
	}
	line->handled_ticks = line->timer->count();
	ctl = line->timer->ctl();
	if (ctl != (TIMER_CTL_ENABLE | TIMER_CTL_ISTATUS))
		line->unasserted++;
	if (line->handled_ticks < line->cval) {
		line->early++;
		line->most_early = MAX(line->most_early, line->cval - line->handled_ticks);
	}
	line->remove_cause(line);
	__atomic_fetch_add(&line->handled, 1, __ATOMIC_RELEASE);
}

bool timer_open_quietly(struct timer_line *line, const struct timer_ops *timer,
			void (*remove_cause)(struct timer_line *line))
{
	u32 intid = timer->intid();

	*line = (struct timer_line){
		.timer = timer,
		.remove_cause = remove_cause,
		.cpu = smp_id(),
		.spurious_before = gic_spurious_count(),
	};
	if (!intid)
		return false;
	timer->set_ctl(0);
	lines[line->cpu][intid - FIRST_PPI] = line;
	irq_set_handler(intid, timer_interrupt);
	gic_enable(intid);
	return true;
}

bool timer_open(struct timer_line *line, const struct timer_ops *timer,
		void (*remove_cause)(struct timer_line *line))
{
	if (timer_open_quietly(line, timer, remove_cause))
		return true;
	report_skip("the devicetree names no interrupt for EL%d's %s", current_el(), timer->name);
	return false;
}

/* The handler stays: other CPUs may have the same timer open. */
void timer_close(struct timer_line *line)
{
	u32 intid = line->timer->intid();

	line->timer->set_ctl(0);
	gic_disable(intid);
	lines[line->cpu][intid - FIRST_PPI] = NULL;
}

void timer_arm(struct timer_line *line, u64 cval)
{
	u64 daif = irq_save();

	line->cval = cval;
	line->timer->set_cval(cval);
	line->timer->set_ctl(TIMER_CTL_ENABLE);
	irq_restore(daif);
}

/* ---- counts ------------------------------------------------------------------------------------ */

static u64 handled(const struct timer_line *line)
{
	return __atomic_load_n(&line->handled, __ATOMIC_ACQUIRE);
}

bool timer_wait_handled(struct timer_line *line, u64 n)
{
	u64 daif = irq_save();
	bool came;

	irq_enable();
	came = spin_until(handled(line) >= n, TIMER_WAIT_NS);
	irq_restore(daif);
	return came;
}

bool timer_judge_handled(const struct timer_line *line, u64 n)
{
	const char *name = line->timer->name;
	u64 spurious = gic_spurious_count() - line->spurious_before;
	bool right;

	right = report_expect(line->handled == n, "CPU %d, %s: armed %lu times, handled %lu times",
			      line->cpu, name, n, line->handled);
	right &= report_expect(!line->early,
			       "CPU %d, %s: %lu of %lu interrupts were early, by up to %lu ticks",
			       line->cpu, name, line->early, line->handled, line->most_early);
	right &=
		report_expect(!line->unasserted,
			      "CPU %d, %s: %lu of %lu interrupts came without ISTATUS, or disabled",
			      line->cpu, name, line->unasserted, line->handled);
	if (line->cpu == smp_id())
		right &= report_expect(!spurious,
				       "CPU %d: the GIC had no interrupt to give %lu times",
				       line->cpu, spurious);
	return right;
}

bool timer_expect_handled(struct timer_line *line, u64 n)
{
	u64 daif = irq_save();

	irq_enable();
	if (spin_until(handled(line) >= n, TIMER_WAIT_NS))
		spin_until(handled(line) > n, TIMER_SETTLE_NS);
	irq_restore(daif);
	return timer_judge_handled(line, n);
}

/* ---- levels ------------------------------------------------------------------------------------ */

struct timer_look timer_look(const struct timer_ops *timer, u64 cval)
{
	struct timer_look look;

	look.before_ticks = timer->count();
	look.istatus = timer->ctl() & TIMER_CTL_ISTATUS;
	look.after_ticks = timer->count();
	look.too_early = look.istatus && look.after_ticks < cval;
	look.too_late = !look.istatus && look.before_ticks >= cval;
	return look;
}

bool timer_expect_istatus(const struct timer_ops *timer, u64 cval, bool wanted)
{
	struct timer_look look;
	struct spin_bound bound;

	spin_start(&bound, TIMER_WAIT_NS);
	do {
		look = timer_look(timer, cval);
		if (look.too_early) {
			report_fail("the %s has ISTATUS at count 0x%lx, before CVAL 0x%lx",
				    timer->name, look.after_ticks, cval);
			return false;
		}
	} while (look.istatus != wanted && spin_poll(&bound));
	return report_expect(look.istatus == wanted,
			     "the %s's ISTATUS stays %d at count 0x%lx, CVAL 0x%lx", timer->name,
			     look.istatus, look.after_ticks, cval);
}

bool timer_expect_pending(const struct timer_ops *timer, bool wanted, const char *when)
{
	u32 intid = timer->intid();

	return report_expect(spin_until(gic_is_pending(intid) == wanted, TIMER_WAIT_NS),
			     "%s the %s's interrupt %u stays %s at the GIC", when, timer->name,
			     intid, wanted ? "not pending" : "pending");
}

bool timer_cval_wrap_hangs_host(void)
{
	const char *version = args_str("outer-qemu", NULL);

	/* "7.2.22": below 10 as long as the major version has one digit. */
	if (!version || version[0] < '0' || version[0] > '9' || version[1] != '.')
		return false;
	report_skip("QEMU %s, which runs this host, hangs when CVAL plus CNTVOFF_EL2 exceeds 64 "
		    "bits",
		    version);
	return true;
}

u64 timer_ticks(u64 ns)
{
	return ns_to_ticks(ns, clock_hz());
}

/* Numerical Recipes' linear congruential generator; its upper bits are the better ones. */
u32 timer_random(u32 *state, u32 bound)
{
	*state = *state * 1664525 + 1013904223;
	return (u64)*state * bound >> 32;
}

/* ---- lateness ---------------------------------------------------------------------------------- */

static void note(struct timer_lateness *lateness, const struct timer_line *line, u64 cval,
		 u64 ran_ticks)
{
	if (lateness->count == TIMER_LATE_SAMPLES)
		return;
	/* An early one is judged elsewhere. */
	lateness->late_ticks[lateness->count] = MAX(line->handled_ticks, cval) - cval;
	lateness->ran_ticks[lateness->count++] = ran_ticks;
}

/*
 * Only reads one after the other within the gap prove that the guest ran between them; and only
 * what lies behind the deadline counts.
 */
bool timer_wait_watched(struct timer_line *line, u64 n, struct timer_lateness *lateness)
{
	u64 daif = irq_save();
	u64 gap_ticks = timer_ticks(TIMER_GAP_NS), ran_ticks = 0;
	u64 last_ticks, now_ticks, cval = line->cval;
	struct spin_bound bound;

	spin_start(&bound, TIMER_WAIT_NS);
	irq_enable();
	last_ticks = line->timer->count();
	while (handled(line) < n && spin_poll(&bound)) {
		now_ticks = line->timer->count();
		if (last_ticks >= cval && now_ticks - last_ticks <= gap_ticks)
			ran_ticks += now_ticks - last_ticks;
		last_ticks = now_ticks;
	}
	irq_restore(daif);
	if (handled(line) < n)
		return false;
	note(lateness, line, cval, ran_ticks);
	return true;
}

void timer_note_lateness(struct timer_lateness *lateness, const struct timer_line *line)
{
	note(lateness, line, line->cval, 0);
}

static void sort(u64 *values, size_t count)
{
	for (size_t gap = count / 2; gap; gap /= 2) {
		for (size_t i = gap; i < count; i++) {
			u64 value = values[i];
			size_t j = i;

			for (; j >= gap && values[j - gap] > value; j -= gap)
				values[j] = values[j - gap];
			values[j] = value;
		}
	}
}

static u64 at_percent_ns(const u64 *sorted_ticks, size_t count, unsigned int percent)
{
	return ticks_to_ns(sorted_ticks[(count - 1) * percent / 100], clock_hz());
}

static void print_distribution(const char *what, const char *kind, const u64 *sorted, size_t count)
{
	report_info("%s, %s, ns: n=%zu min=%lu p50=%lu p95=%lu p99=%lu max=%lu", what, kind, count,
		    at_percent_ns(sorted, count, 0), at_percent_ns(sorted, count, 50),
		    at_percent_ns(sorted, count, 95), at_percent_ns(sorted, count, 99),
		    at_percent_ns(sorted, count, 100));
}

void timer_print_lateness(struct timer_lateness *l, const char *what)
{
	if (!l->count)
		return;
	sort(l->late_ticks, l->count);
	print_distribution(what, "late", l->late_ticks, l->count);
}

void timer_judge_lateness(struct timer_lateness *l, const char *what)
{
	u64 median_ns, most_ns;

	if (!l->count) {
		report_fail("%s: no interrupt came at all", what);
		return;
	}
	timer_print_lateness(l, what);
	sort(l->ran_ticks, l->count);
	print_distribution(what, "late while the guest ran", l->ran_ticks, l->count);
	median_ns = at_percent_ns(l->ran_ticks, l->count, 50);
	most_ns = at_percent_ns(l->ran_ticks, l->count, 100);
	report_expect(median_ns <= TIMER_LATE_MEDIAN_MAX_NS,
		      "%s: half of %zu interrupts were more than %lu ms late while the guest ran",
		      what, l->count, median_ns / NSEC_PER_MSEC);
	report_expect(most_ns <= TIMER_LATE_MAX_NS,
		      "%s: an interrupt was %lu ms late while the guest ran", what,
		      most_ns / NSEC_PER_MSEC);
}
