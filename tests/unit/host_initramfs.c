// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The initramfs writer, checked against the format: archives are parsed back here, by cpio where
 * there is one, and compared byte by byte between different orders of adding.
 */
#include "host_support.h"

#include <elf.h>
#include <sys/sysmacros.h>
#include "elf_strip.h"
#include "initramfs.h"
#include "util/file.h"

/* One entry of an archive, as read back. Numbers in the order of the header. */
enum field {
	INODE,
	MODE,
	UID,
	GID,
	LINKS,
	TIME,
	SIZE,
	DEV_MAJOR,
	DEV_MINOR,
	RDEV_MAJOR,
	RDEV_MINOR,
	NAME_SIZE,
	CHECK,
	FIELDS
};

struct entry {
	u32 field[FIELDS];
	const char *name;
	const char *content;
};

#define HEADER_SIZE (6 + 8 * FIELDS)

static u32 hex8(const char *digits)
{
	u32 value = 0;

	for (int i = 0; i < 8; i++) {
		const char *all = "0123456789abcdef", *digit = strchr(all, digits[i]);

		assert_non_null(digit);
		value = value << 4 | (digit - all);
	}
	return value;
}

/* Parses the entry at *at and goes on to the next; false at the trailer. */
static bool next_entry(const struct text *archive, size_t *at, struct entry *e)
{
	const char *p = archive->data + *at;

	assert_int_equal(*at % 4, 0);
	assert_true(*at + HEADER_SIZE <= archive->len);
	assert_memory_equal(p, "070701", 6);
	for (int i = 0; i < FIELDS; i++)
		e->field[i] = hex8(p + 6 + 8 * i);
	e->name = p + HEADER_SIZE;
	assert_true(*at + HEADER_SIZE + e->field[NAME_SIZE] <= archive->len);
	assert_int_equal(strlen(e->name) + 1, e->field[NAME_SIZE]);
	*at = ALIGN_UP(*at + HEADER_SIZE + e->field[NAME_SIZE], 4);
	e->content = archive->data + *at;
	assert_true(*at + e->field[SIZE] <= archive->len);
	*at = ALIGN_UP(*at + e->field[SIZE], 4);
	assert_int_equal(e->field[UID] | e->field[GID] | e->field[TIME] | e->field[CHECK], 0);
	assert_int_equal(e->field[DEV_MAJOR] | e->field[DEV_MINOR], 0);
	return strcmp(e->name, "TRAILER!!!") != 0;
}

/* The names in their order, and every entry's general properties. */
static char *names_of(const struct text *archive)
{
	struct text names = { 0 };
	struct entry e;
	size_t at = 0;
	u32 inode = 0;

	while (next_entry(archive, &at, &e)) {
		assert_int_equal(e.field[INODE], ++inode);
		assert_int_equal(e.field[LINKS], S_ISDIR(e.field[MODE]) ? 2 : 1);
		text_printf(&names, "%s ", e.name);
	}
	assert_int_equal(e.field[SIZE], 0);
	assert_int_equal(archive->len % 512, 0);
	for (; at < archive->len; at++)
		assert_int_equal(archive->data[at], 0);
	return text_take(&names);
}

static bool find_entry(const struct text *archive, const char *name, struct entry *e)
{
	size_t at = 0;

	while (next_entry(archive, &at, e)) {
		if (strcmp(e->name, name) == 0)
			return true;
	}
	return false;
}

static void add_some(struct initramfs *fs, int from, int step)
{
	struct error err;

	for (int i = 0, n = from; i < 5; i++, n = (n + step) % 5) {
		switch (n) {
		case 0:
			assert_int_equal(initramfs_add_data(fs, "/init", 0755, "abc", 3, &err), 0);
			break;
		case 1:
			assert_int_equal(initramfs_add_basic_devices(fs, &err), 0);
			break;
		case 2:
			assert_int_equal(initramfs_add_directory(fs, "/a/b", 0700, &err), 0);
			break;
		case 3:
			assert_int_equal(
				initramfs_add_data(fs, "/a/b/c", 0640, "12345678", 8, &err), 0);
			break;
		case 4:
			assert_int_equal(initramfs_add_symlink(fs, "/a-link", "a/b", &err), 0);
			break;
		}
	}
}

