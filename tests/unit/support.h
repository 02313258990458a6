/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the unit tests of libcflat share: a console that keeps its output, a clock that goes as the
 * test wants, CPUs that are threads, panics that end a child process, and seeded random numbers.
 */
#ifndef UNIT_SUPPORT_H
#define UNIT_SUPPORT_H

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "cflat.h"

/* ---- random numbers (support_random.c) ---- */

/* The seed of this run: UNIT_SEED, or a fixed one. */
u64 unit_seed(void);
void random_start(u64 seed);
u64 random_u64(void);
/* 0 to n - 1. */
u64 random_below(u64 n);
/* Of every size in bits equally often, with powers of two, their neighbours and all ones. */
u64 random_edgy_u64(void);

/* Fails the test and says with which seed it happened. */
#define fail_seeded(fmt, ...) \
	fail_msg("UNIT_SEED=%#llx: " fmt, (unsigned long long)unit_seed(), __VA_ARGS__)

/* ---- console (support_console.c) ---- */

/* Sets the console to one that keeps what is written, forgetting what there was. */
void console_capture(void);
const char *console_captured(void);
/* How many writes the device has seen since. */
unsigned console_writes(void);
/* Appends to what console_read() gives. */
void console_feed(const char *bytes, size_t len);
void console_feed_text(const char *text);
/* Called for every write, after it was kept; may feed. NULL for none. */
extern void (*console_on_write)(const char *buf, size_t len);
/* Called when there is no input left; may feed. */
extern void (*console_on_empty)(void);

/* ---- clock and CPU (support_cpu.c) ---- */

/* Each read of the clock takes it on by so many ticks of a GHz clock; may be negative or 0. */
extern s64 clock_step_ticks;
extern u64 clock_now_ticks;
/* The host's own clock instead. */
extern bool clock_is_real;

/* What arch_is_stack() says yes to, [begin, end), and arch_load_offset()'s answer. */
extern uintptr_t unit_stack_begin, unit_stack_end, unit_load_offset;
/* Called by arch_is_stack() first, NULL for none. */
extern void (*unit_on_is_stack)(void);

/* ---- children (support_child.c) ---- */

/* How a function ended that ran in a child process. */
struct child {
	bool stopped;	     /* by arch_stop(), not by returning */
	char output[262144]; /* what it wrote to the console */
};

const struct child *run_in_child(void (*fn)(void *arg), void *arg);

/* Runs fn in a child; it has to panic with a text that holds this. */
void expect_panic(void (*fn)(void *arg), void *arg, const char *text);

/* ---- CPUs that are threads (support_smp.c) ---- */

extern int unit_cpus_named;	 /* arch_smp_probe()'s answer */
extern int unit_cpu_refused;	 /* this one does not start; 0 for none */
extern int unit_cpu_silent;	 /* this one starts and never comes up; 0 for none */
extern int unit_cpu_unstoppable; /* its arch_smp_stop_self() returns */
extern u32 unit_kicks_to_lose;	 /* so many kicks have no effect */
extern u32 unit_kicks;		 /* how many there were */

/* Waits until the CPU, which has nothing to do, is asleep. */
void unit_wait_asleep(int cpu);

#endif
