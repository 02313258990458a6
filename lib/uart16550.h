/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A polled 16550: x86 reaches it by port I/O, arm64 (kvmtool, Firecracker) by MMIO, so the registers
 * are reached through two functions. Register names: PC16550D data sheet, table 2.
 */
#ifndef UART16550_H
#define UART16550_H

#include "types.h"

struct uart16550 {
	/* Access to register reg, 0 to 7; the functions apply shift and width as they need. */
	u8 (*read)(const struct uart16550 *u, unsigned int reg);
	void (*write)(const struct uart16550 *u, unsigned int reg, u8 value);
	uintptr_t base;		/* port number or address */
	unsigned int reg_shift; /* register reg is at base + (reg << reg_shift) */
	unsigned int reg_width; /* bytes an access has: 1 or 4 */

	/* The driver's own. */
	unsigned int fifo_bytes; /* what an empty transmitter takes at once */
	bool stuck;		 /* the transmitter did not drain in time: it is asked briefly */
};

/*
 * 8 bits, no parity, interrupts off, FIFOs on where there are any. The rate stays as the firmware
 * left it. Input that arrived earlier is dropped.
 */
void uart16550_init(struct uart16550 *u);

/*
 * Sends all of it. The wait for an empty transmitter is bounded by a number of polls (the clock may
 * not be known yet); after that a byte is written anyway, and may be lost.
 */
void uart16550_write(struct uart16550 *u, const char *buf, size_t len);

/* The next received byte or -1; does not wait. */
int uart16550_read(struct uart16550 *u);

#endif
