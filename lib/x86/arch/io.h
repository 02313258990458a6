/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Port I/O and memory-mapped registers.
 */
#ifndef ARCH_IO_H
#define ARCH_IO_H

#include "types.h"

static inline u8 inb(u16 port)
{
	u8 value;

	__asm__ volatile("inb %w1, %b0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline u16 inw(u16 port)
{
	u16 value;

	__asm__ volatile("inw %w1, %w0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline u32 inl(u16 port)
{
	u32 value;

	__asm__ volatile("inl %w1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline void outb(u16 port, u8 value)
{
	__asm__ volatile("outb %b0, %w1" ::"a"(value), "Nd"(port) : "memory");
}

static inline void outw(u16 port, u16 value)
{
	__asm__ volatile("outw %w0, %w1" ::"a"(value), "Nd"(port) : "memory");
}

static inline void outl(u16 port, u32 value)
{
	__asm__ volatile("outl %0, %w1" ::"a"(value), "Nd"(port) : "memory");
}

/*
 * One access of exactly this width, in an encoding that every hypervisor's instruction emulator
 * knows (a compiler may choose others for a volatile access).
 */
static inline u32 mmio_read32(uintptr_t address)
{
	u32 value;

	__asm__ volatile("movl (%1), %0" : "=r"(value) : "r"(address) : "memory");
	return value;
}

static inline void mmio_write32(uintptr_t address, u32 value)
{
	__asm__ volatile("movl %0, (%1)" ::"r"(value), "r"(address) : "memory");
}

static inline u64 mmio_read64(uintptr_t address)
{
	u64 value;

	__asm__ volatile("movq (%1), %0" : "=r"(value) : "r"(address) : "memory");
	return value;
}

static inline void mmio_write64(uintptr_t address, u64 value)
{
	__asm__ volatile("movq %0, (%1)" ::"r"(value), "r"(address) : "memory");
}

#endif
