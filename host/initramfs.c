// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes an initramfs. Entries are kept in memory and sorted by path, so that directories come
 * before what is in them and the bytes do not depend on the order of adding; times are 0 and inode
 * numbers count from 1.
 */
#include "initramfs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "elf_strip.h"
#include "util/file.h"
#include "util/memory.h"

/* The format's size field has 8 hexadecimal digits. */
#define MAX_CONTENT 0xffffffffu

struct entry {
	char *path; /* as the archive has it: without the leading slash */
	u32 mode;   /* type and permissions */
	u32 major;  /* of a device */
	u32 minor;
	bool implied; /* a directory that was made for what is in it */
	struct text content;
};

struct initramfs {
	struct entry *entries;
	size_t count;
	size_t capacity;
};

struct initramfs *initramfs_new(void)
{
	return memory_zalloc(sizeof(struct initramfs));
}

void initramfs_free(struct initramfs *fs)
{
	if (!fs)
		return;
	for (size_t i = 0; i < fs->count; i++) {
		free(fs->entries[i].path);
		text_free(&fs->entries[i].content);
	}
	free(fs->entries);
	free(fs);
}

static struct entry *find(struct initramfs *fs, const char *path, size_t len)
{
	for (size_t i = 0; i < fs->count; i++) {
		if (strlen(fs->entries[i].path) == len &&
		    memcmp(fs->entries[i].path, path, len) == 0)
			return &fs->entries[i];
	}
	return NULL;
}

static struct entry *append(struct initramfs *fs, const char *path, size_t len, u32 mode)
{
	struct entry *e;

	if (fs->count == fs->capacity) {
		fs->capacity = fs->capacity ? 2 * fs->capacity : 64;
		fs->entries = memory_resize(fs->entries, fs->capacity, sizeof(*fs->entries));
	}
	e = &fs->entries[fs->count++];
	*e = (struct entry){ .path = text_copy_bytes(path, len), .mode = mode };
	return e;
}

static int check_path(const char *path, struct error *err)
{
	if (path[0] != '/' || !path[1])
		return error_set(err, "initramfs: '%s' is no absolute path of a file", path);
	/* init/initramfs.c skips what is longer. */
	if (strlen(path) >= PATH_MAX)
		return error_set(err, "initramfs: a path of %zu bytes is too long", strlen(path));
	for (const char *part = path; *part; part += strcspn(part, "/")) {
		size_t len = strcspn(++part, "/");

		if (len == 0 || (len == 1 && part[0] == '.') ||
		    (len == 2 && part[0] == '.' && part[1] == '.'))
			return error_set(err, "initramfs: '%s' has an empty part, a '.' or a '..'",
					 path);
	}
	return 0;
}

static int add_parents(struct initramfs *fs, const char *path, struct error *err)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		struct entry *e = find(fs, path, slash - path);

		if (!e)
			append(fs, path, slash - path, S_IFDIR | 0755)->implied = true;
		else if (!S_ISDIR(e->mode))
			return error_set(err, "initramfs: /%s: /%s is no directory", path, e->path);
	}
	return 0;
}

/* A new entry whose content is empty. NULL with err set. */
static struct entry *add(struct initramfs *fs, const char *path, u32 type, u32 mode,
			 struct error *err)
{
	struct entry *e;

	if (check_path(path, err) < 0 || add_parents(fs, path + 1, err) < 0)
		return NULL;
	e = find(fs, path + 1, strlen(path + 1));
	if (e && e->implied && type == S_IFDIR) {
		e->implied = false;
		e->mode = type | (mode & 07777);
		return e;
	}
	if (e) {
		error_set(err, "initramfs: %s is there twice", path);
		return NULL;
	}
	return append(fs, path + 1, strlen(path + 1), type | (mode & 07777));
}

int initramfs_add_directory(struct initramfs *fs, const char *path, u32 mode, struct error *err)
{
	return add(fs, path, S_IFDIR, mode, err) ? 0 : -1;
}

int initramfs_add_data(struct initramfs *fs, const char *path, u32 mode, const void *data,
		       size_t size, struct error *err)
{
	struct entry *e;

	if (size > MAX_CONTENT)
		return error_set(err, "initramfs: %s: a file cannot have 4 GiB or more", path);
	e = add(fs, path, S_IFREG, mode, err);
	if (!e)
		return -1;
	text_append_bytes(&e->content, data, size);
	return 0;
}

