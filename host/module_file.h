/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One kernel module's file: .ko as it is or compressed, and what it says of itself.
 */
#ifndef HOST_MODULE_FILE_H
#define HOST_MODULE_FILE_H

#include "arch.h"
#include "types.h"
#include "util/error.h"
#include "util/text.h"

struct module_file {
	char *name;	/* as the kernel calls it: "kvm_amd" */
	char *path;	/* where it was read from */
	enum arch arch; /* that it is for */
	char *release;	/* of the kernel that it was built for: "6.12.0-cloud-arm64"; or NULL */
	char **depends; /* names of the modules that it needs directly; NULL-terminated */
	struct text content; /* decompressed, without debug information */
};

/*
 * Reads a module; .xz and .zst are told by their content, not by their name. -1 with err set when
 * it cannot be read, is damaged or no module of a known architecture; m is then empty.
 */
int module_file_read(const char *path, struct module_file *m, struct error *err);
void module_file_free(struct module_file *m);

/*
 * The kernel's name for a module whose file or option is called so: without directories and
 * suffixes, and with '_' for '-' (scripts/Makefile.lib's name-fix). Malloced.
 */
char *module_name(const char *file_name);

/*
 * What finit_module(2) wants for the module of this file: of a kernel's command line all words
 * "NAME.PARAMETER=VALUE" with its name, without that, with a blank between them. The kernel itself does
 * it only for what is built in (Documentation/admin-guide/kernel-parameters.rst). Malloced.
 */
char *module_parameters(const char *file_name, const char *command_line);

#endif
