/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts: vectors and their handlers.
 */
#ifndef ARCH_IDT_H
#define ARCH_IDT_H

#include "types.h"
#include <arch/exception.h>

/* The library's own; tests take what lies between. */
#define VECTOR_FIRST_FREE 0x20
#define VECTOR_LAST_FREE  0xef
#define VECTOR_KICK	  0xf0
#define VECTOR_SPURIOUS	  0xff

/*
 * fn runs with interrupts disabled; the end of interrupt is signalled after it. NULL takes the
 * handler away. An interrupt without handler ends the image with a report. Vectors 32 to 254.
 */
void irq_set_handler(u8 vector, void (*fn)(struct exception_frame *frame));

/* Spurious interrupts of the local APICs so far (SDM vol. 3, 11.9); they get no EOI. */
u32 irq_spurious_count(void);

/*
 * Interrupts that an emulated host's CPU delivered a second time; no handler has seen them. Counted
 * only in kernel mode under QEMU; elsewhere a handler sees whatever is delivered.
 */
u32 irq_delivered_twice_count(void);

#endif
