// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Last words: panic(), backtraces by frame pointers, and what the compiler's stack protector calls.
 * Nothing here takes a lock or trusts a pointer: whoever comes here may be in any state.
 */
#include "console.h"
#include "panic.h"
#include "protocol.h"
#include "stdio.h"
#include "string.h"
#include <arch/cpu.h>

#define FRAMES_MAX 32

/*
 * What both ABIs put where the frame pointer points: AMD64 psABI 3.2.2 (rbp), AAPCS64 6.4.6 (x29).
 */
struct frame {
	uintptr_t caller_fp;
	uintptr_t return_address;
};

/*
 * The stack protector's canary. One for all images: it is to find overruns, not to resist attacks.
 * Its lowest byte is 0 so that a string which runs into it ends there.
 */
uintptr_t __stack_chk_guard = 0x7d1ac4e6935fb800;
NORETURN void __stack_chk_fail(void);

/* How far the first panic has come. */
enum {
	PANIC_NONE,
	PANIC_BEGUN,
	PANIC_TOLD,
	PANIC_DONE
};
static u32 panic_stage;

/* How often a second panic looks whether the first, if it is another CPU's, has had its say. */
#define PANIC_WAIT_POLLS 1000000

static const struct frame *frame_at(uintptr_t fp)
{
	if (!fp || fp % sizeof(fp) || !arch_is_stack(fp) ||
	    !arch_is_stack(fp + sizeof(struct frame) - 1))
		return NULL;
	return (const struct frame *)fp;
}

/* Appends to the line as long as there is room. */
static size_t append_address(char *line, size_t size, size_t len, uintptr_t address)
{
	int n = snprintf(line + len, size - len, "%s%#lx", line[len - 1] == '=' ? "" : ",",
			 address - arch_load_offset());

	return MIN(len + (size_t)n, size - 1);
}

static void print_backtrace(uintptr_t pc, uintptr_t fp)
{
	char line[PROTO_LINE_MAX + 1] = PROTO_PREFIX PROTO_BACKTRACE " pc=";
	size_t len = append_address(line, sizeof(line), strlen(line), pc);
	const struct frame *frame = frame_at(fp);

	for (int n = 1; frame && frame->return_address && n < FRAMES_MAX; n++) {
		/* The call, not what follows it: that may be another line, or another function. */
		len = append_address(line, sizeof(line), len, frame->return_address - 1);
		/* A stack grows down, so callers lie above; anything else is a loop or rubbish. */
		if (frame->caller_fp <= (uintptr_t)frame)
			break;
		frame = frame_at(frame->caller_fp);
	}
	line[len++] = '\n';
	console_write_unlocked(line, len);
}

__attribute__((noinline)) void backtrace_print(uintptr_t pc, uintptr_t fp)
{
	if (!pc) {
		pc = (uintptr_t)__builtin_return_address(0) - 1;
		fp = ((const struct frame *)__builtin_frame_address(0))->caller_fp;
	}
	print_backtrace(pc, fp);
}

/* A panic while another is under way: of this CPU, within its own last words, or of another. */
NORETURN static void second_panic(void)
{
	static const char line[] = "\n" PROTO_PREFIX PROTO_PANIC " text=panic inside panic()\n";

	for (u32 polls = 0; polls < PANIC_WAIT_POLLS; polls++) {
		if (__atomic_load_n(&panic_stage, __ATOMIC_ACQUIRE) == PANIC_DONE)
			break;
		cpu_relax();
	}
	if (__atomic_load_n(&panic_stage, __ATOMIC_ACQUIRE) < PANIC_TOLD)
		console_write_unlocked(line, sizeof(line) - 1);
	arch_stop();
}

NORETURN static void last_words(uintptr_t pc, uintptr_t fp, const char *fmt, va_list ap)
{
	/* Another CPU may be in the middle of a line. */
	static char line[PROTO_LINE_MAX + 2] = "\n" PROTO_PREFIX PROTO_PANIC " text=";
	size_t begin = strlen(line);
	u32 expected = PANIC_NONE;
	int n;

	irq_disable();
	if (!__atomic_compare_exchange_n(&panic_stage, &expected, PANIC_BEGUN, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		second_panic();
	n = vsnprintf(line + begin, sizeof(line) - begin, fmt, ap);
	n = MIN(MAX(n, 0), (int)(sizeof(line) - begin - 1));
	for (size_t i = begin; i < begin + n; i++) {
		if (line[i] < ' ' || line[i] > '~')
			line[i] = ' ';
	}
	line[begin + n] = '\n';
	console_write_unlocked(line, begin + n + 1);
	__atomic_store_n(&panic_stage, PANIC_TOLD, __ATOMIC_RELEASE);
	print_backtrace(pc, fp);
	__atomic_store_n(&panic_stage, PANIC_DONE, __ATOMIC_RELEASE);
	arch_stop();
}

__attribute__((noinline)) void panic(const char *fmt, ...)
{
	const struct frame *frame = __builtin_frame_address(0);
	va_list ap;

	va_start(ap, fmt);
	last_words(frame->return_address - 1, frame->caller_fp, fmt, ap);
}

void panic_at(uintptr_t pc, uintptr_t fp, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	last_words(pc, fp, fmt, ap);
}

__attribute__((noinline)) void __stack_chk_fail(void)
{
	const struct frame *frame = __builtin_frame_address(0);

	/* The frame that was overrun may hold anything but, most likely, still its own pc. */
	panic_at(frame->return_address - 1, frame->caller_fp,
		 "stack protector: a buffer on the stack was overrun");
}
