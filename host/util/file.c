// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whole files, read and written.
 */
#include "util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_all(int fd, const char *path, size_t max, struct text *out, struct error *err)
{
	char buffer[65536];
	size_t before = out->len;
	ssize_t n;

	while ((n = read(fd, buffer, sizeof(buffer))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			error_set(err, "%s: %s", path, strerror(errno));
			break;
		}
		if (out->len - before + n > max) {
			n = error_set(err, "%s: longer than %zu bytes", path, max);
			break;
		}
		text_append_bytes(out, buffer, n);
	}
	if (n < 0 && out->data) {
		out->len = before;
		out->data[before] = '\0';
	}
	return n < 0 ? -1 : 0;
}

int file_read(const char *path, size_t max, struct text *out, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int result;

	if (fd < 0)
		return error_set(err, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		result = error_set(err, "%s: a directory where a file is wanted", path);
	else
		result = read_all(fd, path, max, out, err);
	close(fd);
	return result;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		len -= n;
	}
	return 0;
}

int file_write(const char *path, const void *data, size_t len, struct error *err)
{
	char *temporary = text_format("%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC);
	int status;

	if (fd < 0) {
		error_set(err, "%s: %s", path, strerror(errno));
		free(temporary);
		return -1;
	}
	status = write_all(fd, data, len) || fchmod(fd, 0644);
	status |= close(fd);
	status = status || rename(temporary, path);
	if (status) {
		error_set(err, "%s: %s", path, strerror(errno));
		unlink(temporary);
	}
	free(temporary);
	return status ? -1 : 0;
}
