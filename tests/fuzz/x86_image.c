// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An ELF image for the x86 VMM, ours or another project's.
 */
#include "machine.h"

#if defined(__x86_64__)
#include "kvm/x86/loader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_file f = { .path = "input", .data = (u8 *)data, .size = size };
	struct x86_image image;
	struct error err = { 0 };
	struct vm vm;

	machine_open(&vm);
	if (x86_load(&vm, &f, &image, &err))
		FUZZ_EXPECT(err.text[0]);
	else
		FUZZ_EXPECT(image.end <= MACHINE_MEMORY_BASE + MACHINE_MEMORY_SIZE);
	machine_close(&vm);
	return 0;
}
#else
/* Its loader is built on its own architecture only. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return 0;
}
#endif
