// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a snapshot. It is built in a file without a name (open(2), O_TMPFILE), so that nothing is
 * left when the VMM dies over it, and named when it is whole. A path that is a symbolic link, such as
 * /proc/PID/fd/N, is somebody's who has made the file, and is written as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "kvm/fault_hooks.h"
#include "kvm/snapshot.h"
#include "kvm/snapshot_format.h"
#include "util/memory.h"

#define PAGE	    4096
#define BUFFER_SIZE 65536

struct writer {
	int fd;
	u8 buffer[BUFFER_SIZE];
	size_t len;
	u64 written; /* flushed, header not included */
	u64 checksum;
};

/* ---- bytes -------------------------------------------------------------------------------------- */

static int write_all(int fd, const void *data, size_t len, off_t at, struct error *err)
{
	const u8 *bytes = data;

	while (len) {
		ssize_t n = pwrite(fd, bytes, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_set(err, "%s", n < 0 ? strerror(errno) : "nothing is written");
		bytes += n;
		len -= n;
		at += n;
	}
	return 0;
}

static int write_through(struct writer *w, const void *data, size_t len, struct error *err)
{
	if (write_all(w->fd, data, len, sizeof(struct snapshot_header) + w->written, err))
		return -1;
	w->checksum = snapshot_checksum(w->checksum, data, len);
	w->written += len;
	return 0;
}

static int flush(struct writer *w, struct error *err)
{
	size_t len = w->len;

	w->len = 0;
	return write_through(w, w->buffer, len, err);
}

/* Small pieces; the buffer may hold what is no multiple of 8 only until the padding follows. */
static int put(struct writer *w, const void *data, size_t len, struct error *err)
{
	const u8 *bytes = data;

	while (len) {
		size_t n = MIN(len, BUFFER_SIZE - w->len);

		memcpy(w->buffer + w->len, bytes, n);
		w->len += n;
		bytes += n;
		len -= n;
		if (w->len == BUFFER_SIZE && flush(w, err))
			return -1;
	}
	return 0;
}

static int put_record(struct writer *w, const struct snapshot_record *r, const void *payload,
		      struct error *err)
{
	static const u8 zeroes[8];

	if (put(w, r, sizeof(*r), err) || put(w, payload, r->size, err))
		return -1;
	return put(w, zeroes, SNAPSHOT_PADDING(r->size), err);
}

/* ---- records ------------------------------------------------------------------------------------ */

static int put_machine(struct writer *w, const struct vm *vm, struct error *err)
{
	const struct machine_options *o = vm->options;
	struct snapshot_machine m = {
		.smp = vm->nr_vcpus,
		.maxcpus = vm->max_vcpus,
		.memory_mib = o->memory_mib,
		.flags = (o->el2 ? MACHINE_EL2 : 0) | (o->hv_time ? MACHINE_HV_TIME : 0) |
			 (o->hv_stimer ? MACHINE_HV_STIMER : 0) |
			 (o->no_bulk_console ? MACHINE_NO_BULK : 0),
	};
	struct snapshot_record machine = { .kind = RECORD_MACHINE, .size = sizeof(m) };
	struct snapshot_record image = { .kind = RECORD_IMAGE, .size = strlen(o->image) };
	struct snapshot_record append = { .kind = RECORD_APPEND, .size = strlen(o->append) };

	if (put_record(w, &machine, &m, err) || put_record(w, &image, o->image, err))
		return -1;
	return put_record(w, &append, o->append, err);
}

static int put_state(struct writer *w, struct vm *vm, struct error *err)
{
	struct state state = { 0 };
	int result = 0;

	if (state_save(vm, &state, err))
		return -1;
	fault_saved(vm, &state);
	for (size_t i = 0; i < state.nr_items && !result; i++) {
		const struct state_item *item = &state.items[i];
		struct snapshot_record r = { .kind = RECORD_STATE,
					     .vcpu = item->vcpu,
					     .size = item->size };

		memcpy(r.name, item->name, sizeof(r.name));
		result = put_record(w, &r, item->data, err);
	}
	state_free(&state);
	return result;
}

/* ---- memory ------------------------------------------------------------------------------------- */

/*
 * Which pages were ever touched, by /proc/self/pagemap (Documentation/admin-guide/mm/pagemap.rst):
 * looking at an untouched page costs a page fault. NULL: not known, every page is to be looked at.
 */
static u64 *read_pagemap(const struct memory_region *r)
{
	size_t size = r->size / PAGE * sizeof(u64);
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	u64 *map;
	ssize_t n;

	if (fd < 0)
		return NULL;
	map = memory_zalloc(size);
	n = pread(fd, map, size, (uintptr_t)r->host / PAGE * sizeof(u64));
	close(fd);
	if (n == (ssize_t)size)
		return map;
	free(map);
	return NULL;
}

#define PAGEMAP_PRESENT BIT(63)
#define PAGEMAP_SWAPPED BIT(62)

static bool is_zero(const u8 *page)
{
	const u64 *words = (const u64 *)page;

	for (size_t i = 0; i < PAGE / 8; i += 8) {
		if (words[i] | words[i + 1] | words[i + 2] | words[i + 3] | words[i + 4] |
		    words[i + 5] | words[i + 6] | words[i + 7])
			return false;
	}
	return true;
}

static bool has_content(const struct memory_region *r, const u64 *pagemap, u64 offset)
{
	if (pagemap && !(pagemap[offset / PAGE] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)))
		return false;
	return !is_zero(r->host + offset);
}

