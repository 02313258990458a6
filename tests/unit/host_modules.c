// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel modules: reading their files in all forms, and the order in which to load them out of all
 * kinds of directories. The modules are small ELF files made here; then damaged in every way.
 */
#include "host_support.h"

#include <elf.h>
#include <lzma.h>
#include <zstd.h>
#include "elf_read.h"
#include "elf_strip.h"
#include "module_file.h"
#include "modules.h"

#define RELEASE "6.99.0-test"

enum {
	SECTION_NULL,
	SECTION_TEXT,
	SECTION_MODINFO,
	SECTION_DEBUG,
	SECTION_BSS,
	SECTION_NAMES
};

static const char section_names[] = "\0.text\0.modinfo\0.debug_info\0.bss\0.shstrtab";

static void put_section(struct text *t, Elf64_Shdr *section, const char *name, u32 type,
			const void *data, size_t len)
{
	const char *at = section_names + 1;

	while (strcmp(at, name))
		at += strlen(at) + 1;
	*section = (Elf64_Shdr){ .sh_name = at - section_names,
				 .sh_type = type,
				 .sh_offset = t->len,
				 .sh_size = len,
				 .sh_addralign = 1 };
	if (type != SHT_NOBITS)
		text_append_bytes(t, data, len);
}

/* A module with that .modinfo and debug_size bytes that only a debugger wants. */
static void make_module(struct text *t, unsigned int machine, const struct text *info,
			size_t debug_size)
{
	Elf64_Ehdr header = { .e_ident = ELFMAG,
			      .e_type = ET_REL,
			      .e_machine = machine,
			      .e_version = EV_CURRENT,
			      .e_ehsize = sizeof(Elf64_Ehdr),
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = SECTION_NAMES + 1,
			      .e_shstrndx = SECTION_NAMES };
	Elf64_Shdr sections[SECTION_NAMES + 1] = { 0 };
	char *debug = calloc(1, debug_size + 1);

	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_ident[EI_VERSION] = EV_CURRENT;
	memset(debug, 'D', debug_size);
	text_append_bytes(t, &header, sizeof(header));
	put_section(t, &sections[SECTION_TEXT], ".text", SHT_PROGBITS, "code code code", 14);
	put_section(t, &sections[SECTION_MODINFO], ".modinfo", SHT_PROGBITS, info->data, info->len);
	put_section(t, &sections[SECTION_DEBUG], ".debug_info", SHT_PROGBITS, debug, debug_size);
	put_section(t, &sections[SECTION_BSS], ".bss", SHT_NOBITS, NULL, 1 << 30);
	put_section(t, &sections[SECTION_NAMES], ".shstrtab", SHT_STRTAB, section_names,
		    sizeof(section_names));
	sections[SECTION_MODINFO].sh_addralign = 16;
	header.e_shoff = t->len;
	text_append_bytes(t, sections, sizeof(sections));
	memcpy(t->data, &header, sizeof(header));
	free(debug);
}

static void make_info(struct text *t, const char *depends, const char *release)
{
	text_append_bytes(t, "license=GPL", 12);
	text_printf(t, "depends=%s", depends);
	text_append_char(t, '\0');
	text_printf(t, "vermagic=%s SMP preempt mod_unload ", release);
	text_append_char(t, '\0');
}

static void make_simple(struct text *t, const char *depends)
{
	struct text info = { 0 };

	make_info(&info, depends, RELEASE);
	make_module(t, EM_X86_64, &info, 0);
	text_free(&info);
}

static void make_parents(const char *path)
{
	char *copy = text_copy(path);

	for (char *slash = strchr(copy, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(copy, 0755);
		*slash = '/';
	}
	free(copy);
}

/* Into a file as it is, or compressed as its suffix says. */
static void write_module(const char *path, const struct text *t)
{
	size_t capacity = 2 * t->len + 4096, len = 0;
	void *packed = malloc(capacity);

	make_parents(path);
	if (text_ends_with(path, ".xz")) {
		assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL,
							 (const u8 *)t->data, t->len, packed, &len,
							 capacity),
				 LZMA_OK);
		write_bytes(path, packed, len);
	} else if (text_ends_with(path, ".zst")) {
		ZSTD_CCtx *cctx = ZSTD_createCCtx();

		ZSTD_CCtx_setParameter(cctx, ZSTD_c_checksumFlag, 1);
		len = ZSTD_compress2(cctx, packed, capacity, t->data, t->len);
		assert_false(ZSTD_isError(len));
		ZSTD_freeCCtx(cctx);
		write_bytes(path, packed, len);
	} else {
		write_bytes(path, t->data, t->len);
	}
	free(packed);
}

