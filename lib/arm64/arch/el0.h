/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Excursions to EL0: a function of the image is run there and comes back. EL0 may read and write
 * all RAM and execute the image's text, so any C function will do that keeps away from registers,
 * or expects their access to be trapped: sysreg_read_safe() works at EL0 as it does above.
 */
#ifndef ARCH_EL0_H
#define ARCH_EL0_H

#include "types.h"
#include <arch/exception.h>

/*
 * Calls fn(arg) at EL0, on the caller's stack, with interrupts as they are for the caller. false
 * when it returned, with its result in *value; true when it raised a synchronous exception, which is
 * then in *caught, and fn was left there. Not from interrupt handlers.
 */
bool el0_try(u64 (*fn)(void *arg), void *arg, u64 *value, struct exception *caught);

#endif
