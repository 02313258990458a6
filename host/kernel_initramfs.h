/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What kernel mode's machine finds in its initramfs: the runner as /init, the suite's files that the
 * selected tests need under /suite, and KVM's modules.
 */
#ifndef HOST_KERNEL_INITRAMFS_H
#define HOST_KERNEL_INITRAMFS_H

#include "kernel_mode.h"

/* Writes it to path. The same inputs give the same bytes. -1 with err set. */
int kernel_initramfs_write(const char *path, const struct kernel_host *host,
			   const struct options *o, const struct selection *selection,
			   struct error *err);

#endif