static void simple_module(const char *path, const char *depends)
{
	struct text t = { 0 };

	make_simple(&t, depends);
	write_module(path, &t);
	text_free(&t);
}

static void write_list(const char *path, const char *content)
{
	make_parents(path);
	write_string(path, content);
}

static int clean(void **state)
{
	return scratch_leave(state) || scratch_enter(state);
}

/* The names in loading order, or the error. Malloced. */
static char *order_for(const char *dir, enum arch arch, const char *const *names)
{
	struct module_list list = { 0 };
	struct text t = { 0 };
	struct error err;
	struct modules *m = modules_open(dir, &err);

	if (!m)
		return text_copy(err.text);
	if (modules_select(m, arch, names, &list, &err) < 0)
		text_append(&t, err.text);
	for (size_t i = 0; i < list.count; i++)
		text_printf(&t, "%s%s", i ? " " : "", list.files[i].name);
	module_list_free(&list);
	modules_close(m);
	return text_take(&t);
}

static void expect_order(const char *dir, const char *name, const char *expected)
{
	const char *const names[] = { name, NULL };
	char *order = order_for(dir, ARCH_X86_64, names);

	assert_string_equal(order, expected);
	free(order);
}

static void expect_trouble(const char *dir, const char *name, const char *part)
{
	const char *const names[] = { name, NULL };
	char *order = order_for(dir, ARCH_X86_64, names);

	expect_contains(order, part);
	free(order);
}

static void every_form_of_file_is_read(void **state)
{
	static const char *const suffixes[] = { "", ".xz", ".zst" };
	struct text plain = { 0 };

	make_simple(&plain, "kvm,irqbypass");
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		struct module_file m;
		struct error err;
		char *path = text_format("d/kvm-amd.ko%s", suffixes[i]);

		write_module(path, &plain);
		assert_int_equal(module_file_read(path, &m, &err), 0);
		assert_string_equal(m.name, "kvm_amd");
		assert_string_equal(m.release, RELEASE);
		assert_int_equal(m.arch, ARCH_X86_64);
		assert_int_equal(words_count(m.depends), 2);
		assert_string_equal(m.depends[0], "kvm");
		assert_string_equal(m.depends[1], "irqbypass");
		module_file_free(&m);
		free(path);
	}
	text_free(&plain);
}

/* 3 MB that compress to little and do not fit a decoder's buffer. */
static void long_modules_come_out_whole(void **state)
{
	static const char *const paths[] = { "long.ko.xz", "long.ko.zst" };
	struct text info = { 0 }, plain = { 0 };

	make_info(&info, "", RELEASE);
	text_append(&info, "filler=");
	for (int i = 0; i < 300000; i++)
		text_printf(&info, "%010d", i);
	text_append_char(&info, '\0');
	make_module(&plain, EM_AARCH64, &info, 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct module_file m;
		struct error err;

		write_module(paths[i], &plain);
		assert_int_equal(module_file_read(paths[i], &m, &err), 0);
		assert_int_equal(m.arch, ARCH_ARM64);
		assert_int_equal(m.content.len, plain.len);
		assert_memory_equal(m.content.data, plain.data, plain.len);
		module_file_free(&m);
	}
	text_free(&plain);
	text_free(&info);
}

static void expect_unreadable(const char *path, const char *part)
{
	struct module_file m;
	struct error err;

	assert_int_equal(module_file_read(path, &m, &err), -1);
	assert_null(m.name);
	expect_contains(err.text, path);
	expect_contains(err.text, part);
}

