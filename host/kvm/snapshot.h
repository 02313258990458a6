/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine in a file: what it is made of, its state, its memory without pages of zeroes. A file
 * that is damaged, cut short, of another version or another architecture is refused with the reason
 * before a machine is built from it.
 */
#ifndef KVM_SNAPSHOT_H
#define KVM_SNAPSHOT_H

#include "kvm/vm.h"

/* A snapshot file that is larger was not made by a test. */
#define SNAPSHOT_FILE_MAX (8ULL << 30)

/*
 * Writes the paused machine. The file appears whole or not at all, and replaces one of that name.
 */
int snapshot_save(struct vm *vm, const char *path, struct error *err);

struct snapshot;

/*
 * Reads and checks the file; the machine that it wants goes to options (strings hold as long as the
 * snapshot). NULL with err when it is no good.
 */
struct snapshot *snapshot_open(const char *path, struct machine_options *options,
			       struct error *err);

/* The same for bytes; name is for messages. */
struct snapshot *snapshot_parse(const char *name, const void *data, size_t size,
				struct machine_options *options, struct error *err);

/* Into a machine built by those options that has not run. The file's bytes are dropped afterwards. */
int snapshot_restore(struct snapshot *s, struct vm *vm, struct error *err);

/* NULL is allowed. */
void snapshot_free(struct snapshot *s);

#endif
