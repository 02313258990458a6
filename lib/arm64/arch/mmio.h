/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Device registers. Each access is one plain load or store without writeback, so that a hypervisor
 * can emulate it from the syndrome alone (ESR_EL2.ISV).
 */
#ifndef ARCH_MMIO_H
#define ARCH_MMIO_H

#include "types.h"

static inline u32 mmio_read32(uintptr_t address)
{
	u32 value;

	__asm__ volatile("ldr %w0, [%1]" : "=r"(value) : "r"(address) : "memory");
	return value;
}

static inline void mmio_write32(uintptr_t address, u32 value)
{
	__asm__ volatile("str %w0, [%1]" ::"rZ"(value), "r"(address) : "memory");
}

static inline u64 mmio_read64(uintptr_t address)
{
	u64 value;

	__asm__ volatile("ldr %0, [%1]" : "=r"(value) : "r"(address) : "memory");
	return value;
}

static inline void mmio_write64(uintptr_t address, u64 value)
{
	__asm__ volatile("str %x0, [%1]" ::"rZ"(value), "r"(address) : "memory");
}

static inline u8 mmio_read8(uintptr_t address)
{
	u32 value;

	__asm__ volatile("ldrb %w0, [%1]" : "=r"(value) : "r"(address) : "memory");
	return value;
}

static inline void mmio_write8(uintptr_t address, u8 value)
{
	__asm__ volatile("strb %w0, [%1]" ::"rZ"(value), "r"(address) : "memory");
}

#endif