static void what_is_no_module_is_refused(void **state)
{
	struct text info = { 0 }, t = { 0 };

	write_string("text.ko", "not a module");
	expect_unreadable("text.ko", "no kernel module");
	write_string("empty.ko", "");
	expect_unreadable("empty.ko", "no kernel module");
	expect_unreadable("none.ko", "No such file");
	write_bytes("old.ko.gz", "\x1f\x8b\x08 and so on", 13);
	expect_unreadable("old.ko.gz", "gunzip");
	make_info(&info, "", RELEASE);
	make_module(&t, EM_RISCV, &info, 0);
	write_module("riscv.ko", &t);
	expect_unreadable("riscv.ko", "neither x86_64 nor arm64");
	text_free(&t);
	text_free(&info);
}

/* Cut at every length, each byte of the middle changed: an error, or (plain files) no matter. */
static void damaged_files_are_noticed(void **state)
{
	static const char *const names[] = { "m.ko.xz", "m.ko.zst" };

	for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
		struct text t = { 0 };
		char *bytes;
		struct stat st;

		simple_module(names[n], "kvm");
		bytes = read_string(names[n]);
		assert_int_equal(stat(names[n], &st), 0);
		for (off_t len = 0; len < st.st_size; len++) {
			write_bytes(names[n], bytes, len);
			expect_unreadable(names[n], "");
		}
		for (off_t at = st.st_size / 4; at < st.st_size; at++) {
			bytes[at] ^= 0x10;
			write_bytes(names[n], bytes, st.st_size);
			expect_unreadable(names[n], "");
			bytes[at] ^= 0x10;
		}
		free(bytes);
		text_free(&t);
	}
}

/* A copy whose memory ends where it ends, so that ASan sees a read beyond. */
static struct text exact(const struct text *t)
{
	return (struct text){ .data = text_copy_bytes(t->data, t->len),
			      .len = t->len,
			      .cap = t->len + 1 };
}

/* Headers with every single field set to what does not fit, and random damage. */
static void no_header_is_believed(void **state)
{
	static const u64 values[] = { 0,	  1,	      0x7f,	 0xffff,
				      0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX };
	struct text info = { 0 }, t = { 0 };
	u64 seed = 20240607;

	make_info(&info, "kvm", RELEASE);
	make_module(&t, EM_X86_64, &info, 100);
	for (size_t at = 0; at < t.len; at++) {
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			struct text copy = exact(&t);
			struct module_file m;
			struct error err;

			memcpy(copy.data + at, &values[i], MIN(sizeof(u64), copy.len - at));
			elf_strip_module(&copy);
			elf_strip_program(&copy);
			text_free(&copy);
			/* Files are slower: of these values, 0 and 0x7fffffff will do. */
			if (i % 4)
				continue;
			copy = exact(&t);
			memcpy(copy.data + at, &values[i], MIN(sizeof(u64), copy.len - at));
			write_bytes("m.ko", copy.data, copy.len);
			if (module_file_read("m.ko", &m, &err) == 0)
				module_file_free(&m);
			text_free(&copy);
		}
	}
	for (int i = 0; i < 20000; i++) {
		struct text mutant = { 0 }, copy;
		Elf64_Shdr section;
		Elf64_Ehdr header;

		text_append_bytes(&mutant, t.data, t.len);
		mutate(&mutant, &seed);
		copy = exact(&mutant);
		if (elf_header(copy.data, copy.len, &header) &&
		    elf_find_section(copy.data, copy.len, &header, ".modinfo", &section) &&
		    section.sh_type == SHT_PROGBITS)
			assert_true(section.sh_offset + section.sh_size <= copy.len);
		elf_strip_module(&copy);
		text_free(&copy);
		text_free(&mutant);
	}
	text_free(&t);
	text_free(&info);
}

