// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exits that only x86 has: ports, triple faults, Hyper-V's.
 */
#include <string.h>
#include <sys/ioctl.h>
#include "kvm/vm.h"

/* An address that nobody decodes: reads are all ones and writes are lost, as on an ISA bus. */
static void unclaimed(struct vcpu *vcpu, u8 *data, unsigned int len, bool is_write)
{
	vcpu->vm->ports.unclaimed++;
	if (!is_write)
		memset(data, 0xff, len);
}

static void access_port(struct vcpu *vcpu, u16 port, u8 *data, unsigned int len, bool is_write)
{
	struct device *d = bus_find(&vcpu->vm->ports, port, len);

	if (!d)
		unclaimed(vcpu, data, len, is_write);
	else if (is_write)
		device_write(vcpu, d, port, data, len);
	else
		device_read(vcpu, d, port, data, len);
}

static void handle_io(struct vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;
	bool is_write = run->io.direction == KVM_EXIT_IO_OUT;
	u64 len = (u64)run->io.size * run->io.count;
	u8 *data = (u8 *)run + run->io.data_offset;

	if (run->io.data_offset > vcpu->vm->run_size ||
	    len > vcpu->vm->run_size - run->io.data_offset) {
		vcpu_error(vcpu, "KVM_EXIT_IO with %llu bytes at offset 0x%llx of kvm_run",
			   (unsigned long long)len, (unsigned long long)run->io.data_offset);
		return;
	}
	pthread_mutex_lock(&vcpu->vm->device_lock);
	for (u32 i = 0; i < run->io.count; i++)
		access_port(vcpu, run->io.port, data + i * run->io.size, run->io.size, is_write);
	pthread_mutex_unlock(&vcpu->vm->device_lock);
}

static void handle_shutdown(struct vcpu *vcpu)
{
	struct text t = { 0 };

	text_printf(&t, "vCPU %u shut down: a triple fault\n", vcpu->index);
	arch_dump_registers(vcpu, &t);
	vm_ended(vcpu->vm, VM_RESET, 0, "%s", text_string(&t));
	text_free(&t);
}

/* Hypervisor Top-Level Functional Specification, B "Hypercall Status Codes" */
#define HV_STATUS_INVALID_HYPERCALL_CODE 2

/*
 * Hyper-V's part of a machine with hv-stimer. The pages that a guest tells by its SynIC's MSRs are
 * ordinary memory here and KVM writes its messages into them, so there is nothing to do; hypercalls
 * that KVM does not know, nobody knows.
 */
static bool handle_hyperv(struct vcpu *vcpu)
{
	struct kvm_hyperv_exit *exit = &vcpu->run->hyperv;

	switch (exit->type) {
	case KVM_EXIT_HYPERV_SYNIC:
		return true;
	case KVM_EXIT_HYPERV_HCALL:
		exit->u.hcall.result = HV_STATUS_INVALID_HYPERCALL_CODE;
		return true;
	default:
		return false;
	}
}

bool arch_handle_exit(struct vcpu *vcpu)
{
	switch (vcpu->run->exit_reason) {
	case KVM_EXIT_IO:
		handle_io(vcpu);
		return true;
	case KVM_EXIT_SHUTDOWN:
		handle_shutdown(vcpu);
		return true;
	case KVM_EXIT_HYPERV:
		return handle_hyperv(vcpu);
	default:
		return false;
	}
}

static void dump_segment(struct text *out, const char *name, const struct kvm_segment *s)
{
	text_printf(out, "%s %04x base %016llx limit %08x type %x l %u db %u dpl %u\n", name,
		    s->selector, (unsigned long long)s->base, s->limit, s->type, s->l, s->db,
		    s->dpl);
}

static void dump_general(struct text *out, const struct kvm_regs *r)
{
	const struct {
		const char *name;
		u64 value;
	} list[] = {
		{ "rip", r->rip }, { "rflags", r->rflags }, { "rax", r->rax }, { "rbx", r->rbx },
		{ "rcx", r->rcx }, { "rdx", r->rdx },	    { "rsi", r->rsi }, { "rdi", r->rdi },
		{ "rsp", r->rsp }, { "rbp", r->rbp },	    { "r8", r->r8 },   { "r9", r->r9 },
		{ "r10", r->r10 }, { "r11", r->r11 },	    { "r12", r->r12 }, { "r13", r->r13 },
		{ "r14", r->r14 }, { "r15", r->r15 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		text_printf(out, "%-6s %016llx%s", list[i].name, (unsigned long long)list[i].value,
			    i % 4 == 3 ? "\n" : "  ");
	text_append_char(out, '\n');
}

void arch_dump_registers(struct vcpu *vcpu, struct text *out)
{
	struct kvm_sregs sregs;
	struct kvm_regs regs;

	if (ioctl(vcpu->fd, KVM_GET_REGS, &regs) < 0 ||
	    ioctl(vcpu->fd, KVM_GET_SREGS, &sregs) < 0) {
		text_append(out, "its registers cannot be read\n");
		return;
	}
	dump_general(out, &regs);
	text_printf(out, "cr0 %08llx  cr2 %016llx  cr3 %016llx  cr4 %08llx  efer %04llx\n",
		    (unsigned long long)sregs.cr0, (unsigned long long)sregs.cr2,
		    (unsigned long long)sregs.cr3, (unsigned long long)sregs.cr4,
		    (unsigned long long)sregs.efer);
	dump_segment(out, "cs", &sregs.cs);
	dump_segment(out, "ss", &sregs.ss);
	text_printf(out, "gdt %016llx limit %04x  idt %016llx limit %04x\n",
		    (unsigned long long)sregs.gdt.base, sregs.gdt.limit,
		    (unsigned long long)sregs.idt.base, sregs.idt.limit);
}
