// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exceptions from the vectors on: interrupts go to the GIC's code, expected exceptions to whoever
 * expects them (the fixup table, exception_try()), everything else is reported and ends the image.
 */
#include "console.h"
#include "el2host.h"
#include "panic.h"
#include "stdio.h"
#include "types.h"
#include "startup.h"
#include "interrupt.h"
#include <arch/cpu.h>
#include <arch/exception.h>
#include <arch/percpu.h>
#include <arch/sysreg.h>

_Static_assert(sizeof(struct exception_frame) == FRAME_SIZE, "vectors.S");
_Static_assert(offsetof(struct exception_frame, sp) == FRAME_SP, "vectors.S");
_Static_assert(offsetof(struct exception_frame, pc) == FRAME_PC, "vectors.S");
_Static_assert(offsetof(struct exception_frame, pstate) == FRAME_PSTATE, "vectors.S");
_Static_assert(offsetof(struct exception_frame, esr) == FRAME_ESR, "vectors.S");
_Static_assert(offsetof(struct exception_frame, far) == FRAME_FAR, "vectors.S");
_Static_assert(offsetof(struct exception_frame, vector) == FRAME_VECTOR, "vectors.S");

#define PSTATE_DAIF 0x3c0ULL
#define PSTATE_M    0x00fULL /* exception level in bits 3:2, SPSel in bit 0 */

/* The vector's number is 4 * (where from) + what. */
enum vector_kind {
	VECTOR_SYNC,
	VECTOR_IRQ,
	VECTOR_FIQ,
	VECTOR_SERROR,
};

/* A synchronous exception from a lower level in AArch64. */
#define VECTOR_SYNC_LOWER (4 * 2 + VECTOR_SYNC)

struct fixup {
	s32 from; /* relative to the field itself */
	s32 to;
};

extern const struct fixup __fixups_start[], __fixups_end[];

bool exception_try_call(void (*fn)(void *arg), void *arg, u64 *saved_sp);
void exception_try_landing(void);
void exception_entry(struct exception_frame *frame);

static const struct {
	unsigned int ec;
	const char *name;
} class_names[] = {
	{ EC_UNKNOWN, "undefined instruction" },
	{ EC_WFX, "trapped WFI or WFE" },
	{ EC_FP_ACCESS, "trapped FP or SIMD" },
	{ EC_ILLEGAL_STATE, "illegal execution state" },
	{ EC_SVC64, "SVC" },
	{ EC_HVC64, "HVC" },
	{ EC_SMC64, "SMC" },
	{ EC_SYSREG, "trapped system register" },
	{ EC_INSTRUCTION_ABORT_LOWER, "instruction abort from EL0" },
	{ EC_INSTRUCTION_ABORT, "instruction abort" },
	{ EC_PC_ALIGNMENT, "PC alignment fault" },
	{ EC_DATA_ABORT_LOWER, "data abort from EL0" },
	{ EC_DATA_ABORT, "data abort" },
	{ EC_SP_ALIGNMENT, "SP alignment fault" },
	{ EC_SERROR, "SError" },
	{ EC_BRK64, "BRK" },
};

const char *exception_class_name(unsigned int ec)
{
	for (size_t i = 0; i < ARRAY_SIZE(class_names); i++) {
		if (class_names[i].ec == ec)
			return class_names[i].name;
	}
	return "exception of an unknown class";
}

static bool fix_up(struct exception_frame *frame)
{
	for (const struct fixup *f = __fixups_start; f < __fixups_end; f++) {
		if ((uintptr_t)&f->from + f->from == frame->pc) {
			frame->pc = (uintptr_t)&f->to + f->to;
			return true;
		}
	}
	return false;
}

static bool return_to_try(struct percpu *cpu, struct exception_frame *frame)
{
	struct exception_try_state *try = cpu->try;

	if (!try)
		return false;
	cpu->try = NULL;
	*try->caught = (struct exception){
		.esr = frame->esr,
		.far = frame->far,
		.pc = frame->pc,
	};
	frame->pc = (uintptr_t)exception_try_landing;
	frame->x[0] = try->sp;
	frame->pstate = (frame->pstate & ~(PSTATE_DAIF | PSTATE_M)) | try->pstate;
	return true;
}

