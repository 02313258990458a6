// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The console: the first serial port, where every PC-like VMM puts it.
 */
#include "console.h"
#include "startup.h"
#include "uart16550.h"
#include <arch/io.h>

#define COM1 0x3f8

static u8 port_read(const struct uart16550 *u, unsigned int reg)
{
	return inb(u->base + reg);
}

static void port_write(const struct uart16550 *u, unsigned int reg, u8 value)
{
	outb(u->base + reg, value);
}

static struct uart16550 com1 = {
	.read = port_read,
	.write = port_write,
	.base = COM1,
	.reg_width = 1,
};

static void com1_write(const char *buf, size_t len)
{
	uart16550_write(&com1, buf, len);
}

static int com1_read(void)
{
	return uart16550_read(&com1);
}

static const struct console_ops com1_ops = {
	.name = "COM1",
	.write = com1_write,
	.read = com1_read,
};

void com1_init(void)
{
	uart16550_init(&com1);
	console_set(&com1_ops);
}
