// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A snapshot's records. The header, with the right checksum and size, is put before the bytes here:
 * a fuzzer would not guess it. The bytes as they are have their turn too.
 */
#include "fuzz.h"

#include "kvm/snapshot.h"
#include "kvm/snapshot_format.h"

static void parse(const void *data, size_t size)
{
	struct machine_options options = { 0 };
	struct error err = { 0 };
	struct snapshot *s = snapshot_parse("input", data, size, &options, &err);

	FUZZ_EXPECT(s || err.text[0]);
	if (s) {
		FUZZ_EXPECT(options.image && options.append);
		FUZZ_EXPECT(options.smp && options.smp <= VCPUS_MAX);
	}
	snapshot_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot_header h = {
		.magic = SNAPSHOT_MAGIC,
		.version = SNAPSHOT_VERSION,
		.arch = SNAPSHOT_ARCH,
	};
	size_t whole = sizeof(h) + (size & ~(size_t)7);
	u8 *file = malloc(whole);

	parse(data, size);
	memcpy(file + sizeof(h), data, whole - sizeof(h));
	h.file_size = whole;
	h.checksum =
		snapshot_checksum(SNAPSHOT_CHECKSUM_START, file + sizeof(h), whole - sizeof(h));
	memcpy(file, &h, sizeof(h));
	parse(file, whole);
	free(file);
	return 0;
}
