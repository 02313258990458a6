// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes a run's directory and writes its files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "results_dir.h"

/* Runs that begin in the same second get a number; so many would be no accident. */
#define RUNS_PER_SECOND_MAX 1000

/* What to do about an errno that a write to the results met. */
static const char *advice(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return "free some space, or name a directory elsewhere with -o";
	default:
		return "name another directory with -o";
	}
}

static int failed(struct error *err, const char *path, const char *what)
{
	return error_set(err, "%s: %s: %s; %s", path, what, strerror(errno), advice(errno));
}

/* Every directory of the path; that it is there already is fine. */
static int make_dirs(const char *path, struct error *err)
{
	char *part = text_copy(path);
	struct stat st;
	int ret = 0;

	for (char *p = part + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		/* A failure here shows in the last mkdir() or stat() as well. */
		mkdir(part, 0777);
		*p = '/';
	}
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		ret = failed(err, path, "the directory cannot be made");
	else if (stat(path, &st) < 0)
		ret = failed(err, path, "the directory cannot be looked at");
	else if (!S_ISDIR(st.st_mode))
		ret = error_set(err, "%s: is not a directory; name another with -o", path);
	free(part);
	return ret;
}

static char *default_base(void)
{
	const char *base = getenv("KTT_RESULTS");
	const char *root = getenv("KTT_ROOT");

	if (base && *base)
		return text_copy(base);
	return root && *root ? text_format("%s/results", root) : text_copy("results");
}

/* Points "latest" to the run, in one step, so that a reader finds the old one or the new one. */
static int point_latest(const char *base, const char *name, struct error *err)
{
	char *latest = text_format("%s/latest", base);
	char *new = text_format("%s/.latest.%d", base, (int)getpid());
	int ret = 0;

	unlink(new);
	if (symlink(name, new) < 0) {
		ret = failed(err, new, "the link cannot be made");
	} else if (rename(new, latest) < 0) {
		ret = failed(err, latest, "the link cannot be replaced");
		unlink(new);
	}
	free(latest);
	free(new);
	return ret;
}

/* mkdir() is exclusive: of two runs in the same second one gets the next number. */
static int make_run_dir(const char *base, char **path, struct error *err)
{
	time_t now = time(NULL);
	char stamp[32];
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	for (int n = 1; n <= RUNS_PER_SECOND_MAX; n++) {
		free(*path);
		*path = n == 1 ? text_format("%s/%s", base, stamp)
			       : text_format("%s/%s-%d", base, stamp, n);
		if (!mkdir(*path, 0777))
			return point_latest(base, strrchr(*path, '/') + 1, err);
		if (errno != EEXIST)
			return failed(err, *path, "the directory cannot be made");
	}
	return error_set(err, "%s: there are %d runs of this second already", base,
			 RUNS_PER_SECOND_MAX);
}

static int lock(struct results_dir *d, struct error *err)
{
	d->lock_fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->lock_fd < 0)
		return failed(err, d->path, "the directory cannot be opened");
	if (flock(d->lock_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return error_set(err,
				 "%s: another run writes there; name another directory with -o",
				 d->path);
	/* A file system without locks: two runs into one directory stay the user's business. */
	return 0;
}

int results_dir_open(struct results_dir *d, const char *path, struct error *err)
{
	char *base;
	int ret;

	*d = (struct results_dir){ .lock_fd = -1 };
	if (path) {
		d->path = text_copy(path);
		ret = make_dirs(path, err);
	} else {
		base = default_base();
		ret = make_dirs(base, err);
		if (!ret)
			ret = make_run_dir(base, &d->path, err);
		free(base);
	}
	return ret ? ret : lock(d, err);
}

void results_dir_close(struct results_dir *d)
{
	if (d->lock_fd >= 0)
		close(d->lock_fd);
	free(d->path);
	*d = (struct results_dir){ .lock_fd = -1 };
}

/* 0, or -1 with errno set. */
static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t written = write(fd, data, len);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		data += written;
		len -= written;
	}
	return 0;
}

static int write_new(const char *path, const struct text *content)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	int ret, error;

	if (fd < 0)
		return -1;
	ret = write_all(fd, text_string(content), content->len);
	error = errno;
	/* Network file systems report a full disk as late as here. */
	if (close(fd) < 0 && !ret)
		return -1;
	errno = error;
	return ret;
}

int results_dir_write(const struct results_dir *d, const char *name, const struct text *content,
		      struct error *err)
{
	char *path = text_format("%s/%s", d->path, name);
	char *new = text_format("%s/.%s.new", d->path, name);
	int ret = 0;

	if (write_new(new, content) < 0 || rename(new, path) < 0) {
		ret = failed(err, path, "cannot be written");
		unlink(new);
	}
	free(path);
	free(new);
	return ret;
}

FILE *results_dir_open_file(const struct results_dir *d, const char *name, struct error *err)
{
	char *path = text_format("%s/%s", d->path, name);
	char *slash = strrchr(path, '/');
	FILE *file = NULL;
	int ret;

	*slash = '\0';
	ret = make_dirs(path, err);
	*slash = '/';
	if (!ret) {
		file = fopen(path, "we");
		if (!file)
			failed(err, path, "cannot be opened for writing");
	}
	free(path);
	return file;
}
