/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KVM's interface: the header of the C library's kernel package, and what is newer than Linux 6.1's,
 * each with the kernel file it is from. Whether the running kernel has it is asked at run time.
 */
#ifndef KVM_COMPAT_H
#define KVM_COMPAT_H

#include <linux/kvm.h>

/* include/uapi/linux/kvm.h, Linux 6.4 */
#ifndef KVM_CAP_COUNTER_OFFSET
#define KVM_CAP_COUNTER_OFFSET 227
#endif
#ifndef KVM_ARM_SET_COUNTER_OFFSET
#define KVM_ARM_SET_COUNTER_OFFSET _IOW(KVMIO, 0xb5, struct kvm_arm_counter_offset)

/* arch/arm64/include/uapi/asm/kvm.h, Linux 6.4 */
struct kvm_arm_counter_offset {
	__u64 counter_offset;
	__u64 reserved;
};
#endif

/* include/uapi/linux/kvm.h, Linux 6.16 */
#ifndef KVM_CAP_ARM_EL2
#define KVM_CAP_ARM_EL2 240
#endif

/* arch/arm64/include/uapi/asm/kvm.h, Linux 5.13: defined before any kernel accepted it */
#ifndef KVM_ARM_VCPU_HAS_EL2
#define KVM_ARM_VCPU_HAS_EL2 7
#endif

/* arch/arm64/include/uapi/asm/kvm.h, Linux 6.16 */
#ifndef KVM_DEV_ARM_VGIC_GRP_MAINT_IRQ
#define KVM_DEV_ARM_VGIC_GRP_MAINT_IRQ 9
#endif

#endif
