/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Excursions to CPL 3: a function of the image is run there and comes back. All memory that CPL 0 can
 * use is open to CPL 3 as well, so any C function will do that keeps away from I/O, which is also to
 * say from report_…(), and from privileged instructions, or expects them to fault: rdmsr_safe()
 * works at CPL 3 as it does at CPL 0.
 */
#ifndef ARCH_USER_H
#define ARCH_USER_H

#include "types.h"
#include <arch/exception.h>

/*
 * Calls fn(arg) at CPL 3, on a stack of 4 KiB, with interrupts as they are for the caller and I/O
 * privilege level 0. NO_EXCEPTION when it returned, with its result in *value; else the vector of the
 * exception that ended it. e, which may be NULL, is as for exception_catch(). Not from interrupt
 * handlers.
 */
int user_try(u64 (*fn)(void *arg), void *arg, u64 *value, struct exception *e);

#endif
