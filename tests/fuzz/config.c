// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unittests.cfg: a file that is refused says why, and one that is taken has only sane tests.
 */
#include "fuzz.h"

#include "config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);
	struct mistakes m = { 0 };
	struct text told = { 0 };
	struct config config;

	if (config_read(path, &config, &m)) {
		FUZZ_EXPECT(m.count);
		mistakes_print(&m, &told);
		FUZZ_EXPECT(told.len);
	} else {
		for (size_t i = 0; i < config.count; i++) {
			FUZZ_EXPECT(config.tests[i].smp >= 1 && config.tests[i].smp <= 64);
			FUZZ_EXPECT(config.tests[i].memory_mib >= 16);
			FUZZ_EXPECT(config.tests[i].timeout_s);
		}
		config_free(&config);
	}
	text_free(&told);
	mistakes_free(&m);
	return 0;
}
