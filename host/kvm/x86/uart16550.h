/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A 16550 (PC16550D data sheet) as far as a polling driver can tell: always ready to send, received
 * bytes from the console's input. It raises no interrupt.
 */
#ifndef KVM_X86_UART16550_H
#define KVM_X86_UART16550_H

#include "kvm/bus.h"
#include "types.h"

struct uart16550 {
	u8 ier, lcr, mcr, scr;
	u8 dll, dlm;
	u8 fifo;
};

struct device uart16550_device(struct uart16550 *u, u64 base);

#endif
