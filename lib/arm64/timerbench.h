/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Benchmarks of the timers' registers, as rows for the tables of the images that include this: the
 * virtual and the physical timer of the image's own level, each register read and written. The timer
 * is armed for a time far away meanwhile, so that a write arms it anew.
 */
#ifndef TIMERBENCH_H
#define TIMERBENCH_H

#include "bench.h"
#include "clock.h"
#include "muldiv.h"
#include <arch/bench.h>
#include <arch/timer.h>

/*
 * Values that do not come up in any run, nor does the first with CNTVOFF_EL2 exceed 64 bits
 * (docs/findings.md).
 */
#define TIMER_BENCH_FAR_NS	    (1000 * NSEC_PER_SEC)
#define TIMER_BENCH_FAR_CVAL(timer) ((timer).count() + ns_to_ticks(TIMER_BENCH_FAR_NS, clock_hz()))
#define TIMER_BENCH_FAR_TVAL	    0x7fffffffUL /* the greatest: it is signed, 32 bits */

/* The benchmark's subject is the struct timer_ops. */
static bool timer_bench_open(void)
{
	const struct timer_ops *timer = bench_subject();

	timer->set_ctl(0);
	timer->set_cval(TIMER_BENCH_FAR_CVAL(*timer));
	timer->set_ctl(TIMER_CTL_ENABLE | TIMER_CTL_IMASK);
	return true;
}

static void timer_bench_close(void)
{
	const struct timer_ops *timer = bench_subject();

	timer->set_ctl(0);
}

BENCH_MRS(timer_bench_cntv_ctl, cntv_ctl_el0)
BENCH_MRS(timer_bench_cntv_cval, cntv_cval_el0)
BENCH_MRS(timer_bench_cntv_tval, cntv_tval_el0)
BENCH_MRS(timer_bench_cntp_ctl, cntp_ctl_el0)
BENCH_MRS(timer_bench_cntp_cval, cntp_cval_el0)
BENCH_MRS(timer_bench_cntp_tval, cntp_tval_el0)
BENCH_MSR(timer_bench_set_cntv_ctl, cntv_ctl_el0, TIMER_CTL_ENABLE)
BENCH_MSR(timer_bench_set_cntv_cval, cntv_cval_el0, TIMER_BENCH_FAR_CVAL(virtual_timer))
BENCH_MSR(timer_bench_set_cntv_tval, cntv_tval_el0, TIMER_BENCH_FAR_TVAL)
BENCH_MSR(timer_bench_set_cntp_ctl, cntp_ctl_el0, TIMER_CTL_ENABLE)
BENCH_MSR(timer_bench_set_cntp_cval, cntp_cval_el0, TIMER_BENCH_FAR_CVAL(physical_timer))
BENCH_MSR(timer_bench_set_cntp_tval, cntp_tval_el0, TIMER_BENCH_FAR_TVAL)

#define TIMER_BENCH(_name, _run, _timer)                                               \
	{                                                                              \
		.name = (_name), .prepare = timer_bench_open, .run = (_run),           \
		.finish = timer_bench_close, .floor = "cntv_ctl", .subject = &(_timer) \
	}

#define TIMER_BENCHES                                                                      \
	TIMER_BENCH("cntv_ctl", timer_bench_cntv_ctl, virtual_timer),                      \
		TIMER_BENCH("cntv_cval", timer_bench_cntv_cval, virtual_timer),            \
		TIMER_BENCH("cntv_tval", timer_bench_cntv_tval, virtual_timer),            \
		TIMER_BENCH("cntp_ctl", timer_bench_cntp_ctl, physical_timer),             \
		TIMER_BENCH("cntp_cval", timer_bench_cntp_cval, physical_timer),           \
		TIMER_BENCH("cntp_tval", timer_bench_cntp_tval, physical_timer),           \
		TIMER_BENCH("cntv_ctl-write", timer_bench_set_cntv_ctl, virtual_timer),    \
		TIMER_BENCH("cntv_cval-write", timer_bench_set_cntv_cval, virtual_timer),  \
		TIMER_BENCH("cntv_tval-write", timer_bench_set_cntv_tval, virtual_timer),  \
		TIMER_BENCH("cntp_ctl-write", timer_bench_set_cntp_ctl, physical_timer),   \
		TIMER_BENCH("cntp_cval-write", timer_bench_set_cntp_cval, physical_timer), \
		TIMER_BENCH("cntp_tval-write", timer_bench_set_cntp_tval, physical_timer)

#endif
