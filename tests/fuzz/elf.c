// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ELF files that the runner looks at or makes smaller: images, programs, modules. What was made
 * smaller cannot be made smaller again.
 */
#include "fuzz.h"

#include "elf_strip.h"
#include "image.h"

static void strip(bool (*fn)(struct text *file), const uint8_t *data, size_t size)
{
	struct text file = { 0 };

	text_append_bytes(&file, (const char *)data, size);
	if (fn(&file)) {
		FUZZ_EXPECT(file.len < size);
		FUZZ_EXPECT(!fn(&file));
	} else {
		FUZZ_EXPECT(file.len == size && (!size || !memcmp(file.data, data, size)));
	}
	text_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);
	struct error err;

	for (enum arch arch = 0; arch < ARCH_COUNT; arch++) {
		err.text[0] = '\0';
		FUZZ_EXPECT(!image_check(path, arch, &err) || err.text[0]);
	}
	strip(elf_strip_program, data, size);
	strip(elf_strip_module, data, size);
	return 0;
}
