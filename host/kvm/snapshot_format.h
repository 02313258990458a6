/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of a snapshot file: a header, then records, each with its payload padded by zeroes to 8
 * bytes, the last one of kind RECORD_END. Numbers are little-endian, as both architectures are.
 */
#ifndef KVM_SNAPSHOT_FORMAT_H
#define KVM_SNAPSHOT_FORMAT_H

#include "kvm/state.h"
#include "types.h"

#define SNAPSHOT_MAGIC	 "KTTSNAP"
#define SNAPSHOT_VERSION 2

enum snapshot_arch {
	SNAPSHOT_X86_64 = 1,
	SNAPSHOT_ARM64 = 2,
};

#if defined(__x86_64__)
#define SNAPSHOT_ARCH SNAPSHOT_X86_64
#else
#define SNAPSHOT_ARCH SNAPSHOT_ARM64
#endif

struct snapshot_header {
	char magic[8];
	u32 version;
	u32 arch;
	u64 file_size;
	u64 checksum; /* snapshot_checksum() of all that follows the header */
};

enum record_kind {
	RECORD_MACHINE = 1, /* struct snapshot_machine; the first record */
	RECORD_IMAGE,	    /* the image's path, without a NUL: for a reset */
	RECORD_APPEND,	    /* its command line, without a NUL */
	RECORD_STATE,	    /* one item of state.h: name, vcpu */
	RECORD_MEMORY,	    /* memory at address */
	RECORD_END,
};

struct snapshot_record {
	u32 kind;
	u32 vcpu;
	u64 address;
	u64 size; /* of the payload, without padding */
	char name[STATE_NAME_MAX + 1];
};

struct snapshot_machine {
	u32 smp;
	u32 memory_mib;
	u32 flags;
	u32 maxcpus;
};

#define MACHINE_EL2	    BIT(0)
#define MACHINE_HV_TIME	    BIT(1)
#define MACHINE_HV_STIMER   BIT(2)
#define MACHINE_NO_BULK	    BIT(3)
#define MACHINE_FLAGS_KNOWN 0xf

#define SNAPSHOT_PADDING(size) (-(size)&7)

/* A start value, to be carried from one call to the next. */
#define SNAPSHOT_CHECKSUM_START 0x6b76746d74657374ULL

/*
 * size is a multiple of 8. One step maps the sum one to one for every word and differs for every two
 * words, so that no single word can change unnoticed.
 */
static inline u64 snapshot_checksum(u64 sum, const void *data, size_t size)
{
	const u8 *at = data;

	for (; size >= 8; size -= 8, at += 8) {
		u64 word;

		__builtin_memcpy(&word, at, 8);
		sum = (sum ^ word) * 0x9e3779b97f4a7c15ULL;
		sum ^= sum >> 32;
	}
	return sum;
}

#endif
