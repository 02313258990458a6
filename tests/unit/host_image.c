// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Images before they are booted: missing, cut short, of another architecture, and bytes at random.
 */
#include "host_support.h"

#include <elf.h>
#include "image.h"

struct elf_image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	char content[64];
};

static struct elf_image good_elf(void)
{
	struct elf_image image = {
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_EXEC,
			    .e_machine = EM_X86_64,
			    .e_phoff = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 2 },
		.segments = { { .p_type = PT_NOTE, .p_offset = 1 << 20, .p_filesz = 8 },
			      { .p_type = PT_LOAD, .p_filesz = sizeof(image), .p_memsz = 4096 } },
	};

	return image;
}

static void expect_refused(const void *data, size_t len, enum arch arch, const char *why)
{
	struct error err;

	write_bytes("image", data, len);
	assert_int_equal(image_check("image", arch, &err), -1);
	expect_contains(err.text, why);
	expect_contains(err.text, "image: ");
}

static void test_paths(void **state)
{
	char *elf = image_path("build", ARCH_X86_64, "counter");
	char *img = image_path("build", ARCH_ARM64, "counter");
	char *symbols = image_symbols_path("build", ARCH_ARM64, "counter");

	assert_string_equal(elf, "build/x86_64/x86/counter.elf");
	assert_string_equal(img, "build/arm64/arm/counter.img");
	assert_string_equal(symbols, "build/arm64/arm/counter.elf");
	free(elf);
	free(img);
	free(symbols);
}

static void test_dirs(void **state)
{
	mkdir("x86_64", 0755);
	assert_false(image_dir_exists(".", ARCH_X86_64));
	write_string("x86_64/x86", "a file");
	assert_false(image_dir_exists(".", ARCH_X86_64));
	assert_int_equal(remove("x86_64/x86"), 0);
	mkdir("x86_64/x86", 0755);
	assert_true(image_dir_exists(".", ARCH_X86_64));
	assert_false(image_dir_exists(".", ARCH_ARM64));
}

static void test_good_elf(void **state)
{
	struct elf_image image = good_elf();
	struct error err;

	write_bytes("image", &image, sizeof(image));
	assert_int_equal(image_check("image", ARCH_X86_64, &err), 0);
}

static void test_bad_elf(void **state)
{
	struct elf_image image = good_elf();

	expect_refused(&image, sizeof(image) - 1, ARCH_X86_64,
		       "cut short (239 of 240 bytes): build it again (make)");
	expect_refused(&image, sizeof(Elf64_Ehdr) + 10, ARCH_X86_64, "cut short");
	expect_refused(&image, 20, ARCH_X86_64, "no ELF64 file");
	expect_refused("", 0, ARCH_X86_64, "no ELF64 file");
	expect_refused(&image, sizeof(image), ARCH_ARM64, "an ELF file where an arm64 Image");
	image.header.e_machine = EM_AARCH64;
	expect_refused(&image, sizeof(image), ARCH_X86_64, "an image for arm64, not for x86_64");
	image = good_elf();
	image.header.e_phnum = 0;
	expect_refused(&image, sizeof(image), ARCH_X86_64, "without program headers");
	image = good_elf();
	image.header.e_phoff = UINT64_MAX - 8;
	expect_refused(&image, sizeof(image), ARCH_X86_64, "cut short");
	image = good_elf();
	image.segments[1].p_offset = UINT64_MAX;
	expect_refused(&image, sizeof(image), ARCH_X86_64, "cut short");
	image = good_elf();
	image.header.e_ident[EI_CLASS] = ELFCLASS32;
	expect_refused(&image, sizeof(image), ARCH_X86_64, "no ELF64 file");
}

static void test_missing(void **state)
{
	struct error err;

	assert_int_equal(image_check("absent", ARCH_X86_64, &err), -1);
	assert_string_equal(err.text, "absent: No such file or directory: build it (make), or see "
				      "--images");
	assert_int_equal(image_check(".", ARCH_X86_64, &err), -1);
	assert_string_equal(err.text, ".: no regular file");
}

static void test_arm64(void **state)
{
	char image[128] = "";
	struct error err;

	memcpy(image + 56, "ARMd", 4);
	image[17] = 1; /* image_size: 256 */
	write_bytes("image", image, sizeof(image));
	assert_int_equal(image_check("image", ARCH_ARM64, &err), 0);
	image[17] = 0;
	expect_refused(image, sizeof(image), ARCH_ARM64, "longer than its header says");
	expect_refused(image, 60, ARCH_ARM64, "no arm64 Image");
	image[56] = 0;
	expect_refused(image, sizeof(image), ARCH_ARM64, "no arm64 Image");
	expect_refused(image, sizeof(image), ARCH_X86_64, "no ELF64 file");
}

static void test_mutations(void **state)
{
	struct elf_image image = good_elf();
	u64 seed = 0x696d616765;

	for (int round = 0; round < 2000; round++) {
		struct text t = { 0 };
		struct error err = { "" };

		text_append_bytes(&t, &image, sizeof(image));
		mutate(&t, &seed);
		write_bytes("image", text_string(&t), t.len);
		if (image_check("image", ARCH_X86_64, &err))
			assert_true(err.text[0]);
		text_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),	  cmocka_unit_test(test_dirs),
		cmocka_unit_test(test_good_elf),  cmocka_unit_test(test_bad_elf),
		cmocka_unit_test(test_missing),	  cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests_name("images", tests, scratch_enter, scratch_leave);
}
