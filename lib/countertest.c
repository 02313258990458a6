// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Monotonic on a CPU, ordered from CPU to CPU, bracketed by another counter.
 */
#include "countertest.h"
#include "libcflat.h"

#define READS_DEFAULT	  100000
#define HANDOVERS_DEFAULT 100000
#define BRACKETS_MIN	  1000
#define BACKWARDS_KEPT	  16		       /* of a CPU; the rest is counted */
#define READS_PER_LOOK	  256		       /* reads between two looks at the budget */
#define PATIENCE_NS	  (20 * NSEC_PER_USEC) /* spins so long before it sleeps */
#define KICK_AGAIN_NS	  NSEC_PER_MSEC
#define RELEASE_NS	  (10 * NSEC_PER_SEC)

/* b - a, negative where b is behind, for counters of fewer than 64 bits too. */
static s64 difference(const struct counter_ops *counter, u64 a, u64 b)
{
	u64 forward = (b - a) & counter->mask;

	return forward > counter->mask / 2 ? -(s64)((a - b) & counter->mask) : (s64)forward;
}

static u64 step_ns(const struct counter_ops *counter, u64 ticks)
{
	return counter->hz ? ticks_to_ns(ticks, counter->hz) : 0;
}

/* ---- one CPU ----------------------------------------------------------------------------------- */

struct monotonic_cpu {
	u64 reads;
	u64 largest_step;
	u64 largest_from, largest_to;
	u64 backwards;
	struct {
		u64 from, to;
	} step[BACKWARDS_KEPT]; /* the first of the steps backwards */
	bool moved;
} __attribute__((aligned(64)));

struct monotonic {
	const struct counter_ops *counter;
	u64 min_reads;
	u64 min_ns;
	u64 budget_ns;
	struct smp_barrier barrier;
	struct monotonic_cpu *cpus;
};

static void monotonic_reads(const struct counter_ops *counter, struct monotonic_cpu *r, u64 *last)
{
	for (int i = 0; i < READS_PER_LOOK; i++) {
		u64 now = counter->read();
		s64 step = difference(counter, *last, now);

		if (step < 0) {
			if (r->backwards < BACKWARDS_KEPT) {
				r->step[r->backwards].from = *last;
				r->step[r->backwards].to = now;
			}
			r->backwards++;
		}
		if (step > 0)
			r->moved = true;
		if (step > (s64)r->largest_step) {
			r->largest_step = step;
			r->largest_from = *last;
			r->largest_to = now;
		}
		*last = now;
	}
	r->reads += READS_PER_LOOK;
}

static void monotonic_on_cpu(void *arg)
{
	struct monotonic *m = arg;
	struct monotonic_cpu *r = &m->cpus[smp_id()];
	struct spin_bound least, budget;
	bool enough = false;
	u64 last;

	smp_barrier_wait(&m->barrier);
	spin_start(&least, m->min_ns);
	spin_start(&budget, m->budget_ns);
	last = m->counter->read();
	while (spin_poll(&budget) && !(r->reads >= m->min_reads && enough)) {
		monotonic_reads(m->counter, r, &last);
		enough = enough || !spin_poll(&least);
	}
}

static void monotonic_judge(const struct monotonic *m, int cpu)
{
	const struct monotonic_cpu *r = &m->cpus[cpu];

	report_expect(r->moved, "%s stood still for %lu reads on CPU %d", m->counter->name,
		      r->reads, cpu);
	report_expect(!r->backwards,
		      "%s went backwards %lu times in %lu reads on CPU %d, first from 0x%lx to "
		      "0x%lx",
		      m->counter->name, r->backwards, r->reads, cpu, r->step[0].from,
		      r->step[0].to);
	/* Which bits turned over tells a counter that is misread at a roll-over from a jump. */
	for (u64 i = 0; i < MIN(r->backwards, (u64)BACKWARDS_KEPT); i++)
		report_info("CPU %d, step backwards %lu: 0x%lx to 0x%lx", cpu, i + 1,
			    r->step[i].from, r->step[i].to);
}

