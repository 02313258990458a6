/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A test-and-set lock on compiler atomics. Needs the MMU on (exclusives on normal memory).
 */
#ifndef SPINLOCK_H
#define SPINLOCK_H

#include "types.h"
#include <arch/cpu.h>

struct spinlock {
	u32 locked;
};

static inline void spin_lock(struct spinlock *l)
{
	while (__atomic_exchange_n(&l->locked, 1, __ATOMIC_ACQUIRE))
		cpu_relax();
}

static inline bool spin_trylock(struct spinlock *l)
{
	return !__atomic_exchange_n(&l->locked, 1, __ATOMIC_ACQUIRE);
}

static inline void spin_unlock(struct spinlock *l)
{
	__atomic_store_n(&l->locked, 0, __ATOMIC_RELEASE);
}

#endif
