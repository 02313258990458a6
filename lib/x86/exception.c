// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where all exceptions and interrupts arrive: to a handler, to a test that waits for one, or into
 * a report that ends the image.
 */
#include "args.h"
#include "console.h"
#include "panic.h"
#include "smp.h"
#include "startup.h"
#include "stdio.h"
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/exception.h>
#include <arch/idt.h>
#include <arch/segment.h>

/* One entry of EXCEPTION_FIXUP(). */
struct exception_fixup {
	u64 instruction;
	u64 behind;
};

struct exception_catch {
	struct exception_catch *outer;
	u64 rsp; /* at exception_catch_resume; written by exception_catch_call() */
	u64 rflags;
};

extern const struct exception_fixup exception_fixups_start[], exception_fixups_end[];

static bool (*exception_handlers[NR_EXCEPTION_VECTORS])(struct exception_frame *frame);
static void (*irq_handlers[256])(struct exception_frame *frame);
static u32 spurious_count;
static u32 delivered_twice_count;

static const char *const exception_names[] = {
	[VECTOR_DE] = "#DE divide error",
	[VECTOR_DB] = "#DB debug",
	[VECTOR_NMI] = "NMI",
	[VECTOR_BP] = "#BP breakpoint",
	[VECTOR_OF] = "#OF overflow",
	[VECTOR_BR] = "#BR bound range exceeded",
	[VECTOR_UD] = "#UD invalid opcode",
	[VECTOR_NM] = "#NM device not available",
	[VECTOR_DF] = "#DF double fault",
	[VECTOR_TS] = "#TS invalid TSS",
	[VECTOR_NP] = "#NP segment not present",
	[VECTOR_SS] = "#SS stack-segment fault",
	[VECTOR_GP] = "#GP general protection",
	[VECTOR_PF] = "#PF page fault",
	[VECTOR_MF] = "#MF x87 floating-point error",
	[VECTOR_AC] = "#AC alignment check",
	[VECTOR_MC] = "#MC machine check",
	[VECTOR_XM] = "#XM SIMD floating-point error",
	[VECTOR_VE] = "#VE virtualization exception",
	[VECTOR_CP] = "#CP control protection",
};

const char *exception_name(int vector)
{
	if (vector == NO_EXCEPTION)
		return "no exception";
	if (vector < 0 || vector >= NR_EXCEPTION_VECTORS)
		return "interrupt";
	if (vector >= (int)ARRAY_SIZE(exception_names) || !exception_names[vector])
		return "reserved exception";
	return exception_names[vector];
}

void exception_set_handler(int vector, bool (*fn)(struct exception_frame *frame))
{
	assert(vector >= 0 && vector < NR_EXCEPTION_VECTORS);
	exception_handlers[vector] = fn;
}

void irq_set_handler(u8 vector, void (*fn)(struct exception_frame *frame))
{
	assert(vector >= NR_EXCEPTION_VECTORS && vector < VECTOR_SPURIOUS);
	__atomic_store_n(&irq_handlers[vector], fn, __ATOMIC_RELEASE);
}

u32 irq_spurious_count(void)
{
	return READ_ONCE(spurious_count);
}

u32 irq_delivered_twice_count(void)
{
	return READ_ONCE(delivered_twice_count);
}

int exception_catch(void (*fn)(void *arg), void *arg, struct exception *e)
{
	struct cpu *cpu = this_cpu();
	struct exception_catch catch = { .outer = cpu->catch, .rflags = read_rflags() };

	exception_clear();
	cpu->catch = &catch;
	exception_catch_call(fn, arg, &catch.rsp);
	cpu->catch = catch.outer;
	/* fn may have caught others in between: only this one counts. */
	if (!catch.rsp) {
		if (e)
			*e = cpu->exception;
		return cpu->exception.vector;
	}
	if (e)
		*e = (struct exception){ .vector = NO_EXCEPTION };
	return NO_EXCEPTION;
}

static void exception_note(const struct exception_frame *frame)
{
	struct exception *e = &this_cpu()->exception;

	e->vector = frame->vector;
	e->error_code = frame->error_code;
	e->cr2 = read_cr2();
	e->rip = frame->rip;
}