void counter_check_monotonic(const struct counter_ops *counter)
{
	int count = smp_count();
	struct monotonic m = {
		.counter = counter,
		.min_reads = args_u64("reads", READS_DEFAULT),
		.min_ns = report_budget_ns() / 10,
		.budget_ns = report_budget_ns(),
		.cpus = alloc_aligned(count * sizeof(struct monotonic_cpu), 64),
	};
	u64 fewest = UINT64_MAX, total = 0;
	int widest = 0;

	smp_barrier_init(&m.barrier, count);
	on_all_cpus(monotonic_on_cpu, &m);
	for (int cpu = 0; cpu < count; cpu++) {
		monotonic_judge(&m, cpu);
		fewest = MIN(fewest, m.cpus[cpu].reads);
		total += m.cpus[cpu].reads;
		if (m.cpus[cpu].largest_step > m.cpus[widest].largest_step)
			widest = cpu;
	}
	report_info("%s: %lu reads on %d CPUs at once, %lu at least on each; largest step forward "
		    "%lu ticks (%lu ns), on CPU %d from 0x%lx to 0x%lx",
		    counter->name, total, count, fewest, m.cpus[widest].largest_step,
		    step_ns(counter, m.cpus[widest].largest_step), widest,
		    m.cpus[widest].largest_from, m.cpus[widest].largest_to);
}

/* ---- from CPU to CPU --------------------------------------------------------------------------- */

/* All but turn and stop is touched only by the CPU whose turn it is. */
struct handover {
	const struct counter_ops *counter;
	u32 cpus;
	u64 limit;
	u64 budget_ns;
	struct smp_barrier barrier;
	u64 turn __attribute__((aligned(64)));
	u32 stop __attribute__((aligned(64)));
	u32 awake[MAX_CPUS]; /* 0: asleep, or about to be */
	u32 left;	     /* CPUs that are through, CPU 0 not counted */
	u64 last __attribute__((aligned(64)));
	u64 smallest_step[MAX_CPUS]; /* by the CPU that took over */
	u64 largest_step;
	u64 backwards;
	u64 largest_backwards;
	u32 backwards_to; /* CPU that saw the largest */
};

static bool handover_over(const struct handover *h, u64 turn)
{
	return turn >= h->limit || __atomic_load_n(&h->stop, __ATOMIC_SEQ_CST);
}

/* Wakes the CPU if it sleeps; no order of the two words is missed, both sides use SEQ_CST. */
static void handover_wake(struct handover *h, u32 cpu)
{
	if (__atomic_load_n(&h->awake[cpu], __ATOMIC_SEQ_CST))
		return;
	__atomic_store_n(&h->awake[cpu], 1, __ATOMIC_SEQ_CST);
	arch_smp_kick(cpu);
}

/*
 * Sleeps until woken for this CPU's turn. Where the host has fewer CPUs than the guest, those that
 * spin keep the one whose turn it is from being run. CPU 0 stays awake: it ends the check in time
 * and kicks a sleeper again whose wake-up got lost (lib/smp.c tells how that can be).
 */
static void handover_sleep(struct handover *h, u32 self)
{
	__atomic_store_n(&h->awake[self], 0, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&h->awake[self], __ATOMIC_SEQ_CST)) {
		u64 turn = __atomic_load_n(&h->turn, __ATOMIC_SEQ_CST);

		if (turn % h->cpus == self || handover_over(h, turn))
			break;
		arch_smp_idle(&h->awake[self]);
	}
	__atomic_store_n(&h->awake[self], 1, __ATOMIC_SEQ_CST);
}

/* CPU 0's part of a long wait: false at its end. */
static bool handover_watch(struct handover *h, struct spin_bound *bound, struct spin_bound *kick)
{
	if (!spin_poll(bound)) {
		__atomic_store_n(&h->stop, 1, __ATOMIC_SEQ_CST);
		return false;
	}
	if (!spin_poll(kick)) {
		u32 next = __atomic_load_n(&h->turn, __ATOMIC_ACQUIRE) % h->cpus;

		if (next != 0)
			arch_smp_kick(next);
		spin_start(kick, KICK_AGAIN_NS);
	}
	return true;
}