static void names_end_inside_their_table(void **state)
{
	struct text info = { 0 }, t = { 0 };
	Elf64_Shdr section, names;
	Elf64_Ehdr header;
	const char *name;

	make_info(&info, "", RELEASE);
	make_module(&t, EM_X86_64, &info, 0);
	assert_true(elf_header(t.data, t.len, &header));
	assert_true(elf_section(t.data, t.len, &header, SECTION_NAMES, &names, &name));
	assert_string_equal(name, ".shstrtab");
	memset(t.data + names.sh_offset + names.sh_size - 1, 'x', 1);
	assert_false(elf_section(t.data, t.len, &header, SECTION_NAMES, &section, &name));
	assert_true(elf_section(t.data, t.len, &header, SECTION_TEXT, &section, &name));
	text_free(&t);
	text_free(&info);
}

static void modules_lose_debug_information_alone(void **state)
{
	struct text info = { 0 }, t = { 0 }, small = { 0 };
	Elf64_Ehdr header;
	Elf64_Shdr section;
	const char *name;

	make_info(&info, "kvm", RELEASE);
	make_module(&t, EM_X86_64, &info, 100000);
	make_module(&small, EM_X86_64, &info, 0);
	assert_true(elf_strip_module(&t));
	assert_true(t.len < small.len + 64);
	assert_true(elf_header(t.data, t.len, &header));
	assert_int_equal(header.e_shnum, SECTION_NAMES + 1);
	assert_true(elf_find_section(t.data, t.len, &header, ".modinfo", &section));
	assert_int_equal(section.sh_offset % 16, 0);
	assert_int_equal(section.sh_size, info.len);
	assert_memory_equal(t.data + section.sh_offset, info.data, info.len);
	assert_true(elf_section(t.data, t.len, &header, SECTION_TEXT, &section, &name));
	assert_string_equal(name, ".text");
	assert_memory_equal(t.data + section.sh_offset, "code code code", 14);
	assert_true(elf_section(t.data, t.len, &header, SECTION_DEBUG, &section, &name));
	assert_int_equal(section.sh_size, 0);
	assert_true(elf_section(t.data, t.len, &header, SECTION_BSS, &section, &name));
	assert_int_equal(section.sh_size, 1 << 30);
	/* There is nothing more to take. */
	assert_false(elf_strip_module(&t));
	text_free(&t);
	text_free(&small);
	text_free(&info);
}

static void signed_modules_stay_as_they_are(void **state)
{
	struct text info = { 0 }, t = { 0 };
	size_t len;

	make_info(&info, "kvm", RELEASE);
	make_module(&t, EM_X86_64, &info, 100000);
	text_append(&t, "signature~Module signature appended~\n");
	len = t.len;
	assert_false(elf_strip_module(&t));
	assert_int_equal(t.len, len);
	text_free(&t);
	text_free(&info);
}

static void dependencies_come_first_and_once(void **state)
{
	/* A diamond with a tail: a needs b and c, both need d, d needs e. */
	simple_module("mods/kernel/a.ko", "b,c");
	simple_module("mods/kernel/x/b.ko.xz", "d");
	simple_module("mods/kernel/y/c.ko.zst", "d,e");
	simple_module("mods/kernel/d.ko", "e");
	simple_module("mods/kernel/e.ko", "");
	expect_order("mods", "a", "e d b c a");
	expect_order("mods", "d", "e d");
	expect_order("mods", "e", "e");
	expect_order("mods", "nosuch", "");
}

static void dash_and_underscore_are_the_same(void **state)
{
	simple_module("mods/kernel/kvm-amd.ko", "some_thing");
	simple_module("mods/kernel/some-thing.ko", "");
	expect_order("mods", "kvm_amd", "some_thing kvm_amd");
	expect_order("mods", "kvm-amd", "some_thing kvm_amd");
}

static void expect_parameters(const char *file, const char *command_line, const char *expected)
{
	char *parameters = module_parameters(file, command_line);

	assert_string_equal(parameters, expected);
	free(parameters);
}

static void parameters_are_the_modules_own(void **state)
{
	static const char line[] =
		"quiet kvm.halt_poll_ns=0 kvm-amd.nested=0  kvm_amd.avic kvmx.a=1 kvm. "
		"x.kvm.b=3 kvm.name=\"a b\" kvm\n";

	expect_parameters("/modules/kvm.ko", line, "halt_poll_ns=0 name=\"a b\"");
	expect_parameters("/modules/kvm-amd.ko.xz", line, "nested=0 avic");
	expect_parameters("kvm_amd.ko", line, "nested=0 avic");
	expect_parameters("irqbypass.ko", line, "");
	expect_parameters("kvm.ko", "", "");
	expect_parameters("kvm.ko", "kvm.open=\"a b", "open=\"a b");
}

