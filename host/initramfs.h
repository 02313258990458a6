/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes an initramfs: a cpio archive in the "newc" format, as the Linux kernel unpacks it at boot
 * (Documentation/driver-api/early-userspace/buffer-format.rst). Needs no root, not even for device
 * nodes, and no other program. The same entries give the same bytes, in whatever order they were
 * added.
 */
#ifndef HOST_INITRAMFS_H
#define HOST_INITRAMFS_H

#include "types.h"
#include "util/error.h"
#include "util/text.h"

struct initramfs;

struct initramfs *initramfs_new(void);
void initramfs_free(struct initramfs *fs);

/*
 * Each adds one entry. path is the one in the booted system, absolute and without "." and ".."
 * ("/init"); the directories above it come by themselves, with mode 0755. mode has the permission
 * bits only. -1 with err set where the path is bad or taken.
 */
int initramfs_add_directory(struct initramfs *fs, const char *path, u32 mode, struct error *err);
int initramfs_add_data(struct initramfs *fs, const char *path, u32 mode, const void *data,
		       size_t size, struct error *err);
int initramfs_add_symlink(struct initramfs *fs, const char *path, const char *target,
			  struct error *err);
int initramfs_add_char_device(struct initramfs *fs, const char *path, u32 mode, u32 major,
			      u32 minor, struct error *err);

/* The content of a file that is there now; -1 as well where it cannot be read. */
int initramfs_add_file(struct initramfs *fs, const char *path, u32 mode, const char *source,
		       struct error *err);
/* The same for an executable or an image: without its symbols and debug information, if it is ELF. */
int initramfs_add_program(struct initramfs *fs, const char *path, u32 mode, const char *source,
			  struct error *err);

/* /dev/console, /dev/null and /dev/kvm: what PID 1 needs before anything is mounted. */
int initramfs_add_basic_devices(struct initramfs *fs, struct error *err);

/* Appends the archive to out. */
void initramfs_archive(struct initramfs *fs, struct text *out);
/* Writes it as a file, whole or not at all; *size (may be NULL) is its length. */
int initramfs_write(struct initramfs *fs, const char *path, size_t *size, struct error *err);

#endif
