// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An Image for the arm64 VMM.
 */
#include "machine.h"

#include "kvm/arm64/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_file f = { .path = "input", .data = (u8 *)data, .size = size };
	struct error err = { 0 };
	u64 entry, end;
	struct vm vm;

	machine_open(&vm);
	if (arm64_load(&vm, &f, &entry, &end, &err)) {
		FUZZ_EXPECT(err.text[0]);
	} else {
		FUZZ_EXPECT(entry >= MACHINE_MEMORY_BASE);
		FUZZ_EXPECT(end <= MACHINE_MEMORY_BASE + MACHINE_MEMORY_SIZE);
	}
	machine_close(&vm);
	return 0;
}