static void entries_read_back(void **state)
{
	struct initramfs *fs = initramfs_new();
	struct text archive = { 0 };
	struct entry e;
	char *names;

	add_some(fs, 0, 1);
	initramfs_archive(fs, &archive);
	names = names_of(&archive);
	assert_string_equal(names, "a a-link a/b a/b/c dev dev/console dev/kvm dev/null init ");
	free(names);

	assert_true(find_entry(&archive, "init", &e));
	assert_int_equal(e.field[MODE], S_IFREG | 0755);
	assert_int_equal(e.field[SIZE], 3);
	assert_memory_equal(e.content, "abc", 3);
	assert_true(find_entry(&archive, "a", &e));
	assert_int_equal(e.field[MODE], S_IFDIR | 0755);
	assert_true(find_entry(&archive, "a/b", &e));
	assert_int_equal(e.field[MODE], S_IFDIR | 0700);
	assert_true(find_entry(&archive, "a/b/c", &e));
	assert_int_equal(e.field[MODE], S_IFREG | 0640);
	assert_memory_equal(e.content, "12345678", 8);
	assert_true(find_entry(&archive, "a-link", &e));
	assert_int_equal(e.field[MODE], S_IFLNK | 0777);
	assert_memory_equal(e.content, "a/b", 3);
	assert_true(find_entry(&archive, "dev/kvm", &e));
	assert_int_equal(e.field[MODE], S_IFCHR | 0600);
	assert_int_equal(e.field[RDEV_MAJOR], 10);
	assert_int_equal(e.field[RDEV_MINOR], 232);
	assert_true(find_entry(&archive, "dev/console", &e));
	assert_int_equal(e.field[RDEV_MAJOR], 5);
	assert_int_equal(e.field[RDEV_MINOR], 1);
	text_free(&archive);
	initramfs_free(fs);
}

static void bytes_do_not_depend_on_the_order(void **state)
{
	struct text first = { 0 };
	struct initramfs *fs = initramfs_new();

	add_some(fs, 0, 1);
	initramfs_archive(fs, &first);
	initramfs_free(fs);
	for (int from = 0; from < 5; from++) {
		for (int step = 1; step < 5; step++) {
			struct text other = { 0 };

			fs = initramfs_new();
			add_some(fs, from, step);
			initramfs_archive(fs, &other);
			assert_int_equal(first.len, other.len);
			assert_memory_equal(first.data, other.data, first.len);
			text_free(&other);
			initramfs_free(fs);
		}
	}
	text_free(&first);
}

/* Every length of name and content, for the padding. */
static void padding_holds_for_all_lengths(void **state)
{
	struct initramfs *fs = initramfs_new();
	struct text archive = { 0 };
	struct error err;
	char path[64], data[16];

	memset(data, 'x', sizeof(data));
	for (int name = 1; name <= 12; name++) {
		for (int size = 0; size <= 9; size++) {
			snprintf(path, sizeof(path), "/%d%.*s", size, name, "nnnnnnnnnnnn");
			assert_int_equal(initramfs_add_data(fs, path, 0600, data, size, &err), 0);
		}
	}
	initramfs_archive(fs, &archive);
	free(names_of(&archive));
	for (int name = 1; name <= 12; name++) {
		for (int size = 0; size <= 9; size++) {
			struct entry e;

			snprintf(path, sizeof(path), "%d%.*s", size, name, "nnnnnnnnnnnn");
			assert_true(find_entry(&archive, path, &e));
			assert_int_equal(e.field[SIZE], size);
			assert_memory_equal(e.content, data, size);
		}
	}
	text_free(&archive);
	initramfs_free(fs);
}

static void expect_refused(struct initramfs *fs, const char *path, const char *why)
{
	struct error err;

	assert_int_equal(initramfs_add_data(fs, path, 0644, "x", 1, &err), -1);
	expect_contains(err.text, why);
}

static void bad_paths_are_refused(void **state)
{
	struct initramfs *fs = initramfs_new();
	struct text archive = { 0 };
	struct error err;
	char *names, *longest = malloc(5000);

	add_some(fs, 0, 1);
	expect_refused(fs, "", "absolute path");
	expect_refused(fs, "/", "absolute path");
	expect_refused(fs, "relative", "absolute path");
	expect_refused(fs, "/x//y", "empty part");
	expect_refused(fs, "/x/", "empty part");
	expect_refused(fs, "/x/../y", "'..'");
	expect_refused(fs, "/..", "'..'");
	expect_refused(fs, "/./x", "'.'");
	expect_refused(fs, "/init", "twice");
	expect_refused(fs, "/a/b", "twice");
	expect_refused(fs, "/init/below", "/init is no directory");
	assert_int_equal(initramfs_add_directory(fs, "/a/b", 0755, &err), -1);
	memset(longest, 'x', 4999);
	longest[0] = '/';
	longest[4999] = '\0';
	expect_refused(fs, longest, "too long");
	longest[4095] = '\0';
	assert_int_equal(initramfs_add_data(fs, longest, 0644, "x", 1, &err), 0);
	free(longest);

	/* What was refused left nothing behind. */
	initramfs_archive(fs, &archive);
	names = names_of(&archive);
	assert_null(strstr(names, " x "));
	free(names);
	text_free(&archive);
	initramfs_free(fs);
}

