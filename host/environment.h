/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the results were made on: host kernel, CPU, KVM module parameters, QEMU versions.
 */
#ifndef HOST_ENVIRONMENT_H
#define HOST_ENVIRONMENT_H

#include <jansson.h>

/*
 * A new object: {"host": {arch, kernel, cpu, cpus, clocksource, kvm: {module: {param: value}}},
 * "suite": {version, git}}. What cannot be read is left out. Never fails.
 */
json_t *environment_collect(void);

/* Release of the running kernel, e.g. "6.12.4". */
const char *environment_kernel(void);

#endif
