/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which kernel --kernel means: a distribution's, a kernel build tree, or an image file.
 */
#ifndef HOST_KERNEL_IMAGE_H
#define HOST_KERNEL_IMAGE_H

#include "arch.h"
#include "types.h"
#include "util/error.h"

struct kernel_image {
	enum arch arch;
	char *name;	   /* as asked for: "debian:6.12", "/home/me/linux" */
	char *path;	   /* the bootable file */
	char *modules_dir; /* where its modules are, or NULL: all is built in, or it has none */
	char *version;	   /* release, as far as it can be told without booting; or NULL */
};

/*
 * Is it a kernel of one architecture by itself (a file or tree)? Then *arch says of which. False
 * for debian:…, which there is for every architecture. err is set where neither can be told.
 */
bool kernel_image_arch(const char *what, enum arch *arch, struct error *err);

/*
 * Finds, and where it is a distribution's fetches, the kernel. modules_dir overrides where its
 * modules are looked for (may be NULL). root: of the suite, for scripts/fetch.sh. -1 with err set
 * when there is none, or when the file is no kernel of that architecture.
 */
int kernel_image_find(const char *what, enum arch arch, const char *modules_dir, const char *root,
		      struct kernel_image *image, struct error *err);
void kernel_image_free(struct kernel_image *image);

#endif
