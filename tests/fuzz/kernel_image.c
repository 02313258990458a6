// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file given as --kernel.
 */
#include "fuzz.h"

#include "kernel_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);
	struct error err = { 0 };
	struct kernel_image image;
	enum arch arch;

	if (!kernel_image_arch(path, &arch, &err)) {
		FUZZ_EXPECT(err.text[0]);
		return 0;
	}
	if (kernel_image_find(path, arch, NULL, "/nonexistent", &image, &err)) {
		FUZZ_EXPECT(err.text[0]);
		return 0;
	}
	FUZZ_EXPECT(image.arch == arch && image.path);
	kernel_image_free(&image);
	return 0;
}
