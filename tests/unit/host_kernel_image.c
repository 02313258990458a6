// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What --kernel may name: images of both architectures by their headers, build trees, and what is
 * no kernel.
 */
#include "host_support.h"

#include "kernel_image.h"

#define FILE_SIZE 8192

static void write_bzimage(const char *path, const char *version)
{
	char data[FILE_SIZE] = { 0 };
	unsigned short at = 0x300;

	memcpy(data + 0x202, "HdrS", 4);
	if (version) {
		memcpy(data + 0x20e, &at, sizeof(at));
		strcpy(data + 0x200 + at, version);
	}
	write_bytes(path, data, sizeof(data));
}

static void write_arm64_image(const char *path)
{
	char data[FILE_SIZE] = { 0 };

	memcpy(data + 56, "ARM\x64", 4);
	write_bytes(path, data, sizeof(data));
}

static void find(const char *what, enum arch arch, struct kernel_image *image)
{
	struct error err;

	if (kernel_image_find(what, arch, NULL, ".", image, &err))
		fail_msg("%s: %s", what, err.text);
}

static void expect_refused(const char *what, enum arch arch, const char *modules, const char *why)
{
	struct kernel_image image;
	struct error err;

	assert_int_equal(kernel_image_find(what, arch, modules, ".", &image, &err), -1);
	expect_contains(err.text, why);
	expect_contains(err.text, modules ? modules : what);
}

static void test_bzimage(void **state)
{
	struct kernel_image image;
	struct error err;
	enum arch arch;

	write_bzimage("bzImage", "6.12.1-mine (me@here) #1");
	assert_true(kernel_image_arch("bzImage", &arch, &err));
	assert_int_equal(arch, ARCH_X86_64);
	find("bzImage", ARCH_X86_64, &image);
	assert_string_equal(image.version, "6.12.1-mine");
	assert_string_equal(image.path, "bzImage");
	assert_null(image.modules_dir);
	kernel_image_free(&image);

	write_bzimage("bzImage", NULL);
	find("bzImage", ARCH_X86_64, &image);
	assert_null(image.version);
	kernel_image_free(&image);
}

/* The version string's offset is the file's own claim. */
static void test_version_outside(void **state)
{
	char data[FILE_SIZE] = { 0 };
	struct kernel_image image;

	memset(data, 'x', sizeof(data));
	memcpy(data + 0x202, "HdrS", 4);
	memcpy(data + 0x20e, "\xff\xff", 2);
	write_bytes("bzImage", data, sizeof(data));
	find("bzImage", ARCH_X86_64, &image);
	assert_null(image.version);
	kernel_image_free(&image);
}

static void test_arm64_images(void **state)
{
	char data[FILE_SIZE] = "\x1f\x8b";
	enum arch arch = ARCH_X86_64;
	struct error err;

	write_arm64_image("Image");
	write_bytes("Image.gz", data, sizeof(data));
	memcpy(data, "MZ\0\0zimg", 8);
	write_bytes("vmlinuz.efi", data, sizeof(data));
	assert_true(kernel_image_arch("Image", &arch, &err) && arch == ARCH_ARM64);
	arch = ARCH_X86_64;
	assert_true(kernel_image_arch("Image.gz", &arch, &err) && arch == ARCH_ARM64);
	arch = ARCH_X86_64;
	assert_true(kernel_image_arch("vmlinuz.efi", &arch, &err) && arch == ARCH_ARM64);
}

static void test_build_tree(void **state)
{
	struct kernel_image image;
	struct error err;
	enum arch arch;

	mkdir("linux", 0755);
	expect_refused("linux", ARCH_X86_64, NULL, "run make there first");
	assert_false(kernel_image_arch("linux", &arch, &err));
	expect_contains(err.text, "no built kernel");

	mkdir("linux/arch", 0755);
	mkdir("linux/arch/arm64", 0755);
	mkdir("linux/arch/arm64/boot", 0755);
	write_arm64_image("linux/arch/arm64/boot/Image");
	assert_true(kernel_image_arch("linux", &arch, &err));
	assert_int_equal(arch, ARCH_ARM64);
	find("linux", ARCH_ARM64, &image);
	assert_string_equal(image.path, "linux/arch/arm64/boot/Image");
	assert_string_equal(image.modules_dir, "linux");
	kernel_image_free(&image);
}

static void test_modules(void **state)
{
	struct kernel_image image;
	struct error err;

	write_bzimage("bzImage", NULL);
	mkdir("modules", 0755);
	assert_int_equal(kernel_image_find("bzImage", ARCH_X86_64, "modules", ".", &image, &err),
			 0);
	assert_string_equal(image.modules_dir, "modules");
	kernel_image_free(&image);
	expect_refused("bzImage", ARCH_X86_64, "nowhere", "no such directory");
}

static void test_no_kernel(void **state)
{
	char data[FILE_SIZE] = { 0 };
	struct error err;
	enum arch arch;

	write_bytes("zeroes", data, sizeof(data));
	write_bytes("short", data, 4095);
	write_arm64_image("Image");
	expect_refused("zeroes", ARCH_X86_64, NULL, "neither a bzImage (x86_64) nor an Image");
	expect_refused("short", ARCH_X86_64, NULL, "4095 bytes are too few");
	expect_refused("missing", ARCH_X86_64, NULL, "No such file");
	expect_refused("Image", ARCH_X86_64, NULL, "is for arm64, not x86_64");
	/* A distribution's is of every architecture: no answer, and no error. */
	assert_false(kernel_image_arch("debian:6.12", &arch, &err));
	assert_string_equal(err.text, "");
}

int main(void)
{
	const struct CMUnitTest all[] = {
#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)
		IN_SCRATCH(test_bzimage),      IN_SCRATCH(test_version_outside),
		IN_SCRATCH(test_arm64_images), IN_SCRATCH(test_build_tree),
		IN_SCRATCH(test_modules),      IN_SCRATCH(test_no_kernel),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
