/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The console: one device, chosen at start-up, with output in chunks and non-blocking input.
 */
#ifndef CONSOLE_H
#define CONSOLE_H

#include "types.h"

struct console_ops {
	const char *name;
	/* Writes all of it; waits for the device, bounded. */
	void (*write)(const char *buf, size_t len);
	/* The next received byte, or -1. */
	int (*read)(void);
};

void console_set(const struct console_ops *ops);
/* The device that is set, or NULL. */
const struct console_ops *console_get(void);
const char *console_name(void);

/* Under a lock, so that lines of several CPUs do not mix; \n is sent as it is. */
void console_write(const char *buf, size_t len);

/*
 * Holds the console over several writes by console_write_unlocked(); interrupts are off meanwhile.
 * Not nested, and no console_write() or printf() in between.
 */
void console_lock(void);
void console_unlock(void);

/* Without the lock, for the last words of a CPU that may hold it. */
void console_write_unlocked(const char *buf, size_t len);

/* The next byte of input or -1, never waits. */
int console_read(void);

#endif