static void trouble_with_dependencies_is_said(void **state)
{
	simple_module("mods/kernel/a.ko", "b");
	simple_module("mods/kernel/b.ko", "c");
	expect_trouble("mods", "a", "b.ko needs module c, which is not in mods");
	simple_module("mods/kernel/c.ko", "a");
	expect_trouble("mods", "a", "depends on itself");
	simple_module("mods/kernel/self.ko", "self");
	expect_trouble("mods", "self", "depends on itself");
	write_string("mods/kernel/c.ko", "rubbish");
	expect_trouble("mods", "a", "c.ko: no kernel module");
}

static void modules_that_do_not_fit_are_refused(void **state)
{
	static const char *const names[] = { "a", NULL };
	struct text info = { 0 }, t = { 0 };
	char *order;

	simple_module("mods/kernel/a.ko", "b");
	make_info(&info, "", "6.100.0-other");
	make_module(&t, EM_X86_64, &info, 0);
	write_module("mods/kernel/b.ko", &t);
	expect_trouble("mods", "a", "is a mixture");
	simple_module("mods/kernel/b.ko", "");
	order = order_for("mods", ARCH_ARM64, names);
	expect_contains(order, "a module for x86_64, not for arm64");
	free(order);
	text_free(&t);
	text_free(&info);
}

/* modules.dep knows directories that the others do not, and comes before them. */
static void depmods_list_is_used(void **state)
{
	simple_module("lib/modules/6.1/kernel/kvm.ko", "");
	simple_module("lib/modules/6.1/updates/kvm.ko", "irqbypass");
	simple_module("lib/modules/6.1/kernel/irqbypass.ko.xz", "");
	write_list("lib/modules/6.1/modules.dep", "updates/kvm.ko: kernel/irqbypass.ko.xz\n"
						  "kernel/irqbypass.ko.xz:\n"
						  "kernel/gone.ko:\n");
	expect_order("lib/modules/6.1", "kvm", "irqbypass kvm");
	expect_order("lib/modules/6.1", "gone", "");
	/* From what holds it, as well. */
	expect_order(".", "kvm", "irqbypass kvm");
}

/* What a package has on which depmod never ran: names without the compression's suffix. */
static void packages_list_is_used(void **state)
{
	simple_module("r/usr/lib/modules/6.12/kernel/arch/x86/kvm/kvm.ko.xz", "irqbypass");
	simple_module("r/usr/lib/modules/6.12/kernel/virt/lib/irqbypass.ko.xz", "");
	simple_module("r/usr/lib/modules/6.12/kernel/unlisted.ko", "");
	write_list("r/usr/lib/modules/6.12/modules.order",
		   "kernel/virt/lib/irqbypass.ko\nkernel/arch/x86/kvm/kvm.ko\n");
	expect_order("r", "kvm", "irqbypass kvm");
	expect_order("r/usr/lib/modules/6.12", "unlisted", "");
}

static void build_trees_are_read(void **state)
{
	simple_module("tree/arch/x86/kvm/kvm.ko", "irqbypass");
	simple_module("tree/virt/lib/irqbypass.ko", "");
	simple_module("tree/samples/kvm.ko", "");
	/* Since 6.3 the list has objects; before it had "kernel/" in front. */
	write_list("tree/modules.order", "virt/lib/irqbypass.o\narch/x86/kvm/kvm.o\n");
	expect_order("tree", "kvm", "irqbypass kvm");
	write_list("tree/modules.order",
		   "kernel/virt/lib/irqbypass.ko\nkernel/arch/x86/kvm/kvm.ko\n");
	expect_order("tree", "kvm", "irqbypass kvm");
}

static void links_out_of_the_directory_are_not_followed(void **state)
{
	simple_module("mods/kernel/a.ko", "");
	assert_int_equal(symlink("..", "mods/build"), 0);
	expect_order("mods", "a", "a");
}

