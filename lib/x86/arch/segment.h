/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Segment selectors of the image's GDT, for C and assembly. The user segments stand in the order
 * that SYSRET wants (SDM vol. 2, SYSRET: CS and SS are computed from IA32_STAR).
 */
#ifndef ARCH_SEGMENT_H
#define ARCH_SEGMENT_H

#define SEL_CODE32	0x08
#define SEL_CODE64	0x10
#define SEL_DATA	0x18
#define SEL_USER_CODE32 0x20
#define SEL_USER_DATA	0x28
#define SEL_USER_CODE64 0x30
#define SEL_TSS		0x40 /* of CPU 0; 16 bytes a CPU */

#endif