static void files_are_read_and_missing_ones_named(void **state)
{
	struct initramfs *fs = initramfs_new();
	struct text archive = { 0 };
	struct error err;
	struct entry e;

	write_bytes("source", "\0binary\xff", 8);
	assert_int_equal(initramfs_add_file(fs, "/data", 0600, "source", &err), 0);
	/* No ELF file: stays as it is. */
	assert_int_equal(initramfs_add_program(fs, "/image", 0700, "source", &err), 0);
	assert_int_equal(initramfs_add_file(fs, "/gone", 0600, "no/such", &err), -1);
	expect_contains(err.text, "/gone: no/such: No such file");
	assert_int_equal(initramfs_add_file(fs, "/dir", 0600, ".", &err), -1);
	expect_contains(err.text, "directory");
	initramfs_archive(fs, &archive);
	assert_true(find_entry(&archive, "data", &e));
	assert_memory_equal(e.content, "\0binary\xff", 8);
	assert_true(find_entry(&archive, "image", &e));
	assert_memory_equal(e.content, "\0binary\xff", 8);
	assert_false(find_entry(&archive, "gone", &e));
	text_free(&archive);
	initramfs_free(fs);
}

static void file_is_written_whole_or_not_at_all(void **state)
{
	struct initramfs *fs = initramfs_new();
	struct text archive = { 0 }, read = { 0 };
	struct error err;
	size_t size = 0;

	add_some(fs, 0, 1);
	assert_int_equal(initramfs_write(fs, "out.cpio", &size, &err), 0);
	initramfs_archive(fs, &archive);
	assert_int_equal(file_read("out.cpio", 1 << 20, &read, &err), 0);
	assert_int_equal(size, archive.len);
	assert_int_equal(read.len, archive.len);
	assert_memory_equal(read.data, archive.data, read.len);
	assert_int_equal(initramfs_write(fs, "no/such/dir.cpio", NULL, &err), -1);
	expect_contains(err.text, "no/such/dir.cpio: No such file");
	/* A directory is in the way of the last step: the temporary file goes. */
	assert_int_equal(mkdir("taken", 0755), 0);
	write_string("taken/x", "");
	assert_int_equal(initramfs_write(fs, "taken", NULL, &err), -1);
	assert_int_not_equal(system("ls taken.* 2>/dev/null"), 0);
	text_free(&archive);
	text_free(&read);
	initramfs_free(fs);
}

/* Where there is a cpio, it has to agree. */
static void cpio_reads_it(void **state)
{
	struct initramfs *fs;
	struct error err;
	char *listing;

	if (system("command -v cpio >/dev/null") != 0)
		skip();
	fs = initramfs_new();
	add_some(fs, 0, 1);
	assert_int_equal(initramfs_write(fs, "out.cpio", NULL, &err), 0);
	assert_int_equal(system("cpio -it <out.cpio >listing 2>/dev/null"), 0);
	listing = read_string("listing");
	assert_string_equal(listing, "a\na-link\na/b\na/b/c\ndev\ndev/console\ndev/kvm\ndev/null\n"
				     "init\n");
	free(listing);
	assert_int_equal(mkdir("unpacked", 0755), 0);
	/* Device nodes want root: without it they fail, the rest comes. */
	system("cd unpacked && cpio -idm <../out.cpio 2>/dev/null");
	listing = read_string("unpacked/a-link/c");
	assert_string_equal(listing, "12345678");
	free(listing);
	initramfs_free(fs);
}

/* This very program, with its debug information. */
static void programs_lose_what_is_not_loaded(void **state)
{
	struct text program = { 0 }, copy = { 0 };
	struct error err;
	Elf64_Ehdr *header;
	Elf64_Phdr *segment;

	assert_int_equal(file_read("/proc/self/exe", 256 << 20, &program, &err), 0);
	text_append_bytes(&copy, program.data, program.len);
	assert_true(elf_strip_program(&program));
	assert_true(program.len < copy.len);
	/* Nothing is left to take. */
	assert_false(elf_strip_program(&program));
	header = (Elf64_Ehdr *)program.data;
	assert_int_equal(header->e_shnum, 0);
	segment = (Elf64_Phdr *)(program.data + header->e_phoff);
	for (int i = 0; i < header->e_phnum; i++, segment++) {
		size_t skip = segment->p_offset ? 0 : sizeof(*header);

		assert_true(segment->p_offset + segment->p_filesz <= program.len);
		if (segment->p_filesz > skip)
			assert_memory_equal(program.data + segment->p_offset + skip,
					    copy.data + segment->p_offset + skip,
					    segment->p_filesz - skip);
	}
	text_free(&program);
	text_free(&copy);
}

static void stripped_programs_run(void **state)
{
	struct text program = { 0 };
	struct error err;
	int status;

	assert_int_equal(file_read("/bin/sh", 64 << 20, &program, &err), 0);
	assert_true(elf_strip_program(&program));
	write_bytes("stripped", program.data, program.len);
	assert_int_equal(chmod("stripped", 0755), 0);
	status = system("./stripped -c 'exit 7'");
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	text_free(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_read_back),
		cmocka_unit_test(bytes_do_not_depend_on_the_order),
		cmocka_unit_test(padding_holds_for_all_lengths),
		cmocka_unit_test(bad_paths_are_refused),
		cmocka_unit_test(files_are_read_and_missing_ones_named),
		cmocka_unit_test(file_is_written_whole_or_not_at_all),
		cmocka_unit_test(cpio_reads_it),
		cmocka_unit_test(programs_lose_what_is_not_loaded),
		cmocka_unit_test(stripped_programs_run),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
