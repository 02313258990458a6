/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Benchmarks of interrupts from CPU to CPU, in the form that bench.h wants them. What is opened is to
 * be closed; an interrupt that gets no answer is then reported as a FAIL.
 */
#ifndef IPIBENCH_H
#define IPIBENCH_H

#include "types.h"

/*
 * Prepare: false after a verdict. Masked: with one interrupt pending; guarded: for what uses HLT, with
 * a timer that ends it at last. The last two take CPU 1.
 */
bool ipi_bench_open(void);
bool ipi_bench_open_guarded(void);
bool ipi_bench_open_masked(void);
bool ipi_bench_open_spinning(void);
bool ipi_bench_open_halted(void);

/* Finish. */
void ipi_bench_close(void);

/* Interrupts are disabled before and after all of these. */
void ipi_bench_self_masked(u64 n);
void ipi_bench_self_sti_nop(u64 n);
void ipi_bench_self_sti_hlt(u64 n);
/* To CPU 1, with its answer waited for. */
void ipi_bench_other(u64 n);
void ipi_bench_other_halted(u64 n);

#endif
