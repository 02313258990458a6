// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Output by way of one buffer, which the console's lock protects as it does a device. Memory is
 * mapped one to one on every architecture, so the buffer's address is the physical one.
 */
#include "bulk_console.h"
#include "console.h"
#include "string.h"

#define BUFFER_SIZE 4096

static char buffer[BUFFER_SIZE] __attribute__((aligned(BUFFER_SIZE)));
static const struct bulk_console *bulk;
static const struct console_ops *uart;

static void bulk_write(const char *buf, size_t len)
{
	while (len) {
		size_t n = MIN(len, sizeof(buffer));

		memcpy(buffer, buf, n);
		bulk->print(n);
		buf += n;
		len -= n;
	}
}

static int bulk_read(void)
{
	return uart ? uart->read() : -1;
}

static const struct console_ops bulk_console_ops = {
	.name = "bulk console",
	.write = bulk_write,
	.read = bulk_read,
};

void bulk_console_init(const struct bulk_console *device)
{
	bulk = device;
	uart = console_get();
	bulk->set_address((uintptr_t)buffer);
	console_set(&bulk_console_ops);
}
