/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System registers by the Arm ARM's names: read_sysreg(midr_el1), write_sysreg(value, vbar_el1).
 * A register that assemblers do not know for Armv8.0 has its encoding named here. The _safe forms
 * survive an UNDEFINED or trapped access and tell of it.
 */
#ifndef ARCH_SYSREG_H
#define ARCH_SYSREG_H

#include "types.h"
#include <arch/exception.h>

#define SYSREG_STRING_(reg) #reg
#define SYSREG_STRING(reg)  SYSREG_STRING_(reg)

#define read_sysreg(reg)                                                         \
	({                                                                       \
		u64 value__;                                                     \
		__asm__ volatile("mrs %0, " SYSREG_STRING(reg) : "=r"(value__)); \
		value__;                                                         \
	})

#define write_sysreg(value, reg) \
	__asm__ volatile("msr " SYSREG_STRING(reg) ", %x0" ::"rZ"((u64)(value)) : "memory")

/* true and *value, or false where the access raises an exception. */
#define sysreg_read_safe(reg, value)                                                   \
	({                                                                             \
		u64 ok__, value__ = 0;                                                 \
		__asm__ volatile("mov %0, #0\n"                                        \
				 "1: mrs %1, " SYSREG_STRING(reg) "\n"                 \
								  "mov %0, #1\n"       \
								  "2:\n" FIXUP(1b, 2b) \
				 : "=&r"(ok__), "+&r"(value__)::"memory");             \
		*(value) = value__;                                                    \
		ok__ != 0;                                                             \
	})

/* true when the write was done, false where it raises an exception. */
#define sysreg_write_safe(value, reg)                                              \
	({                                                                         \
		u64 ok__;                                                          \
		__asm__ volatile("mov %0, #0\n"                                    \
				 "1: msr " SYSREG_STRING(reg) ", %x1\n"            \
							      "isb\n"              \
							      "mov %0, #1\n"       \
							      "2:\n" FIXUP(1b, 2b) \
				 : "=&r"(ok__)                                     \
				 : "rZ"((u64)(value))                              \
				 : "memory");                                      \
		ok__ != 0;                                                         \
	})

/* Defines NAME() to read the register and set_NAME(value) to write it, followed by an ISB. */
#define SYSREG_RO(name, reg)             \
	static inline u64 name(void)     \
	{                                \
		return read_sysreg(reg); \
	}

#define SYSREG_RW(name, reg)                          \
	SYSREG_RO(name, reg)                          \
	static inline void set_##name(u64 value)      \
	{                                             \
		write_sysreg(value, reg);             \
		__asm__ volatile("isb" ::: "memory"); \
	}

/* A field of an ID register: 4 bits from lsb. */
#define ID_FIELD(value, lsb) (((value) >> (lsb)) & 0xf)

SYSREG_RO(midr_el1, midr_el1)
SYSREG_RO(mpidr_el1, mpidr_el1)
SYSREG_RO(id_aa64pfr0_el1, id_aa64pfr0_el1)
SYSREG_RO(id_aa64dfr0_el1, id_aa64dfr0_el1)
SYSREG_RO(id_aa64mmfr0_el1, id_aa64mmfr0_el1)
SYSREG_RO(id_aa64mmfr1_el1, id_aa64mmfr1_el1)

#define ID_AA64MMFR0_ECV_SHIFT 60
#define ID_AA64MMFR1_VH_SHIFT  8

/* The affinity fields of MPIDR_EL1: what the devicetree and PSCI name a CPU by. */
#define MPIDR_AFFINITY_MASK 0xff00ffffffULL

#endif
