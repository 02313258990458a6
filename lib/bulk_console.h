/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver of our own VMM's bulk console (vmm_interface.h): a line costs one exit instead of one a
 * byte, which is what most of a test's time would be spent on under an emulated KVM.
 */
#ifndef BULK_CONSOLE_H
#define BULK_CONSOLE_H

#include "types.h"

struct bulk_console {
	void (*set_address)(u64 address);
	void (*print)(u32 length);
};

/* Takes over the output of the console that is set; its input stays where it was. */
void bulk_console_init(const struct bulk_console *device);

#endif