int initramfs_add_symlink(struct initramfs *fs, const char *path, const char *target,
			  struct error *err)
{
	struct entry *e = add(fs, path, S_IFLNK, 0777, err);

	if (!e)
		return -1;
	text_append(&e->content, target);
	return 0;
}

int initramfs_add_char_device(struct initramfs *fs, const char *path, u32 mode, u32 major,
			      u32 minor, struct error *err)
{
	struct entry *e = add(fs, path, S_IFCHR, mode, err);

	if (!e)
		return -1;
	e->major = major;
	e->minor = minor;
	return 0;
}

static int add_content(struct initramfs *fs, const char *path, u32 mode, const char *source,
		       bool strip, struct error *err)
{
	struct text content = { 0 };
	struct entry *e;

	if (file_read(source, MAX_CONTENT, &content, err) < 0)
		return error_prefix(err, "initramfs: %s", path);
	e = add(fs, path, S_IFREG, mode, err);
	if (!e) {
		text_free(&content);
		return -1;
	}
	e->content = content;
	if (strip)
		elf_strip_program(&e->content);
	return 0;
}

int initramfs_add_file(struct initramfs *fs, const char *path, u32 mode, const char *source,
		       struct error *err)
{
	return add_content(fs, path, mode, source, false, err);
}

int initramfs_add_program(struct initramfs *fs, const char *path, u32 mode, const char *source,
			  struct error *err)
{
	return add_content(fs, path, mode, source, true, err);
}

int initramfs_add_basic_devices(struct initramfs *fs, struct error *err)
{
	/* Documentation/admin-guide/devices.txt; KVM_MINOR in include/linux/miscdevice.h. */
	static const struct {
		const char *path;
		u32 mode, major, minor;
	} devices[] = {
		{ "/dev/console", 0600, 5, 1 },
		{ "/dev/null", 0666, 1, 3 },
		{ "/dev/kvm", 0600, 10, 232 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		if (initramfs_add_char_device(fs, devices[i].path, devices[i].mode,
					      devices[i].major, devices[i].minor, err) < 0)
			return -1;
	}
	return 0;
}

/* The header and the name, then the content, end on multiples of 4 from the archive's start. */
static void pad(struct text *out, size_t start, size_t multiple)
{
	static const char zeros[512];
	size_t rest = (out->len - start) % multiple;

	if (rest)
		text_append_bytes(out, zeros, multiple - rest);
}

static void put(struct text *out, size_t start, const struct entry *e, size_t inode)
{
	size_t name_size = strlen(e->path) + 1;

	text_append(out, "070701");
	text_printf(out, "%08zx%08x", inode, e->mode);
	text_printf(out, "%08x%08x", 0, 0); /* owner, group */
	/* Above 1, a file of the same inode number would be a hard link (init/initramfs.c). */
	text_printf(out, "%08x", S_ISDIR(e->mode) ? 2 : 1);
	text_printf(out, "%08x", 0); /* time */
	text_printf(out, "%08zx", e->content.len);
	text_printf(out, "%08x%08x", 0, 0); /* the device that it is on */
	text_printf(out, "%08x%08x", e->major, e->minor);
	text_printf(out, "%08zx", name_size);
	text_printf(out, "%08x", 0); /* checksum: not in this variant */
	text_append_bytes(out, e->path, name_size);
	pad(out, start, 4);
	text_append_bytes(out, e->content.data, e->content.len);
	pad(out, start, 4);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

void initramfs_archive(struct initramfs *fs, struct text *out)
{
	static char trailer_name[] = "TRAILER!!!";
	static const struct entry trailer = { .path = trailer_name };
	size_t start = out->len;

	qsort(fs->entries, fs->count, sizeof(*fs->entries), by_path);
	for (size_t i = 0; i < fs->count; i++)
		put(out, start, &fs->entries[i], i + 1);
	put(out, start, &trailer, 0);
	/* The block size of other writers; the kernel skips zeros between archives. */
	pad(out, start, 512);
}

int initramfs_write(struct initramfs *fs, const char *path, size_t *size, struct error *err)
{
	struct text out = { 0 };
	int status;

	initramfs_archive(fs, &out);
	if (size)
		*size = out.len;
	status = file_write(path, out.data, out.len, err);
	text_free(&out);
	return status;
}
