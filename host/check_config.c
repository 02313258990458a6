// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds images without a test and tests without an image: neither would ever be noticed by a run.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_config.h"
#include "util/text.h"

static const char *const image_dirs[ARCH_COUNT] = {
	[ARCH_X86_64] = "x86",
	[ARCH_ARM64] = "arm",
};

static int is_image(const struct dirent *d)
{
	return d->d_name[0] != '.' && text_ends_with(d->d_name, ".c");
}

static bool has_test(const struct config *config, enum arch arch, const char *image)
{
	for (size_t i = 0; i < config->count; i++) {
		if (config->tests[i].arch == arch && !strcmp(config->tests[i].image, image))
			return true;
	}
	return false;
}

static void check_image(const struct config *config, enum arch arch, const char *file,
			struct mistakes *m)
{
	char *image = text_copy_bytes(file, strlen(file) - strlen(".c"));

	if (!has_test(config, arch, image))
		mistake_add(m, config->path, 0,
			    "image %s/%s has no test for %s: add a section with image = %s",
			    image_dirs[arch], file, arch_to_name(arch), image);
	free(image);
}

static void check_test(const struct config *config, const struct test *test, const char *root,
		       struct mistakes *m)
{
	char *file = text_format("%s/%s/%s.c", root, image_dirs[test->arch], test->image);

	if (access(file, F_OK))
		mistake_add(m, config->path, test->line,
			    "test '%s' for %s has no image: there is no %s/%s.c", test->name,
			    arch_to_name(test->arch), image_dirs[test->arch], test->image);
	free(file);
}

static void check_arch(const struct config *config, enum arch arch, const char *root,
		       struct mistakes *m)
{
	char *dir = text_format("%s/%s", root, image_dirs[arch]);
	struct dirent **files;
	int count = scandir(dir, &files, is_image, alphasort);

	if (count < 0) {
		if (errno != ENOENT)
			mistake_add(m, dir, 0, "the directory of images cannot be read: %s",
				    strerror(errno));
		free(dir);
		return;
	}
	for (int i = 0; i < count; i++) {
		check_image(config, arch, files[i]->d_name, m);
		free(files[i]);
	}
	free(files);
	free(dir);
	for (size_t i = 0; i < config->count; i++) {
		if (config->tests[i].arch == arch)
			check_test(config, &config->tests[i], root, m);
	}
}

int check_config_read(const struct config *config, const char *root, struct mistakes *m)
{
	size_t mistakes_before = m->count;

	for (int arch = 0; arch < ARCH_COUNT; arch++)
		check_arch(config, arch, root, m);
	return m->count == mistakes_before ? 0 : -1;
}

int check_config(const struct config *config, const char *root)
{
	struct mistakes m = { 0 };
	int ret = check_config_read(config, root, &m);

	mistakes_tell(&m);
	mistakes_free(&m);
	return ret;
}