static bool exception_fixup(struct exception_frame *frame)
{
	const struct exception_fixup *fixup;
	bool trap = frame->vector == VECTOR_BP || frame->vector == VECTOR_OF;

	for (fixup = exception_fixups_start; fixup < exception_fixups_end; fixup++) {
		if (frame->rip != (trap ? fixup->behind : fixup->instruction))
			continue;
		exception_note(frame);
		frame->rip = fixup->behind;
		return true;
	}
	return false;
}

static bool exception_unwind(struct exception_frame *frame)
{
	struct exception_catch *catch = this_cpu()->catch;

	if (!catch)
		return false;
	exception_note(frame);
	frame->rip = (u64)exception_catch_resume;
	frame->cs = SEL_CODE64;
	frame->ss = SEL_DATA;
	frame->rsp = catch->rsp;
	frame->rflags = catch->rflags;
	catch->rsp = 0; /* tells exception_catch() */
	return true;
}

static void exception_report(const struct exception_frame *f)
{
	char text[768];
	u64 cr2 = read_cr2();
	int length;

	length = snprintf(text, sizeof(text),
			  "\nexception on CPU %d: vector %lu (%s), error code 0x%lx, cr2 0x%lx\n"
			  "rip %016lx rsp %016lx rflags %016lx cs %04lx ss %04lx\n"
			  "rax %016lx rbx %016lx rcx %016lx rdx %016lx\n"
			  "rsi %016lx rdi %016lx rbp %016lx r8  %016lx\n"
			  "r9  %016lx r10 %016lx r11 %016lx r12 %016lx\n"
			  "r13 %016lx r14 %016lx r15 %016lx\n"
			  "cr0 %016lx cr3 %016lx cr4 %016lx\n",
			  smp_id(), f->vector, exception_name(f->vector), f->error_code, cr2,
			  f->rip, f->rsp, f->rflags, f->cs, f->ss, f->rax, f->rbx, f->rcx, f->rdx,
			  f->rsi, f->rdi, f->rbp, f->r8, f->r9, f->r10, f->r11, f->r12, f->r13,
			  f->r14, f->r15, read_cr0(), read_cr3(), read_cr4());
	console_write_unlocked(text, MIN((size_t)length, sizeof(text) - 1));
	panic_at(f->rip, f->rbp, "unexpected %s, vector %lu, error code 0x%lx, cr2 0x%lx, CPU %d",
		 exception_name(f->vector), f->vector, f->error_code, cr2, smp_id());
}

static bool exception_is_caught(int vector)
{
	return vector != VECTOR_NMI && vector != VECTOR_DF && vector != VECTOR_MC;
}

static void dispatch_exception(struct exception_frame *frame)
{
	bool (*handler)(struct exception_frame *) = exception_handlers[frame->vector];

	if (handler && handler(frame))
		return;
	if (exception_is_caught(frame->vector) &&
	    (exception_fixup(frame) || exception_unwind(frame)))
		return;
	exception_report(frame);
}

/*
 * QEMU's emulated SVM delivers an injected interrupt twice when an intercepted one is pending at VMRUN
 * (docs/findings.md). The second time the local APIC has nothing in service, which no hypervisor can
 * bring about but by injecting twice itself; so only the guests of an emulated host are spared it, as
 * the runner's argument outer-qemu=VERSION tells.
 */
static bool is_delivered_twice(u8 vector)
{
	static int emulated = -1;

	if (emulated < 0)
		emulated = args_has("outer-qemu");
	return emulated && !apic_isr(vector);
}

static void dispatch_interrupt(struct exception_frame *frame)
{
	void (*handler)(struct exception_frame *) =
		__atomic_load_n(&irq_handlers[frame->vector], __ATOMIC_ACQUIRE);

	if (frame->vector == VECTOR_SPURIOUS) {
		__atomic_fetch_add(&spurious_count, 1, __ATOMIC_RELAXED);
		return;
	}
	if (!handler)
		exception_report(frame);
	if (is_delivered_twice(frame->vector)) {
		__atomic_fetch_add(&delivered_twice_count, 1, __ATOMIC_RELAXED);
		return;
	}
	handler(frame);
	apic_eoi();
}

void exception_dispatch(struct exception_frame *frame)
{
	if (frame->vector < NR_EXCEPTION_VECTORS)
		dispatch_exception(frame);
	else
		dispatch_interrupt(frame);
}
