// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Timers of an idle guest while the host acts: hosttimertest.h. Every CPU has one timer armed and
 * sleeps, and nothing else happens in the guest, since whatever else is armed, or comes in, makes a
 * hypervisor look again at the timer that it had lost.
 *
 * All is judged by the counter that the timer goes by. The host's clock tells where that counter
 * stood when the guest ran again, from a stamp afterwards: what was due while the guest did not run
 * is late only from there on.
 */
#include "actiontimer.h"
#include "hostaction.h"
#include "hosttimertest.h"
#include "libcflat.h"
#include <arch/cpu.h>

#define MAX_KINDS   8
#define MAX_TIMERS  4
#define ACTION_MS   60	/* from the call to the action: all CPUs are asleep by then */
#define NEAR_MS	    30	/* due before it */
#define FAR_MS	    300 /* due so long after it, did it take no longer than asked for */
#define PERIOD_NS   (10 * NSEC_PER_MSEC)
#define PERIODS	    20 /* after the action */
#define PERIODIC_NS (8 * NSEC_PER_SEC)
#define WAIT_NS	    NSEC_PER_SEC
#define SETTLE_NS   (200 * NSEC_PER_USEC)

/*
 * The most that an interrupt may be late once the guest runs: three threads of the host, each lagging
 * by 100 ms, stand between an emulated timer and its vCPU (the timer's, the one that holds the lock,
 * the vCPU's own).
 */
#define LATE_MAX_NS (300 * NSEC_PER_MSEC)

/* When a timer is due, by the action. */
enum when {
	NEAR,	/* before it */
	AT_IT,	/* at about the same instant */
	DURING, /* halfway through */
	FAR,	/* after it */
	NR_WHEN
};

static const char *const when_names[NR_WHEN] = {
	[NEAR] = "before the action",
	[AT_IT] = "at about its instant",
	[DURING] = "during it",
	[FAR] = "after it",
};

/* What a leaf of the table is about. */
struct cell {
	const struct host_action_kind *kind;
	const struct action_timer *timer;
	struct host_action *refusal; /* of this kind: not HOST_CALL_OK once it was refused */
};

/* The timer of one CPU. Written by its handler, and by what runs on that CPU. */
struct shot {
	enum when when;
	struct action_due due; /* of the first interrupt */
	u32 fired;	       /* interrupts */
	bool last;	       /* no other CPU's timer is due later */
	bool given_up;	       /* had not fired when CPUs were waked */
	bool pending_before, pending_after;
	u64 first_ticks, last_ticks;
	/* Periodic: */
	u64 early, most_early_ticks;
	u64 longest_gap_ticks;
	u32 rapid, longest_rapid; /* one close after the other */
	u32 fired_at_reply;
};

static struct round {
	const struct cell *cell;
	struct shot shots[MAX_CPUS];
	struct smp_barrier armed;
	u32 left; /* CPUs whose timer has not fired */
	u32 over; /* all CPUs are to go on */
	bool refused;
	u64 slack_ticks; /* what a periodic interrupt may be early by the counter */
	struct host_action action;
} round;

