// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which kernel --kernel means, and whether the file is one.
 */
#include "kernel_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fetch.h"
#include "util/memory.h"
#include "util/text.h"

/* Enough for every header that is looked at, and for the version string of most bzImages. */
#define HEAD_SIZE 65536

/* Documentation/arch/x86/boot.rst: the setup header's magic, and where the version string is. */
#define BZIMAGE_MAGIC_AT   0x202
#define BZIMAGE_VERSION_AT 0x20e
#define BZIMAGE_SECTOR	   0x200
/* Documentation/arch/arm64/booting.rst: the Image header's magic. */
#define IMAGE_MAGIC_AT 56
/* drivers/firmware/efi/libstub/zboot-header.S: a compressed EFI kernel; its target at 24. */
#define ZBOOT_MAGIC_AT 4

static size_t read_head(const char *path, char *head, struct error *err)
{
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f) {
		error_set(err, "kernel %s: %s", path, strerror(errno));
		return 0;
	}
	n = fread(head, 1, HEAD_SIZE, f);
	fclose(f);
	if (n < 4096) {
		error_set(err, "kernel %s: %zu bytes are too few for a kernel image", path, n);
		return 0;
	}
	return n;
}

static bool sniff(const char *path, enum arch *arch, char **version, struct error *err)
{
	char *head = memory_zalloc(HEAD_SIZE + 1);
	size_t n = read_head(path, head, err);
	bool known = true;

	if (n == 0) {
		known = false;
	} else if (memcmp(head + BZIMAGE_MAGIC_AT, "HdrS", 4) == 0) {
		u16 at;

		memcpy(&at, head + BZIMAGE_VERSION_AT, sizeof(at));
		*arch = ARCH_X86_64;
		if (version && at && at + BZIMAGE_SECTOR < n)
			*version = text_copy_bytes(head + at + BZIMAGE_SECTOR,
						   strcspn(head + at + BZIMAGE_SECTOR, " "));
	} else if (memcmp(head + IMAGE_MAGIC_AT, "ARM\x64", 4) == 0 ||
		   memcmp(head + ZBOOT_MAGIC_AT, "zimg", 4) == 0 ||
		   memcmp(head, "\x1f\x8b", 2) == 0) {
		/* QEMU takes an Image as it is, compressed by gzip or wrapped for EFI. */
		*arch = ARCH_ARM64;
	} else {
		error_set(err,
			  "kernel %s: neither a bzImage (x86_64) nor an Image (arm64); "
			  "give a bzImage, vmlinuz or Image, or a kernel build tree",
			  path);
		known = false;
	}
	free(head);
	return known;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The built image of a kernel build tree. */
static char *tree_image(const char *tree, struct error *err)
{
	static const char *const names[] = { "arch/x86/boot/bzImage", "arch/arm64/boot/Image",
					     "arch/arm64/boot/vmlinuz.efi" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *path = text_format("%s/%s", tree, names[i]);

		if (access(path, R_OK) == 0)
			return path;
		free(path);
	}
	error_set(err, "%s: no built kernel in this tree (looked for %s, %s): run make there first",
		  tree, names[0], names[1]);
	return NULL;
}

static bool is_distribution(const char *what)
{
	return text_starts_with(what, FETCH_PREFIX);
}

bool kernel_image_arch(const char *what, enum arch *arch, struct error *err)
{
	char *path;
	bool known;

	err->text[0] = '\0';
	if (is_distribution(what))
		return false;
	path = is_directory(what) ? tree_image(what, err) : text_copy(what);
	known = path && sniff(path, arch, NULL, err);
	free(path);
	return known;
}

static int fetch_kernel(const char *what, struct kernel_image *image, const char *root,
			struct error *err)
{
	const char *words[] = { "kernel", what + strlen(FETCH_PREFIX), arch_to_name(image->arch),
				NULL };
	char **lines = fetch(root, words, err);

	if (!lines)
		return -1;
	image->path = fetch_value(lines, "kernel");
	image->modules_dir = fetch_value(lines, "modules");
	image->version = fetch_value(lines, "version");
	words_free(lines);
	if (!image->path)
		return error_set(err, "kernel %s: scripts/fetch.sh named no file", what);
	return 0;
}

static int find_file(const char *what, struct kernel_image *image, struct error *err)
{
	enum arch arch;

	if (is_directory(what)) {
		image->path = tree_image(what, err);
		image->modules_dir = text_copy(what);
	} else {
		image->path = text_copy(what);
	}
	if (!image->path || !sniff(image->path, &arch, &image->version, err))
		return -1;
	if (arch != image->arch)
		return error_set(err, "kernel %s is for %s, not %s", image->path,
				 arch_to_name(arch), arch_to_name(image->arch));
	return 0;
}

int kernel_image_find(const char *what, enum arch arch, const char *modules_dir, const char *root,
		      struct kernel_image *image, struct error *err)
{
	int status;

	*image = (struct kernel_image){ .arch = arch, .name = text_copy(what) };
	if (is_distribution(what))
		status = fetch_kernel(what, image, root, err);
	else
		status = find_file(what, image, err);
	if (status < 0) {
		kernel_image_free(image);
		return -1;
	}
	if (modules_dir) {
		free(image->modules_dir);
		image->modules_dir = text_copy(modules_dir);
		if (!is_directory(modules_dir)) {
			kernel_image_free(image);
			return error_set(err, "--modules %s: no such directory", modules_dir);
		}
	}
	return 0;
}

void kernel_image_free(struct kernel_image *image)
{
	free(image->name);
	free(image->path);
	free(image->modules_dir);
	free(image->version);
	*image = (struct kernel_image){ 0 };
}
