/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unittests.cfg: which tests there are. One [name] section a test, one struct test for each of its
 * architectures. docs/writing-tests.md documents the dialect. Every mistake is reported as
 * "FILE:LINE: what is wrong", all of them, not only the first.
 */
#ifndef HOST_CONFIG_H
#define HOST_CONFIG_H

#include "arch.h"
#include "ini.h"
#include "types.h"
#include "util/error.h"

struct test {
	char *name;	/* section: [a-z0-9-]+ */
	enum arch arch; /* key "arch", default both */
	char *key;	/* "x86_64/counter" */
	char *image;	/* key "image", default the section's name; without directory and suffix */
	char *args;	/* key "args", default "" */
	unsigned smp;	/* key "smp", vCPUs, 1 to 64, default 1 */
	unsigned
		maxcpus; /* key "maxcpus", vCPUs that can be there in the end; 0, the default: smp */
	unsigned memory_mib; /* key "memory", MiB, 16 to 65536, default 32 */
	char **groups;	     /* key "groups", comma or space, NULL-terminated */
	unsigned timeout_s;  /* key "timeout", seconds without an end, default 30 */
	bool timing;	     /* key "timing = yes": runs with no other test beside it */
	bool is_default; /* key "default = no": runs only when named or its group is asked for */
	bool el2; /* key "el2 = yes", arm64: the machine has EL2 and enters the image there */
	u64 counter_offset; /* key "counter-offset", arm64 and vmm kvm: ticks, default 0 */
	char *cpu;	    /* key "cpu": CPU model and features for the VMM, or NULL */
	char *machine;	    /* key "machine": further machine properties for QEMU, or NULL */
	unsigned vmms;	    /* key "vmm": bit set of enum vmm_kind that may run it, default all */
	unsigned accels;    /* key "accel": bit set of enum accel, default all */
	char **faults;	    /* key "fault": on purpose, of our own VMM; NULL-terminated or NULL */
	char *limits;	    /* key "limit": ratios of costs, see cost_limits.h; or NULL */
	unsigned line;
};

struct config {
	char *path;
	struct test *tests;
	size_t count;
};

/* Reads the file. On failure every mistake is printed to stderr and -1 returned. */
int config_load(const char *path, struct config *config);

/* The same with the mistakes added to a list instead of printed. */
int config_read(const char *path, struct config *config, struct mistakes *m);

void config_free(struct config *config);

/* The tests have these faults as well, each where there is such a one for its architecture. */
void config_add_faults(struct config *config, char *const *faults);

bool test_in_group(const struct test *test, const char *group);

#endif
