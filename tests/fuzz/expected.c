// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file of expected/, and its conditions against a host.
 */
#include "fuzz.h"

#include "expected.h"

static char dir[] = "/tmp/fuzz-expected.XXXXXX";
static char path[sizeof(dir) + 16];

static void remove_dir(void)
{
	unlink(path);
	rmdir(dir);
}

static void write_file(const uint8_t *data, size_t size)
{
	FILE *f;

	if (!path[0]) {
		FUZZ_EXPECT(mkdtemp(dir));
		snprintf(path, sizeof(path), "%s/x.cfg", dir);
		atexit(remove_dir);
	}
	f = fopen(path, "we");
	FUZZ_EXPECT(f && fwrite(data, 1, size, f) == size && !fclose(f));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct circumstances c = {
		.arch = ARCH_X86_64,
		.vmm = "qemu",
		.accel = ACCEL_KVM,
		.kernel = "6.12.4-amd64",
		.qemu_version = "7.2.22",
		.modules_dir = "/nonexistent",
	};
	struct mistakes m = { 0 };
	struct expectations e;

	write_file(data, size);
	if (expected_read(dir, &e, &m)) {
		FUZZ_EXPECT(m.count);
	} else {
		struct expectation *found = expected_find(&e, "counter", "cross-cpu/4", &c);

		FUZZ_EXPECT(!found || found->reason);
		expected_find(&e, "counter", NULL, &c);
		expected_free(&e);
	}
	mistakes_free(&m);
	return 0;
}
