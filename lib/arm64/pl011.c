// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PL011 (Arm DDI 0183), polled. Firmware or the VMM has set the line's speed; it is left alone.
 */
#include "console.h"
#include "types.h"
#include "uart.h"
#include <arch/cpu.h>
#include <arch/devicetree.h>
#include <arch/mmio.h>

#define UARTDR	 0x00
#define UARTFR	 0x18
#define UARTLCRH 0x2c
#define UARTCR	 0x30
#define UARTIMSC 0x38

#define FR_RXFE BIT(4)
#define FR_TXFE BIT(7)

#define LCRH_8N1_FIFO 0x70 /* WLEN 8 bits, FEN */

/* The shallowest transmit FIFO of any revision. */
#define FIFO_DEPTH 16

#define CR_ENABLE (BIT(0) | BIT(8) | BIT(9)) /* UARTEN, TXE, RXE */

/* Polls for an empty FIFO until the line counts as dead: seconds, where 9600 baud take 17 ms. */
#define TRANSMIT_POLLS 10000000U

static bool dead;

static uintptr_t reg(u32 offset)
{
	return machine()->uart_registers.base + offset;
}

static void wait_until_set(u32 flag)
{
	u32 polls = TRANSMIT_POLLS;

	while (!(mmio_read32(reg(UARTFR)) & flag)) {
		if (!--polls) {
			dead = true;
			return;
		}
		cpu_relax();
	}
}

/* A FIFO at a time, so that a VMM sees little more than one exit a byte. */
static void write_all(const char *buf, size_t len)
{
	while (len && !dead) {
		size_t chunk = MIN(len, (size_t)FIFO_DEPTH);

		wait_until_set(FR_TXFE);
		for (size_t i = 0; i < chunk && !dead; i++)
			mmio_write32(reg(UARTDR), (u8)buf[i]);
		buf += chunk;
		len -= chunk;
	}
}

static int read_byte(void)
{
	if (mmio_read32(reg(UARTFR)) & FR_RXFE)
		return -1;
	return mmio_read32(reg(UARTDR)) & 0xff;
}

static const struct console_ops pl011_console = {
	.name = "pl011",
	.write = write_all,
	.read = read_byte,
};

void pl011_init(void)
{
	if (!machine()->uart_is_sbsa) { /* an SBSA UART has neither register, and its FIFO on */
		wait_until_set(FR_TXFE);
		mmio_write32(reg(UARTCR), 0); /* UARTLCR_H may only change while it is off */
		mmio_write32(reg(UARTLCRH), LCRH_8N1_FIFO);
		mmio_write32(reg(UARTCR), CR_ENABLE);
	}
	mmio_write32(reg(UARTIMSC), 0);
	console_set(&pl011_console);
}
