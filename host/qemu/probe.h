/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a QEMU can do on this host, asked of QEMU itself.
 */
#ifndef QEMU_PROBE_H
#define QEMU_PROBE_H

#include "backend.h"

/* struct backend's probe. Blocks; every question is bounded. */
void qemu_probe(enum arch arch, enum accel accel, const char *vmm_path, struct vmm_probe *probe);

#endif
