/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files expected/NAME.cfg: which verdicts are known, under which condition, and why. A section
 * names what it is about, "[counter]" a test or "[counter.frequency]" one check; shell wildcards
 * are allowed. Keys: verdict (fail, error, timeout), reason (required), link, and conditions that
 * must all hold: arch, vmm, accel, restore (the method of run_tests.sh --restore, or what is the
 * default), host-module (a name under /sys/module), kernel (of the KVM host) and qemu as ranges "6.1..6.11", "<10.0", ">=7.2", "6.12". Of several values with commas between
 * them one must hold.
 *
 * Versions compare number by number, as far as the range's bound goes: 6.11.5 is in "6.1..6.11" and
 * is a "6.11", and "6.12.4-amd64" is not below 6.12.
 */
#ifndef HOST_EXPECTED_H
#define HOST_EXPECTED_H

#include "arch.h"
#include "config.h"
#include "ini.h"
#include "types.h"
#include "verdict.h"

/* What the conditions are compared with. */
struct circumstances {
	enum arch arch;
	const char *vmm;
	enum accel accel;
	const char *kernel;	  /* release of the host kernel, "6.12.4-amd64" */
	const char *qemu_version; /* "7.2.22", or NULL */
	const char *restore;	  /* how the VMM restores counters, "value"; or NULL */
	const char *modules_dir;  /* where host-module looks; NULL: /sys/module */
};

struct expectation {
	char *subject; /* section's name, a pattern */
	enum verdict verdict;
	char *reason;
	char *link; /* or NULL */
	char *file;
	unsigned line;
	/* conditions: the module's own, see expected.c */
	struct condition *conditions;
	bool matched; /* some verdict of this run was expected by it */
};

struct expectations {
	struct expectation *list;
	size_t count;
};

/*
 * Reads every *.cfg of a directory, in the order of their names (a missing directory is an error).
 * -1: every mistake was printed to stderr.
 */
int expected_load(const char *dir, struct expectations *e);

/* The same with the mistakes added to a list instead of printed. */
int expected_read(const char *dir, struct expectations *e, struct mistakes *m);
void expected_free(struct expectations *e);

/* Whether an entry is about a test or any check of it, on its architecture. */
bool expectation_names_test(const struct expectation *e, const struct test *test);

/*
 * Whether an entry is about a test (check == NULL) or one check of it, on its architecture, whatever
 * else the entry's conditions are.
 */
bool expectation_may_concern(const struct expectation *e, const struct test *test,
			     const char *check);

/*
 * The entry for a test (check == NULL) or one check of it under these circumstances, or NULL. Of
 * several the first counts. A sub-check ("cross-cpu/4") needs an entry or a wildcard of its own.
 */
struct expectation *expected_find(struct expectations *e, const char *test, const char *check,
				  const struct circumstances *c);

#endif
