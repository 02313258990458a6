/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the x86_64 side of the VMM keeps for a machine, and what its files share.
 *
 * The machine: KVM's local APICs, I/O APIC, 8259s and 8254; ports as in enum below; memory from 0 to
 * 3 GiB and on from 4 GiB; ACPI tables in the BIOS area; no firmware, no PCI, no RTC, no PM timer.
 */
#ifndef KVM_X86_ARCH_H
#define KVM_X86_ARCH_H

#include "kvm/bus.h"
#include "kvm/kvm_compat.h"
#include "kvm/x86/fw_cfg.h"
#include "kvm/x86/uart16550.h"
#include "types.h"
#include "util/error.h"

/* Ports */
enum {
	PORT_KEYBOARD_CONTROL = 0x64, /* the value 0xfe resets */
	PORT_DEBUG_EXIT = 0xf4,	      /* as QEMU's isa-debug-exit in other projects' test images */
	PORT_COM1 = 0x3f8,
	PORT_BULK_CONSOLE = 0x4b0,
	PORT_FW_CFG = 0x510,
	PORT_PM1_CONTROL = 0x604, /* SLP_EN powers off */
	PORT_RESET_CONTROL = 0xcf9,
};

/* Memory that the boot protocols and ACPI use; the image may not be loaded over it. */
#define BOOT_AREA_START	  0x9d000
#define BOOT_INFO_ADDRESS 0x9d000
#define CMDLINE_ADDRESS	  0x9e000
#define CMDLINE_SIZE	  0x2000
#define BOOT_AREA_END	  0x100000
#define ACPI_ADDRESS	  0xf0000
#define ACPI_SIZE	  0x10000
#define LOW_MEMORY_END	  0xc0000000ULL
#define HIGH_MEMORY_START 0x100000000ULL

#define LOCAL_APIC_ADDRESS 0xfee00000
#define IO_APIC_ADDRESS	   0xfec00000

/* SDM vol. 4 */
#define MSR_IA32_TSC	      0x10
#define MSR_IA32_TSC_ADJUST   0x3b
#define MSR_IA32_TSC_DEADLINE 0x6e0
/* Documentation/virt/kvm/x86/msr.rst */
#define MSR_KVM_SYSTEM_TIME	0x12
#define MSR_KVM_SYSTEM_TIME_NEW 0x4b564d01

struct vcpu;
struct vm;

/* The host's counter that guests' are offsets from. */
static inline u64 host_counter(void)
{
	return __builtin_ia32_rdtsc();
}

struct vm_arch {
	struct uart16550 com1;
	struct fw_cfg fw_cfg;
	u32 *msrs; /* numbers that state.c saves */
	size_t nr_msrs;
	bool has_tsc_offset;
	u64 tsc_khz;   /* of the guests' TSC; 0 where KVM does not tell */
	s64 tsc_shift; /* clock_state.c: what this restore adds to every TSC, or to its offset */
};

/* What faults keep of a vCPU. */
struct fault_vcpu {
	u64 deadline; /* as the guest wrote it last */
	bool held;    /* it is not armed yet */
	bool doubled; /* its interrupt is to come again */
	u64 writes;   /* of deadlines */
	u64 kvmclock; /* MSR_KVM_SYSTEM_TIME_NEW as the guest wrote it */
	unsigned int steps;
};

struct vcpu_arch {
	u32 apic_id;
	struct fault_vcpu fault;
};

static inline unsigned long arch_vm_type(const struct vm *vm)
{
	return 0;
}

/* cpuid.c */
int cpuid_set(struct vcpu *vcpu, struct error *err);

/* acpi.c: tables at ACPI_ADDRESS; returns the RSDP's address. */
u64 acpi_write(struct vm *vm);

/* devices.c; the other two are steps of state.h. */
struct state;
struct state_item;
void devices_add(struct vm *vm);
int devices_save(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
		 struct error *err);
int devices_restore(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
		    struct error *err);

/* state.c */
int state_find_msrs(struct vm *vm, struct error *err);
/* 0, or -1 where KVM has no such MSR or does not take the value. */
int msr_get(struct vcpu *vcpu, u32 number, u64 *value);
int msr_set(struct vcpu *vcpu, u32 number, u64 value);

/* clock_state.c: steps of state.h. */
int clock_save(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
	       struct error *err);
int clock_restore(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
		  struct error *err);
int tsc_save(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
	     struct error *err);
int tsc_restore(struct vm *vm, struct vcpu *vcpu, const struct state_item *item, struct error *err);
int deadline_save(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
		  struct error *err);
int deadline_restore(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
		     struct error *err);

/* KVM_VCPU_TSC_OFFSET by KVM_GET_DEVICE_ATTR or KVM_SET_DEVICE_ATTR; -1 with errno. */
int tsc_offset_get(struct vcpu *vcpu, u64 *offset);
int tsc_offset_set(struct vcpu *vcpu, u64 offset);

#endif
