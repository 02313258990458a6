// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads a whole file.
 */
#include "kvm/image_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "util/memory.h"

static int read_all(struct image_file *f, int fd, struct error *err)
{
	size_t done = 0;

	while (done < f->size) {
		ssize_t n = read(fd, f->data + done, f->size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_set(err, "%s: %s", f->path,
					 n < 0 ? strerror(errno) : "it shrank while it was read");
		done += n;
	}
	return 0;
}

int image_file_read(struct image_file *f, const char *path, u64 max, struct error *err)
{
	/* O_NONBLOCK: a FIFO is refused below instead of waited for. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int result;

	*f = (struct image_file){ .path = path };
	if (fd < 0)
		return error_set(err, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (u64)st.st_size > max) {
		close(fd);
		return error_set(err, "%s: no regular file of at most %llu MiB", path,
				 (unsigned long long)(max >> 20));
	}
	f->size = st.st_size;
	f->data = memory_zalloc(f->size ? f->size : 1);
	result = read_all(f, fd, err);
	close(fd);
	if (result)
		image_file_free(f);
	return result;
}

void image_file_free(struct image_file *f)
{
	free(f->data);
	f->data = NULL;
	f->size = 0;
}

const void *image_file_at(const struct image_file *f, u64 offset, u64 len)
{
	if (offset > f->size || len > f->size - offset)
		return NULL;
	return f->data + offset;
}
