/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzz targets share. A target is one file here, with libFuzzer's entry point: it hands the
 * bytes to one reader as that reader gets them in real life. scripts/fuzz.sh runs the targets under
 * libFuzzer; the unit tests replay seeds/NAME/ through them (replay.c).
 *
 * Functions, static inline, so that a target is one file and what it tests.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* libFuzzer's (LLVM's docs/LibFuzzer.rst). Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold whatever the bytes are. */
#define FUZZ_EXPECT(condition)                                                                  \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                \
		}                                                                               \
	} while (0)

/* A path at which the bytes can be read as a regular file, until the next call. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd >= 0)
		close(fd);
	fd = memfd_create("input", MFD_CLOEXEC);
	FUZZ_EXPECT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

#endif
