// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files without a name.
 */
#include "state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "util/memory.h"
#include "util/text.h"

struct state_file {
	int fd;
	char *path;
};

static const char *directory(void)
{
	const char *dir = getenv("TMPDIR");

	if (dir && *dir)
		return dir;
	return access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
}

struct state_file *state_file_new(struct error *err)
{
	char *name = text_format("%s/kvm-time-tests-XXXXXX", directory());
	int fd = mkostemp(name, O_CLOEXEC);
	struct state_file *f;

	if (fd < 0) {
		error_set(err, "no file for the guest's state: %s: %s (TMPDIR says where)", name,
			  strerror(errno));
		free(name);
		return NULL;
	}
	unlink(name);
	free(name);
	f = memory_zalloc(sizeof(*f));
	f->fd = fd;
	f->path = text_format("/proc/%d/fd/%d", (int)getpid(), fd);
	return f;
}

const char *state_file_path(const struct state_file *f)
{
	return f->path;
}

void state_file_free(struct state_file *f)
{
	if (!f)
		return;
	close(f->fd);
	free(f->path);
	free(f);
}
