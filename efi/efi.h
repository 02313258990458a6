/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the loader uses of UEFI (UEFI Specification 2.10, the chapters named below), and what its
 * parts use of one another. Everything here runs before ExitBootServices().
 */
#ifndef EFI_H
#define EFI_H

#include "types.h"

#ifdef __x86_64__
#define EFIAPI __attribute__((ms_abi))
#else
#define EFIAPI
#endif

typedef u64 efi_status;
typedef u16 efi_char;

#define EFI_ERROR_BIT	     (1ULL << 63)
#define EFI_LOAD_ERROR	     (EFI_ERROR_BIT | 1)
#define EFI_INVALID	     (EFI_ERROR_BIT | 2)
#define EFI_PAGE_SIZE	     4096
#define EFI_BUFFER_TOO_SMALL (EFI_ERROR_BIT | 5)

struct efi_guid {
	u32 a;
	u16 b, c;
	u8 d[8];
};

/* 7.2, "Memory Allocation Services". */
enum efi_allocate_type {
	EFI_ALLOCATE_ANY,
	EFI_ALLOCATE_BELOW, /* at most at the address */
	EFI_ALLOCATE_AT,
};

enum efi_memory_type {
	EFI_LOADER_CODE = 1,
	EFI_LOADER_DATA = 2,
	EFI_CONVENTIONAL = 7,
};

struct efi_memory_descriptor {
	u32 type;
	u32 pad;
	u64 physical;
	u64 virtual;
	u64 pages;
	u64 attributes;
};

/* 4.4, EFI_BOOT_SERVICES; unused entries have no type. */
struct efi_boot_services {
	u8 header[24];
	void *raise_tpl, *restore_tpl;
	efi_status(EFIAPI *allocate_pages)(u32 type, u32 memory, u64 pages, u64 *address);
	void *free_pages;
	efi_status(EFIAPI *get_memory_map)(u64 *size, void *map, u64 *key, u64 *descriptor_size,
					   u32 *version);
	void *pool[2], *events[6], *install[3];
	efi_status(EFIAPI *handle_protocol)(void *handle, const struct efi_guid *guid,
					    void **interface);
	void *handles[9];
	efi_status(EFIAPI *exit_boot_services)(void *image, u64 key);
};

/* 12.4, EFI_SIMPLE_TEXT_OUTPUT_PROTOCOL. */
struct efi_text_output {
	void *reset;
	efi_status(EFIAPI *output_string)(struct efi_text_output *self, const efi_char *text);
};

struct efi_table_entry {
	struct efi_guid guid;
	void *table;
};

/* 4.3, EFI_SYSTEM_TABLE. */
struct efi_system_table {
	u8 header[24];
	efi_char *vendor;
	u32 revision;
	u32 pad;
	void *input_handle, *input;
	void *output_handle;
	struct efi_text_output *output;
	void *error_handle, *error;
	void *runtime;
	struct efi_boot_services *boot;
	u64 nr_tables;
	struct efi_table_entry *tables;
};

/* 9.1, EFI_LOADED_IMAGE_PROTOCOL. */
struct efi_loaded_image {
	u32 revision;
	void *parent, *system, *device, *path, *reserved;
	u32 options_size; /* bytes */
	const void *options;
};

#define ARGS_MAX 1023 /* of the image: lib/args.h */

struct loader {
	void *handle;
	struct efi_system_table *system;
	struct efi_boot_services *boot;
	char args[ARGS_MAX + 1]; /* the image's command line */
};

/* What other files define is reached without the GOT, which loader.c has to relocate first. */
#pragma GCC visibility push(hidden)

/* payload.S: the image as it was built, and the arguments that it is given always. */
extern const u8 payload[], payload_end[];
extern const char payload_args[];

/* To the firmware's console. */
void loader_say(const struct loader *l, const char *text);

/* The table of that GUID, or NULL. */
void *loader_find_table(const struct loader *l, const struct efi_guid *guid);

/* The same as the boot service; 0 where it cannot be had. */
u64 loader_allocate(const struct loader *l, enum efi_allocate_type type,
		    enum efi_memory_type memory, u64 size, u64 address);

/*
 * The largest free range between two addresses, aligned to 2 MiB and no larger than max; what is
 * there is the caller's then. false where none of at least min bytes is.
 */
bool loader_take_range(const struct loader *l, u64 from, u64 to, u64 min, u64 max, u64 *base,
		       u64 *size);

/* Ends the firmware. false where it does not let go. No call of it afterwards. */
bool loader_exit_boot_services(const struct loader *l);

/* The architecture's part: puts the image into memory and starts it. Returns where it cannot. */
void arch_start_image(struct loader *l);

#pragma GCC visibility pop

#endif
