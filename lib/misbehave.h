/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Images that go wrong on purpose, for the suite's own tests of its runner: the body of
 * x86/misbehave.c and arm/misbehave.c.
 */
#ifndef MISBEHAVE_H
#define MISBEHAVE_H

#include "types.h"

struct misbehaviour {
	const char *mode;  /* the value of the argument mode=, and the name of the check */
	const char *story; /* what it does, and what the runner has to make of it */
	void (*run)(void); /* may return only where the story says so */
	/* Runs in place of report_run(), so that it also decides about hello, plan and end. */
	bool whole_image;
};

/*
 * The body of main(): does what the argument mode= names, out of the portable modes and the n
 * extra ones of the architecture. Without the argument one check lists the modes as a SKIP.
 */
int misbehave_run(const char *image, const struct misbehaviour *extra, size_t n);

#endif
