// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A kernel module's file, plain or compressed.
 */
#include "fuzz.h"

#include "module_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = { 0 };
	struct module_file m;

	if (module_file_read(fuzz_file(data, size), &m, &err)) {
		FUZZ_EXPECT(err.text[0]);
		return 0;
	}
	FUZZ_EXPECT(m.name && m.depends && m.content.len);
	module_file_free(&m);
	return 0;
}
