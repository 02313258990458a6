// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The driver of uart16550.h. Where there is a FIFO the transmitter is asked once in 16 bytes: every
 * access is an exit from the guest, which costs up to 200 us where KVM itself is emulated.
 */
#include "uart16550.h"
#include <arch/cpu.h>

#define REG_RBR 0 /* read: received byte */
#define REG_THR 0 /* write: byte to send */
#define REG_IER 1
#define REG_IIR 2 /* read */
#define REG_FCR 2 /* write */
#define REG_LCR 3
#define REG_MCR 4
#define REG_LSR 5

#define IIR_FIFO_MASK	 0xc0 /* both set: FIFOs work */
#define FCR_ENABLE	 0x01
#define FCR_CLEAR_RX	 0x02
#define LCR_8N1		 0x03
#define MCR_DTR_RTS	 0x03
#define LSR_DATA_READY	 0x01
#define LSR_THR_EMPTY	 0x20
#define FIFO_BYTES	 16
#define POLLS_MAX	 1000000
#define POLLS_WHEN_STUCK 100

void uart16550_init(struct uart16550 *u)
{
	u->write(u, REG_IER, 0);
	/* Also turns the divisor latch off, which hides registers 0 and 1. */
	u->write(u, REG_LCR, LCR_8N1);
	u->write(u, REG_MCR, MCR_DTR_RTS);
	u->write(u, REG_FCR, FCR_ENABLE | FCR_CLEAR_RX);
	u->fifo_bytes = (u->read(u, REG_IIR) & IIR_FIFO_MASK) == IIR_FIFO_MASK ? FIFO_BYTES : 1;
	u->stuck = false;
}

static void wait_until_empty(struct uart16550 *u)
{
	for (u32 polls = u->stuck ? POLLS_WHEN_STUCK : POLLS_MAX; polls; polls--) {
		if (u->read(u, REG_LSR) & LSR_THR_EMPTY) {
			u->stuck = false;
			return;
		}
		cpu_relax();
	}
	u->stuck = true;
}

void uart16550_write(struct uart16550 *u, const char *buf, size_t len)
{
	while (len) {
		size_t n = MIN(len, (size_t)u->fifo_bytes);

		wait_until_empty(u);
		len -= n;
		while (n--)
			u->write(u, REG_THR, (u8)*buf++);
	}
}

int uart16550_read(struct uart16550 *u)
{
	if (!(u->read(u, REG_LSR) & LSR_DATA_READY))
		return -1;
	return u->read(u, REG_RBR);
}