/* true, with the number of the turn, when it is this CPU's; false when all is over. */
static bool handover_wait(struct handover *h, u32 self, struct spin_bound *bound, u64 *turn)
{
	struct spin_bound kick, patience;

	spin_start(&kick, KICK_AGAIN_NS);
	spin_start(&patience, PATIENCE_NS);
	for (;;) {
		*turn = __atomic_load_n(&h->turn, __ATOMIC_ACQUIRE);
		if (handover_over(h, *turn))
			return false;
		if (*turn % h->cpus == self)
			return true;
		if (self == 0 && !handover_watch(h, bound, &kick))
			return false;
		if (self != 0 && !spin_poll(&patience))
			handover_sleep(h, self);
	}
}

static void handover_note(struct handover *h, u32 self, u64 turn, u64 now)
{
	s64 step = difference(h->counter, h->last, now);

	if (turn > 0 && step < 0) {
		h->backwards++;
		if ((u64)-step > h->largest_backwards) {
			h->largest_backwards = -step;
			h->backwards_to = self;
		}
	}
	if (turn > 0 && step >= 0) {
		h->smallest_step[self] = MIN(h->smallest_step[self], (u64)step);
		h->largest_step = MAX(h->largest_step, (u64)step);
	}
	h->last = now;
}

/* CPU 0, at the end: until all others have left, since a sleeper's wake-up may get lost. */
static void handover_release(struct handover *h)
{
	struct spin_bound all, kick;

	spin_start(&all, RELEASE_NS);
	do {
		for (u32 cpu = 1; cpu < h->cpus; cpu++)
			arch_smp_kick(cpu);
		spin_start(&kick, KICK_AGAIN_NS);
		while (__atomic_load_n(&h->left, __ATOMIC_ACQUIRE) < h->cpus - 1 &&
		       spin_poll(&kick))
			;
	} while (__atomic_load_n(&h->left, __ATOMIC_ACQUIRE) < h->cpus - 1 && spin_poll(&all));
}

static void handover_on_cpu(void *arg)
{
	struct handover *h = arg;
	struct spin_bound bound;
	u32 self = smp_id();
	u64 turn;

	smp_barrier_wait(&h->barrier);
	spin_start(&bound, h->budget_ns);
	while (handover_wait(h, self, &bound, &turn)) {
		/* The branch on turn and the ordered read keep this behind the acquire. */
		handover_note(h, self, turn, h->counter->read());
		__atomic_store_n(&h->turn, turn + 1, __ATOMIC_SEQ_CST);
		handover_wake(h, (turn + 1) % h->cpus);
	}
	if (self == 0)
		handover_release(h);
	else
		__atomic_fetch_add(&h->left, 1, __ATOMIC_RELEASE);
}

/*
 * How far two of the CPUs may be apart unseen. A step from CPU a to CPU b is the time that passed
 * plus b's lead, so b leads by no more than the smallest such step, and along the ring by no more
 * than the sum of them. The longest way is all but one of the ring's parts.
 */
static u64 handover_blind_ticks(const struct handover *h)
{
	u64 sum = 0, smallest = UINT64_MAX;

	for (u32 cpu = 0; cpu < h->cpus; cpu++) {
		sum += h->smallest_step[cpu];
		smallest = MIN(smallest, h->smallest_step[cpu]);
	}
	return sum - smallest;
}