static int put_run(struct writer *w, const struct memory_region *region, u64 offset, u64 size,
		   struct error *err)
{
	struct snapshot_record r = { .kind = RECORD_MEMORY,
				     .address = region->base + offset,
				     .size = size };

	if (put(w, &r, sizeof(r), err) || flush(w, err))
		return -1;
	return write_through(w, region->host + offset, size, err);
}

static int put_region(struct writer *w, const struct memory_region *r, struct error *err)
{
	u64 *pagemap = read_pagemap(r);
	int result = 0;

	for (u64 offset = 0; offset < r->size && !result; offset += PAGE) {
		u64 start = offset;

		while (offset < r->size && has_content(r, pagemap, offset))
			offset += PAGE;
		if (offset > start)
			result = put_run(w, r, start, offset - start, err);
	}
	free(pagemap);
	return result;
}

/* ---- the file ----------------------------------------------------------------------------------- */

static int put_all(struct writer *w, struct vm *vm, struct error *err)
{
	struct snapshot_record end = { .kind = RECORD_END };
	struct snapshot_header header = {
		.magic = SNAPSHOT_MAGIC,
		.version = SNAPSHOT_VERSION,
		.arch = SNAPSHOT_ARCH,
	};

	if (put_machine(w, vm, err) || put_state(w, vm, err))
		return -1;
	for (size_t i = 0; i < vm->nr_regions; i++) {
		if (put_region(w, &vm->regions[i], err))
			return -1;
	}
	if (put_record(w, &end, NULL, err) || flush(w, err))
		return -1;
	header.file_size = sizeof(header) + w->written;
	header.checksum = w->checksum;
	return write_all(w->fd, &header, sizeof(header), 0, err);
}

/* A name beside path for the moment between linking and renaming. Malloced. */
static char *name_beside(const char *path)
{
	return text_format("%s.%d.tmp", path, (int)getpid());
}

static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

static int open_existing(const char *path, struct error *err)
{
	int fd = open(path, O_RDWR | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		error_set(err, "%s: %s", path, strerror(errno));
	return fd;
}

/* *beside: the file's name so far, or NULL where it has none. */
static int open_new(const char *path, char **beside, struct error *err)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? text_copy_bytes(path, slash + 1 - path) : text_copy(".");
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	free(dir);
	*beside = NULL;
	if (fd >= 0)
		return fd;
	/* Not every file system can. */
	*beside = name_beside(path);
	fd = open(*beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	error_set(err, "%s: %s", path, strerror(errno));
	free(*beside);
	*beside = NULL;
	return -1;
}

static int give_name(int fd, char **beside, const char *path, struct error *err)
{
	char self[64];

	if (!*beside) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
		if (linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		*beside = name_beside(path);
		if (errno != EEXIST ||
		    linkat(AT_FDCWD, self, AT_FDCWD, *beside, AT_SYMLINK_FOLLOW) < 0)
			return error_set(err, "%s: %s", path, strerror(errno));
	}
	if (rename(*beside, path) < 0)
		return error_set(err, "%s: %s", path, strerror(errno));
	free(*beside);
	*beside = NULL;
	return 0;
}

int snapshot_save(struct vm *vm, const char *path, struct error *err)
{
	bool exists = is_link(path);
	struct writer *w;
	char *beside = NULL;
	int fd, result;

	if (arch_check_restorable(vm, err))
		return -1;
	fd = exists ? open_existing(path, err) : open_new(path, &beside, err);
	if (fd < 0)
		return -1;
	w = memory_zalloc(sizeof(*w));
	w->fd = fd;
	w->checksum = SNAPSHOT_CHECKSUM_START;
	result = put_all(w, vm, err);
	if (result)
		error_prefix(err, "%s", path);
	else if (!exists)
		result = give_name(fd, &beside, path, err);
	if (beside)
		unlink(beside);
	free(beside);
	close(fd);
	free(w);
	return result;
}