static void built_in_is_told_apart(void **state)
{
	struct error err;
	struct modules *m;

	simple_module("mods/kernel/a.ko", "");
	m = modules_open("mods", &err);
	assert_non_null(m);
	assert_int_equal(modules_state(m, "a"), MODULE_FILE);
	assert_int_equal(modules_state(m, "kvm"), MODULE_UNKNOWN);
	modules_close(m);
	write_list("mods/modules.builtin", "kernel/arch/arm64/kvm/kvm.ko\nkernel/some-thing.ko\n");
	m = modules_open("mods", &err);
	assert_non_null(m);
	assert_int_equal(modules_state(m, "kvm"), MODULE_BUILT_IN);
	assert_int_equal(modules_state(m, "some_thing"), MODULE_BUILT_IN);
	assert_int_equal(modules_state(m, "nosuch"), MODULE_ABSENT);
	modules_close(m);
}

static void bad_directories_are_named(void **state)
{
	expect_trouble("nosuch", "a", "modules directory nosuch: No such file");
	write_string("file", "x");
	expect_trouble("file", "a", "modules directory file: no directory");
	assert_int_equal(mkdir("empty", 0755), 0);
	expect_trouble("empty", "a", "empty: no kernel modules in it");
	simple_module("two/lib/modules/6.1/kernel/a.ko", "");
	simple_module("two/lib/modules/6.2/kernel/a.ko", "");
	expect_trouble("two", "a", "modules of several kernels");
}

static void packed_in_loading_order(void **state)
{
	static const char *const names[] = { "a", "b", NULL };
	struct initramfs *fs = initramfs_new();
	struct module_list list = { 0 };
	struct text archive = { 0 };
	struct error err;
	struct modules *m;

	simple_module("mods/kernel/a.ko.xz", "z-z");
	simple_module("mods/kernel/z-z.ko", "");
	simple_module("mods/kernel/b.ko", "a");
	m = modules_open("mods", &err);
	assert_non_null(m);
	assert_int_equal(modules_select(m, ARCH_X86_64, names, &list, &err), 0);
	assert_int_equal(module_list_pack(&list, "/modules.load", fs, &err), 0);
	initramfs_archive(fs, &archive);
	assert_non_null(memmem(archive.data, archive.len,
			       "/modules/z_z.ko\n/modules/a.ko\n/modules/b.ko\n", 43));
	assert_non_null(memmem(archive.data, archive.len, "modules/a.ko", 13));
	text_free(&archive);
	module_list_free(&list);
	modules_close(m);
	initramfs_free(fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_form_of_file_is_read, clean),
		cmocka_unit_test_setup(long_modules_come_out_whole, clean),
		cmocka_unit_test_setup(what_is_no_module_is_refused, clean),
		cmocka_unit_test_setup(damaged_files_are_noticed, clean),
		cmocka_unit_test_setup(no_header_is_believed, clean),
		cmocka_unit_test_setup(names_end_inside_their_table, clean),
		cmocka_unit_test_setup(modules_lose_debug_information_alone, clean),
		cmocka_unit_test_setup(signed_modules_stay_as_they_are, clean),
		cmocka_unit_test_setup(dependencies_come_first_and_once, clean),
		cmocka_unit_test_setup(dash_and_underscore_are_the_same, clean),
		cmocka_unit_test(parameters_are_the_modules_own),
		cmocka_unit_test_setup(trouble_with_dependencies_is_said, clean),
		cmocka_unit_test_setup(modules_that_do_not_fit_are_refused, clean),
		cmocka_unit_test_setup(depmods_list_is_used, clean),
		cmocka_unit_test_setup(packages_list_is_used, clean),
		cmocka_unit_test_setup(build_trees_are_read, clean),
		cmocka_unit_test_setup(links_out_of_the_directory_are_not_followed, clean),
		cmocka_unit_test_setup(built_in_is_told_apart, clean),
		cmocka_unit_test_setup(bad_directories_are_named, clean),
		cmocka_unit_test_setup(packed_in_loading_order, clean),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