static u32 load(const u32 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void store(u32 *word, u32 value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* ---- the interrupt ----------------------------------------------------------------------------- */

static void note_period(struct shot *s, u32 n, u64 now_ticks)
{
	u64 least_ticks = round.cell->timer->due(n).least_ticks - round.slack_ticks;

	if ((s64)(now_ticks - least_ticks) < 0) {
		s->early++;
		s->most_early_ticks = MAX(s->most_early_ticks, least_ticks - now_ticks);
	}
	if (n == 1)
		return;
	s->longest_gap_ticks = MAX(s->longest_gap_ticks, now_ticks - s->last_ticks);
	if (now_ticks - s->last_ticks < ns_to_ticks(PERIOD_NS / 4, clock_hz()))
		s->rapid++;
	else
		s->rapid = 0;
	s->longest_rapid = MAX(s->longest_rapid, s->rapid);
}

static void fired(u64 now_ticks)
{
	struct shot *s = &round.shots[smp_id()];
	u32 n = s->fired + 1;

	if (n == 1)
		s->first_ticks = now_ticks;
	if (round.cell->timer->periodic)
		note_period(s, n, now_ticks);
	s->last_ticks = now_ticks;
	store(&s->fired, n);
	if (n == 1)
		__atomic_sub_fetch(&round.left, 1, __ATOMIC_ACQ_REL);
}

/* ---- asleep ------------------------------------------------------------------------------------ */

static void wake_all(void)
{
	store(&round.over, 1);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		if (cpu != smp_id())
			arch_smp_kick(cpu);
	}
}

/* Interrupts on their way are taken while the timer is still open. */
static void settle_and_close(struct shot *s)
{
	u64 irqs = irq_save();

	s->given_up = !s->fired;
	irq_enable();
	spin_until(false, SETTLE_NS);
	irq_restore(irqs);
	round.cell->timer->close();
}

static u64 due_ns(enum when when)
{
	u64 hold_ns = host_action_hold_ms() * NSEC_PER_MSEC;
	u64 action_ns = ACTION_MS * NSEC_PER_MSEC;

	switch (when) {
	case NEAR:
		return NEAR_MS * NSEC_PER_MSEC;
	case AT_IT:
		return action_ns;
	case DURING:
		return action_ns + hold_ns / 2;
	default:
		return action_ns + hold_ns + FAR_MS * NSEC_PER_MSEC;
	}
}

/* The last timer to be due is not idle any more when it was handled, and ends the others' sleep. */
static void sleep_here(void *arg)
{
	const struct action_timer *timer = round.cell->timer;
	struct shot *s = &round.shots[smp_id()];

	timer->open(fired);
	smp_barrier_wait(&round.armed);
	timer->arm(due_ns(s->when));
	s->due = timer->due(1);
	if (smp_id() == 0)
		host_action_begin_kind(round.cell->kind, ACTION_MS);
	if (s->last) {
		while (!load(&s->fired) && !load(&round.over))
			arch_smp_idle(&s->fired);
		spin_until(!load(&round.left), WAIT_NS);
		wake_all();
	}
	while (!load(&round.over))
		arch_smp_idle(&round.over);
	settle_and_close(s);
}

/* ---- judging ----------------------------------------------------------------------------------- */

static enum host_policy policy_of(const char *what)
{
	return host_policy(what, round.cell->kind->stop);
}

/*
 * What a timer that counts by itself may be off by the counter: where the two do not promise the
 * same, one may have stood still while the other went on.
 */
static u64 slack_ticks(u64 stopped_ns)
{
	enum host_policy counter = policy_of("counter"), timer = policy_of("timer");

	if (round.cell->timer->compares)
		return 0;
	if (counter != HOST_POLICY_UNKNOWN && timer != HOST_POLICY_UNKNOWN &&
	    host_policy_runs(counter) == host_policy_runs(timer))
		return 0;
	return ns_to_ticks(stopped_ns, clock_hz());
}

/* Where the counter stood, at most, when the guest ran again. false after a verdict. */
static bool counter_at_run(u64 *ticks)
{
	struct host_stamp stamp;

	if (args_has("virtual-time")) {
		/* It stood still then, and nothing is due in no time; else nothing is known. */
		*ticks = policy_of("counter") == HOST_POLICY_FROZEN ? 0 : UINT64_MAX;
		return true;
	}
	if (!host_stamp(&stamp))
		return false;
	*ticks = round.cell->timer->count() -
		 ns_to_ticks(stamp.raw_ns - round.action.run.after_ns, clock_hz());
	return true;
}

static void judge_shot(int cpu, u64 run_ticks)
{
	const struct shot *s = &round.shots[cpu];
	const char *name = round.cell->timer->name, *when = when_names[s->when];
	u64 hz = clock_hz(), slack = slack_ticks(host_action_most_ns(&round.action));
	u64 least_ticks = s->due.least_ticks - slack;
	u64 most_ticks = MAX(s->due.most_ticks + slack, run_ticks);
	u64 late_max_ticks = ns_to_ticks(LATE_MAX_NS, hz);

	if (!report_expect(!s->given_up,
			   "CPU %d, %s, due %s: no interrupt; another CPU's ended the sleep", cpu,
			   name, when) ||
	    !report_expect(s->fired == 1, "CPU %d, %s, due %s: armed once, %u interrupts", cpu,
			   name, when, s->fired))
		return;
	report_expect((s64)(s->first_ticks - least_ticks) >= 0,
		      "CPU %d, %s, due %s: %lu ticks (%lu ns) early", cpu, name, when,
		      least_ticks - s->first_ticks, ticks_to_ns(least_ticks - s->first_ticks, hz));
	report_expect(run_ticks == UINT64_MAX ||
			      (s64)(s->first_ticks - most_ticks) <= (s64)late_max_ticks,
		      "CPU %d, %s, due %s: %lu ticks (%lu ns) after it was due and the guest ran, "
		      "of %lu ns",
		      cpu, name, when, s->first_ticks - most_ticks,
		      ticks_to_ns(s->first_ticks - most_ticks, hz), LATE_MAX_NS);
}

static void tell_action(void)
{
	const struct host_action *a = &round.action;

	report_info("generation %lu; the guest stood for %lu to %lu us; policy of counter: %s, of "
		    "timer: %s",
		    a->generation, host_action_least_ns(a) / NSEC_PER_USEC,
		    host_action_most_ns(a) / NSEC_PER_USEC, host_policy_name(policy_of("counter")),
		    host_policy_name(policy_of("timer")));
}

static void judge_round(void)
{
	u64 run_ticks;

	if (!counter_at_run(&run_ticks))
		return;
	for (int cpu = 0; cpu < smp_count(); cpu++)
		judge_shot(cpu, run_ticks);
}

/* ---- checks ------------------------------------------------------------------------------------ */

/* SKIP first: what the machine does not have, and what VMM or runner once said they cannot do. */
static bool begin_check(void)
{
	const struct cell *cell = report_subject();
	const char *absent = cell->timer->absent();

	round = (struct round){ .cell = cell };
	if (absent) {
		report_skip("%s", absent);
		return false;
	}
	if (cell->refusal->result == HOST_CALL_OK && cell->kind->again)
		host_action(cell->kind->action, "", cell->refusal);
	return host_action_report(cell->refusal, cell->kind->action);
}

/* false, after the verdict, where the action was not done. */
static bool action_was_done(void)
{
	if (round.action.result != HOST_CALL_OK)
		*round.cell->refusal = round.action;
	return host_action_report(&round.action, round.cell->kind->action);
}

/* Each CPU has another of the four, unless there are more CPUs. */
static void deal_out(u32 number)
{
	struct shot *last = &round.shots[0];

	for (int cpu = 0; cpu < smp_count(); cpu++) {
		struct shot *s = &round.shots[cpu];

		s->when = (number + NR_WHEN - 1 + cpu * (NR_WHEN - 1)) % NR_WHEN;
		if (s->when > last->when)
			last = s;
	}
	last->last = true;
}

static bool run_round(u32 number)
{
	const struct cell *cell = round.cell;

	round = (struct round){ .cell = cell, .left = smp_count() };
	smp_barrier_init(&round.armed, smp_count());
	deal_out(number);
	on_all_cpus(sleep_here, NULL);
	host_action_end(&round.action);
	if (!action_was_done())
		return false;
	if (number == 0)
		tell_action();
	judge_round();
	return true;
}

/* As many rounds as it takes until each CPU has had each of the four. */
static void check_idle(void)
{
	u64 rounds = args_u64("rounds", NR_WHEN);

	if (!begin_check())
		return;
	for (u64 i = 0; i < rounds; i++) {
		if (!run_round(i))
			return;
	}
}

static void hold_pending_here(void *arg)
{
	const struct action_timer *timer = round.cell->timer;
	struct shot *s = &round.shots[smp_id()];

	timer->open(fired);
	timer->arm(0);
	s->pending_before = spin_until(timer->pending(), WAIT_NS);
	smp_barrier_wait(&round.armed);
	if (smp_id() == 0) {
		host_action_begin_kind(round.cell->kind, 0);
		host_action_end(&round.action);
	}
	smp_barrier_wait(&round.armed);
	s->pending_after = timer->pending();
	irq_enable();
	spin_until(load(&s->fired), WAIT_NS);
	irq_disable();
	settle_and_close(s);
}

static void judge_pending(int cpu)
{
	const struct shot *s = &round.shots[cpu];
	const char *name = round.cell->timer->name;

	if (!report_expect(s->pending_before, "CPU %d, %s: due at once, not pending within %lu ms",
			   cpu, name, WAIT_NS / NSEC_PER_MSEC))
		return;
	report_expect(s->pending_after,
		      "CPU %d, %s: masked and pending before the action, not pending after it", cpu,
		      name);
	report_expect(s->fired == 1, "CPU %d, %s: one interrupt was pending, %u were taken", cpu,
		      name, s->fired);
}

static void check_pending(void)
{
	if (!begin_check())
		return;
	smp_barrier_init(&round.armed, smp_count());
	on_all_cpus(hold_pending_here, NULL);
	if (!action_was_done())
		return;
	tell_action();
	for (int cpu = 0; cpu < smp_count(); cpu++)
		judge_pending(cpu);
}

/* ---- periodic ---------------------------------------------------------------------------------- */

/* CPU 0 looks for the reply whenever its own timer has waked it, then takes some more interrupts. */
static void tick_until_reply(u64 end_ns)
{
	struct shot *s = &round.shots[0];
	bool replied = false;

	while (clock_ns() < end_ns && !load(&round.over)) {
		arch_smp_idle(&round.over);
		if (replied && load(&s->fired) - s->fired_at_reply >= PERIODS)
			break;
		if (replied || !host_action_poll(&round.action))
			continue;
		replied = true;
		for (int cpu = 0; cpu < smp_count(); cpu++)
			round.shots[cpu].fired_at_reply = load(&round.shots[cpu].fired);
	}
	if (!replied)
		host_action_end(&round.action);
	wake_all();
}

/* CPU 0's timer may be the one that is lost: any other's ends the check then. */
static void tick_here(void *arg)
{
	u64 end_ns = clock_ns() + PERIODIC_NS;

	round.cell->timer->open(fired);
	smp_barrier_wait(&round.armed);
	round.cell->timer->arm(PERIOD_NS);
	if (smp_id() == 0) {
		host_action_begin_kind(round.cell->kind, ACTION_MS);
		tick_until_reply(end_ns);
	}
	while (!load(&round.over)) {
		arch_smp_idle(&round.over);
		if (clock_ns() >= end_ns)
			wake_all();
	}
	settle_and_close(&round.shots[smp_id()]);
}

static void judge_ticks(int cpu)
{
	const struct shot *s = &round.shots[cpu];
	u64 hz = clock_hz(), gap_ns = ticks_to_ns(s->longest_gap_ticks, hz);
	u64 gap_max_ns = PERIOD_NS + host_action_most_ns(&round.action) + LATE_MAX_NS;

	report_info("CPU %d: %u interrupts, %u of them after the action; longest gap %lu us, at "
		    "most %u close one after the other: %s",
		    cpu, s->fired, s->fired - s->fired_at_reply, gap_ns / NSEC_PER_USEC,
		    s->longest_rapid,
		    gap_ns < 2 * PERIOD_NS ? "no stop to be seen"
		    : s->longest_rapid > 1 ? "caught up"
					   : "coalesced or dropped");
	report_expect(!s->early,
		      "CPU %d: %lu of %u interrupts came before they were due, by up to %lu ticks "
		      "(%lu ns)",
		      cpu, s->early, s->fired, s->most_early_ticks,
		      ticks_to_ns(s->most_early_ticks, hz));
	report_expect(s->fired > s->fired_at_reply,
		      "CPU %d: no interrupt in %d periods after the action", cpu, PERIODS);
	report_expect(args_has("virtual-time") || gap_ns <= gap_max_ns,
		      "CPU %d: no interrupt for %lu ns, of which the guest stood for %lu at most",
		      cpu, gap_ns, host_action_most_ns(&round.action));
}

static void check_ticks(void)
{
	if (!begin_check())
		return;
	/* How long the guest is going to stand is known only afterwards: no more than all of it. */
	round.slack_ticks = slack_ticks(PERIODIC_NS);
	smp_barrier_init(&round.armed, smp_count());
	on_all_cpus(tick_here, NULL);
	if (!action_was_done())
		return;
	tell_action();
	for (int cpu = 0; cpu < smp_count(); cpu++)
		judge_ticks(cpu);
}

/* ---- the table --------------------------------------------------------------------------------- */

static const struct check once_checks[] = {
	{ "idle", check_idle, .guards = "L1 L2 L3 L5 H3 H4 T1 T9 A16 A23",
	  .story = "A timer armed before, due before, at, during or after the action, fires "
		   "exactly once on an otherwise idle CPU, not early and not late" },
	{ "pending", check_pending, .guards = "L1 L2 A17",
	  .story = "An interrupt that is pending and masked is still pending, and is taken once" },
};

static const struct check periodic_checks[] = {
	{ "ticks", check_ticks, .guards = "L1 L7",
	  .story = "Periodic interrupts go on, none before it is due: no storm makes up for a "
		   "stop" },
};

int host_timer_report_run(const char *image)
{
	static const struct host_action_kind *kinds[MAX_KINDS];
	static struct host_action refusals[MAX_KINDS];
	static struct cell cells[MAX_KINDS][MAX_TIMERS];
	static struct check by_timer[MAX_KINDS][MAX_TIMERS], by_kind[MAX_KINDS];
	size_t nr_kinds = host_action_kinds(kinds, MAX_KINDS);

	assert(nr_action_timers <= MAX_TIMERS);
	for (size_t k = 0; k < nr_kinds; k++) {
		for (size_t t = 0; t < nr_action_timers; t++) {
			bool is_periodic = action_timers[t]->periodic;

			cells[k][t] = (struct cell){ kinds[k], action_timers[t], &refusals[k] };
			by_timer[k][t] = (struct check){
				.name = action_timers[t]->name,
				.checks = is_periodic ? periodic_checks : once_checks,
				.nr_checks = is_periodic ? ARRAY_SIZE(periodic_checks)
							 : ARRAY_SIZE(once_checks),
				.subject = &cells[k][t],
			};
		}
		by_kind[k] = (struct check){
			.name = kinds[k]->name,
			.checks = by_timer[k],
			.nr_checks = nr_action_timers,
		};
	}
	return report_run(image, by_kind, nr_kinds);
}
