// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The console of console.h: the chosen device behind one lock. Interrupts are off while a CPU holds
 * it, so that a handler which prints does not wait for the code that it interrupted.
 */
#include "console.h"
#include "spinlock.h"

static const struct console_ops *device;
static struct spinlock lock;
static u64 irq_state; /* of the CPU that holds the lock */

void console_set(const struct console_ops *ops)
{
	device = ops;
}

const struct console_ops *console_get(void)
{
	return device;
}

const char *console_name(void)
{
	return device ? device->name : "none";
}

void console_lock(void)
{
	u64 state = irq_save();

	spin_lock(&lock);
	irq_state = state;
}

void console_unlock(void)
{
	u64 state = irq_state;

	spin_unlock(&lock);
	irq_restore(state);
}

void console_write(const char *buf, size_t len)
{
	console_lock();
	console_write_unlocked(buf, len);
	console_unlock();
}

void console_write_unlocked(const char *buf, size_t len)
{
	if (device && len)
		device->write(buf, len);
}

int console_read(void)
{
	return device ? device->read() : -1;
}
