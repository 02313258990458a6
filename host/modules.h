/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel's modules directory: which modules there are, which are built in, and in what order to
 * load those that are wanted. Every kind of directory is read that a kernel's modules are found in:
 * lib/modules/RELEASE with or without depmod's files, what holds one such (an unpacked package, an
 * INSTALL_MOD_PATH), and a kernel build tree.
 */
#ifndef HOST_MODULES_H
#define HOST_MODULES_H

#include "initramfs.h"
#include "module_file.h"
#include "types.h"
#include "util/error.h"

struct modules;

/* NULL with err set when the directory cannot be read or has no sign of any module. */
struct modules *modules_open(const char *dir, struct error *err);
void modules_close(struct modules *m);

enum module_state {
	MODULE_UNKNOWN, /* not among the files; the directory does not tell what is built in */
	MODULE_ABSENT,	/* neither a file nor built in */
	MODULE_BUILT_IN,
	MODULE_FILE,
};

/* '-' and '_' in names are the same. */
enum module_state modules_state(const struct modules *m, const char *name);

/* Modules in the order in which to load them. All zero is an empty list. */
struct module_list {
	struct module_file *files;
	size_t count;
};

/*
 * Appends the modules of these names (NULL-terminated), and what they depend on, dependencies
 * first, each once. Names that have no file are left out, as they are built in where the kernel
 * has them: ask modules_state(). -1 with err set when a file is missing or damaged, is for another
 * architecture than arch, or is not of the same release as the others.
 */
int modules_select(const struct modules *m, enum arch arch, const char *const *names,
		   struct module_list *list, struct error *err);
void module_list_free(struct module_list *list);

/* Puts them into /modules/, and their paths in loading order, one a line, into list_path. */
int module_list_pack(const struct module_list *list, const char *list_path, struct initramfs *fs,
		     struct error *err);

#endif