bool exception_try(void (*fn)(void *arg), void *arg, struct exception *caught)
{
	struct percpu *cpu = this_cpu();
	struct exception_try_state *outer = cpu->try;
	struct exception_try_state try = {
		.pstate = read_sysreg(daif) | read_sysreg(CurrentEL) | read_sysreg(spsel),
		.caught = caught,
	};
	bool raised;

	cpu->try = &try;
	raised = exception_try_call(fn, arg, &try.sp);
	cpu->try = outer;
	return raised;
}

bool mem_read32_safe(uintptr_t address, u32 *value)
{
	u64 ok;
	u32 v = 0;

	__asm__ volatile("mov %0, #0\n"
			 "1: ldr %w1, [%2]\n"
			 "mov %0, #1\n"
			 "2:\n" FIXUP(1b, 2b)
			 : "=&r"(ok), "+&r"(v)
			 : "r"(address)
			 : "memory");
	*value = v;
	return ok;
}

static void PRINTF_LIKE(1, 2) say(const char *fmt, ...)
{
	char line[160];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	console_write_unlocked(line, MIN((size_t)len, sizeof(line) - 1));
}

/* Past the console's lock, whose owner may be the code that raised the exception. */
static void print_registers(const struct percpu *cpu, const struct exception_frame *frame)
{
	say("\nCPU %d at EL%d: registers\n", cpu->id, current_el());
	say("  pc  %016lx  sp   %016lx  pstate %016lx\n", frame->pc, frame->sp, frame->pstate);
	say("  esr %016lx  far  %016lx  vector %lu\n", frame->esr, frame->far, frame->vector);
	for (int i = 0; i < 30; i += 3)
		say("  x%-2d %016lx  x%-2d  %016lx  x%-2d    %016lx\n", i, frame->x[i], i + 1,
		    frame->x[i + 1], i + 2, frame->x[i + 2]);
	say("  x30 %016lx\n", frame->x[30]);
}

static NORETURN void unexpected(struct percpu *cpu, const struct exception_frame *frame)
{
	static const char *const kinds[] = { "", "IRQ", "FIQ", "SError" };
	unsigned int ec = ESR_EC(frame->esr);
	int kind = frame->vector & 3;

	if (cpu->in_panic) /* the report itself went wrong */
		arch_stop();
	cpu->in_panic = true;
	print_registers(cpu, frame);
	if (kind != VECTOR_SYNC)
		panic_at(frame->pc, frame->x[29], "unexpected %s on CPU %d (ESR %#lx)", kinds[kind],
			 cpu->id, frame->esr);
	panic_at(frame->pc, frame->x[29],
		 "unexpected exception on CPU %d: %s (EC %#x, ISS %#x), FAR %#lx", cpu->id,
		 exception_class_name(ec), ec, (u32)ESR_ISS(frame->esr), frame->far);
}

void exception_entry(struct exception_frame *frame)
{
	struct percpu *cpu = this_cpu();
	struct exception_try_state *try;

	switch (frame->vector & 3) {
	case VECTOR_SYNC:
		if (frame->vector == VECTOR_SYNC_LOWER && current_el() == 2 &&
		    el2host_handle(frame))
			return;
		if (fix_up(frame) || return_to_try(cpu, frame))
			return;
		break;
	case VECTOR_IRQ:
		/* What a handler raises is not for the function that it interrupted. */
		try = cpu->try;
		cpu->try = NULL;
		irq_dispatch(frame);
		cpu->try = try;
		return;
	}
	unexpected(cpu, frame);
}

void exception_init_cpu(void)
{
	write_sysreg(exception_vectors, vbar_el1);
	isb();
	__asm__ volatile("msr daifclr, #4"); /* SErrors are reported */
}
