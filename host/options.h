/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of run_tests.sh.
 */
#ifndef HOST_OPTIONS_H
#define HOST_OPTIONS_H

#include "arch.h"
#include "types.h"

struct options {
	bool list;		      /* -l, --list */
	char **groups;		      /* -g, --group NAME[,NAME] */
	bool archs[ARCH_COUNT];	      /* -a, --arch LIST; none set: all that were built */
	unsigned jobs;		      /* -j, --jobs N; default: the number of CPUs, at most 4 */
	const char *out_dir;	      /* -o, --output DIR */
	const char *vmm;	      /* --vmm qemu|kvm */
	enum accel accel;	      /* --accel kvm|tcg|icount */
	unsigned timeout_s;	      /* --timeout S: instead of every test's own; 0: none given */
	unsigned repeat;	      /* --repeat N */
	bool ktap;		      /* --ktap: KTAP on stdout instead of the report */
	bool verbose;		      /* -v */
	const char *config;	      /* --config FILE; default unittests.cfg of the suite */
	const char *expected;	      /* --expected DIR */
	const char *images;	      /* --images DIR; default build */
	const char *qemu[ARCH_COUNT]; /* --qemu PATH, or by arch from configure */
	bool check_config; /* --check-config: every image has a test and the reverse; then exit */
	char **tests;	   /* names, NULL-terminated */
};

/* Returns -1 to go on, or the exit status (0 for -h, 3 for a mistake, said on stderr). */
int options_parse(struct options *o, int argc, char **argv);
void options_usage(void);

#endif