/* NULL after a verdict. */
static const struct handover *handover_run(const struct counter_ops *counter, int cpus)
{
	struct handover *h;

	if (smp_count() < cpus) {
		report_skip("needs %d CPUs, %d are up", cpus, smp_count());
		return NULL;
	}
	h = alloc_aligned(sizeof(*h), 64);
	h->counter = counter;
	h->cpus = cpus;
	h->limit = args_u64("handovers", HANDOVERS_DEFAULT);
	h->budget_ns = report_budget_ns();
	for (int cpu = 0; cpu < cpus; cpu++) {
		h->awake[cpu] = 1;
		h->smallest_step[cpu] = UINT64_MAX;
	}
	smp_barrier_init(&h->barrier, cpus);
	on_first_cpus(cpus, handover_on_cpu, h);
	report_info("%s: %lu hand-overs between %d CPUs%s; largest step forward %lu ticks (%lu ns)",
		    counter->name, h->turn, cpus, h->turn < h->limit ? " in the time budget" : "",
		    h->largest_step, step_ns(counter, h->largest_step));
	if (h->turn < 2 * (u64)cpus) {
		report_error("only %lu hand-overs in %lu ms: nothing can be concluded", h->turn,
			     h->budget_ns / NSEC_PER_MSEC);
		return NULL;
	}
	if (!h->backwards)
		report_info("no two CPUs' %s are further apart than %lu ticks (%lu ns)",
			    counter->name, handover_blind_ticks(h),
			    step_ns(counter, handover_blind_ticks(h)));
	return h;
}

void counter_check_cross_cpu_within(const struct counter_ops *counter, int cpus, u64 allowed)
{
	const struct handover *h = handover_run(counter, cpus);

	if (!h)
		return;
	if (h->backwards && h->largest_backwards <= allowed)
		report_info("%s was behind another CPU's in %lu of %lu hand-overs, by up to %lu "
			    "ticks (%lu ns)",
			    counter->name, h->backwards, h->turn, h->largest_backwards,
			    step_ns(counter, h->largest_backwards));
	report_expect(h->largest_backwards <= allowed,
		      "%s was behind another CPU's in %lu of %lu hand-overs, by up to %lu ticks "
		      "(%lu ns), then on CPU %u",
		      counter->name, h->backwards, h->turn, h->largest_backwards,
		      step_ns(counter, h->largest_backwards), h->backwards_to);
}

void counter_check_cross_cpu(const struct counter_ops *counter, int cpus)
{
	counter_check_cross_cpu_within(counter, cpus, 0);
}

/* ---- one counter by another -------------------------------------------------------------------- */

struct bracket {
	s64 low, high;	       /* inner minus outer, as far as all brackets so far agree */
	s64 now_low, now_high; /* by the last one alone */
	u64 count;
	u64 tightest;
};

/* false when the last bracket contradicts the ones before it, or itself by going backwards. */
static bool bracket_take(struct bracket *b, const struct counter_ops *outer,
			 const struct counter_ops *inner, u64 slack)
{
	u64 before = outer->read();
	u64 between = inner->read();
	u64 after = outer->read();

	b->now_low = (s64)(between - after) - (s64)slack;
	b->now_high = (s64)(between - before) + (s64)slack;
	if ((s64)(after - before) < 0)
		return false;
	b->tightest = MIN(b->tightest, after - before);
	if (b->count++ == 0) {
		b->low = b->now_low;
		b->high = b->now_high;
		return true;
	}
	if (b->now_low > b->high || b->now_high < b->low)
		return false;
	b->low = MAX(b->low, b->now_low);
	b->high = MIN(b->high, b->now_high);
	return true;
}

void counter_check_bracket(const struct counter_ops *outer, const struct counter_ops *inner,
			   u64 slack)
{
	struct bracket b = { .tightest = UINT64_MAX };
	struct spin_bound least, budget;
	bool agree = true, enough = false;

	spin_start(&least, report_budget_ns() / 10);
	spin_start(&budget, report_budget_ns());
	while (agree && spin_poll(&budget) && !(b.count >= BRACKETS_MIN && enough)) {
		agree = bracket_take(&b, outer, inner, slack);
		enough = enough || !spin_poll(&least);
	}
	report_info("%s between two reads of %s: %lu brackets, tightest %lu, difference %ld to "
		    "%ld",
		    inner->name, outer->name, b.count, b.tightest, b.low, b.high);
	report_expect(agree,
		      "%s minus %s is not constant: it was within [%ld, %ld], then within [%ld, "
		      "%ld] in bracket %lu",
		      inner->name, outer->name, b.low, b.high, b.now_low, b.now_high, b.count);
}
