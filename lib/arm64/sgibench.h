/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Benchmarks of software generated interrupts, in the form that bench.h wants them: to the own CPU,
 * and to CPU 1 and back. What is opened is to be closed; an interrupt that is not handled in time is
 * then reported as a FAIL.
 */
#ifndef SGIBENCH_H
#define SGIBENCH_H

#include "types.h"

/* Prepare: false after a verdict. The last two take CPU 1, where the interrupt finds it awake, or
 * asleep in WFI. */
bool sgi_bench_open(void);
bool sgi_bench_open_awake(void);
bool sgi_bench_open_asleep(void);

/* Settle, with a batch of 1: CPU 1 is about to execute WFI. */
void sgi_bench_settle(void);

/* Finish. */
void sgi_bench_close(void);

/* Run, all with interrupts masked before and after. */
void sgi_bench_send(u64 n);  /* to the own CPU, where it stays pending */
void sgi_bench_self(u64 n);  /* to the own CPU, handled */
void sgi_bench_other(u64 n); /* to CPU 1, with its answer waited for */

/* For benchmarks of WFI: makes one pending, and sees to it that WFI does not sleep without it either. */
bool sgi_bench_open_pending(void);
void sgi_bench_close_pending(void);

#endif
