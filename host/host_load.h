/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contention on the host: one thread that does nothing but run on every CPU that the runner may use.
 */
#ifndef HOST_HOST_LOAD_H
#define HOST_HOST_LOAD_H

#include "util/error.h"

struct host_load;

/* NULL with err set where a thread cannot be started. */
struct host_load *host_load_start(struct error *err);

/* No thread is left then. NULL is allowed. */
void host_load_stop(struct host_load *l);

#endif
