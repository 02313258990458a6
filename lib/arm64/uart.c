// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses the console's driver: PL011, or a 16550 in memory (kvmtool, Firecracker); in front of it
 * our own VMM's bulk console where there is one.
 */
#include "bulk_console.h"
#include "console.h"
#include "types.h"
#include "uart.h"
#include "uart16550.h"
#include "vmm_interface.h"
#include <arch/devicetree.h>
#include <arch/mmio.h>
#include <arch/mmu.h>

static u8 read_register(const struct uart16550 *u, unsigned int reg)
{
	uintptr_t address = u->base + ((uintptr_t)reg << u->reg_shift);

	return u->reg_width == 4 ? mmio_read32(address) : mmio_read8(address);
}

static void write_register(const struct uart16550 *u, unsigned int reg, u8 value)
{
	uintptr_t address = u->base + ((uintptr_t)reg << u->reg_shift);

	if (u->reg_width == 4)
		mmio_write32(address, value);
	else
		mmio_write8(address, value);
}

static struct uart16550 ns16550 = {
	.read = read_register,
	.write = write_register,
};

static void ns16550_write(const char *buf, size_t len)
{
	uart16550_write(&ns16550, buf, len);
}

static int ns16550_read(void)
{
	return uart16550_read(&ns16550);
}

static const struct console_ops ns16550_console = {
	.name = "16550",
	.write = ns16550_write,
	.read = ns16550_read,
};

static void ns16550_init(const struct machine *m)
{
	ns16550.base = m->uart_registers.base;
	ns16550.reg_shift = m->uart_reg_shift;
	ns16550.reg_width = m->uart_reg_io_width;
	uart16550_init(&ns16550);
	console_set(&ns16550_console);
}

static void bulk_set_address(u64 address)
{
	mmio_write64(machine()->bulk_console.base + BULK_CONSOLE_ADDRESS, address);
}

static void bulk_print(u32 length)
{
	mmio_write32(machine()->bulk_console.base + BULK_CONSOLE_LENGTH, length);
}

static const struct bulk_console bulk = {
	.set_address = bulk_set_address,
	.print = bulk_print,
};

static void bulk_init(const struct machine *m)
{
	if (m->bulk_console.size < BULK_CONSOLE_SIZE)
		return;
	mmu_map_device(m->bulk_console.base, m->bulk_console.size);
	bulk_console_init(&bulk);
}

void uart_init(void)
{
	const struct machine *m = machine();

	if (m->uart == UART_NONE)
		return;
	mmu_map_device(m->uart_registers.base, m->uart_registers.size);
	if (m->uart == UART_PL011)
		pl011_init();
	else
		ns16550_init(m);
	bulk_init(m);
}
