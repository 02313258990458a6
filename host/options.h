/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of run_tests.sh.
 */
#ifndef HOST_OPTIONS_H
#define HOST_OPTIONS_H

#include <sched.h>
#include <stdio.h>
#include "arch.h"
#include "report.h"
#include "kvm/clock_rule.h"
#include "types.h"
#include "util/text.h"

struct options {
	bool list;		/* -l, --list */
	char **groups;		/* -g, --group NAME[,NAME]; NULL-terminated or NULL */
	bool archs[ARCH_COUNT]; /* -a, --arch LIST; none set: all that were built */
	unsigned jobs;		/* -j, --jobs N; default: the number of CPUs, at most 4 */
	const char *out_dir;	/* -o, --output DIR */
	const char *vmm;	/* --vmm qemu|kvm */
	enum accel accel;	/* --accel kvm|tcg|icount */
	unsigned timeout_s;	/* --timeout S: instead of every test's own; 0: none given */
	unsigned repeat;	/* --repeat N */
	struct clock_rule restore_rule; /* --restore, --account, --preempt-us */
	char *policy;	/* --policy CLOCK.ACTION=PROMISE …, with blanks between; or NULL */
	char *append;	/* --append WORDS: further arguments of every image, or NULL */
	bool ktap;	/* --ktap: KTAP on stdout instead of the report */
	bool verbose;	/* -v */
	char *config;	/* --config FILE; default unittests.cfg of the suite */
	char *expected; /* --expected DIR */
	char *images;	/* --images DIR; default build */
	char *qemu[ARCH_COUNT]; /* --qemu [ARCH=]PATH, or by arch from configure */
	bool check_config; /* --check-config: every image has a test and the reverse; then exit */
	unsigned shard, nr_shards; /* --shard I/N; nr_shards 0: all */
	bool merge;		   /* --merge: tests are result directories */
	bool update_expected;	   /* --update-expected[=FILE] */
	const char *expected_diff; /* its FILE, or NULL */
	bool bisect;		   /* --bisect[=COMMAND]: exit status for "git bisect run" */
	const char *bisect_build;  /* its COMMAND, or NULL */
	bool machines;		   /* --machines: for scripts/standalone.sh; then exit */
	bool list_checks;	   /* --list-checks; then exit */
	const char *explain;	   /* --explain CHECK; then exit. Or NULL */
	char **tests;		   /* names, NULL-terminated */
	char *kernel;		   /* --kernel WHAT, or NULL */
	char *modules;		   /* --modules DIR, or NULL */
	char *other_kernel;	   /* a second --kernel, to compare with, or NULL */
	char *other_modules;	   /* a second --modules, or NULL */
	char *kernel_append;	   /* --kernel-append WORDS, or NULL */
	char *kernel_cpu;	   /* --kernel-cpu MODEL, or NULL */
	unsigned kernel_smp;	   /* --kernel-smp N; 0: as many as the widest guest */
	unsigned kernel_timeout_s; /* --kernel-timeout S; 0: none given */
	bool stream;		   /* --stream: records for an outer runner, see stream.h */
	struct reports reports;	   /* --report FORMAT[=FILE], each of them */
	char *from;		   /* --from DIR: views of that run instead of a run; or NULL */
	struct text rerun;	   /* of the options those that matter to run a test again */
	char *outer_qemu; /* --outer-qemu VERSION: of the machine this runner is in, or NULL */
	bool bench;	  /* --bench: tests are boots of benchmarks */
	unsigned boots;	  /* --boots N; 0: none given */
	u64 seed;	  /* --seed N, of their order; 0: none given */
	char *save;	  /* --save FILE, or NULL */
	bool pinned;	  /* --pin LIST: to the CPUs of pin */
	cpu_set_t pin;
	bool compare;	  /* --compare: tests are two files */
	double threshold; /* --threshold PERCENT, as a part: 0.02 */
	char **faults;	  /* --fault NAME[=ARG] of each, NULL-terminated, or NULL */
	bool list_faults; /* --list-faults */
	char *root;	  /* the suite's directory, which the defaults lie in */
};

/*
 * Returns -1 to go on, or the exit status (0 for -h, 3 for a mistake, said on stderr). The strings
 * hold as long as argv and until options_free().
 */
int options_parse(struct options *o, int argc, char **argv);
void options_free(struct options *o);
void options_usage(FILE *out);

/* The host's CPUs that every VMM is kept on, or NULL. */
const cpu_set_t *options_pin(const struct options *o);

#endif
