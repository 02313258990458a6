/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of one test: starts its machine, reads its console into the log and the result, serves
 * its host calls, and ends it by its last line, its death, or a limit.
 */
#ifndef HOST_TEST_RUN_H
#define HOST_TEST_RUN_H

#include <stdio.h>
#include "result.h"
#include "target.h"
#include "util/loop.h"

/*
 * Most that a guest may print; one that prints more is stopped. An emulated UART takes some 10 us a
 * byte, so this is half a minute of nothing but printing.
 */
#define TEST_LOG_MAX (2u << 20)

struct test_run_spec {
	struct loop *loop;
	const struct target *target; /* usable */
	struct test_result *result;  /* fresh; start_ns is the caller's */
	FILE *log;		     /* the caller's; written until done */
	const char *images;	     /* directory */
	const char *append;	     /* further arguments for the image, or NULL */
	const char *outer_qemu;	     /* version of the QEMU that runs this host, or NULL */
	const cpu_set_t *pin;	     /* as in struct machine_spec */
	unsigned int timeout_s;	     /* instead of the test's own; 0: its own */
};

struct test_run;

/*
 * done is called once, from the loop: the machine is gone then, and the result complete but not
 * judged. The run is to be freed afterwards, or in done itself.
 */
struct test_run *test_run_start(const struct test_run_spec *spec, void (*done)(void *ctx),
				void *ctx);

/* Ends the machine, whatever it is doing; done will not be called. NULL is allowed. */
void test_run_free(struct test_run *r);

#endif
