// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that the VMM is given: snapshots and images that are damaged, foreign, cut short or made to
 * harm are refused with the reason, and nothing outside of the guest's memory is touched.
 */
#include "host_support.h"

#include <elf.h>
#include <string.h>
#include "kvm/arm64/image.h"
#include "kvm/image_file.h"
#include "kvm/snapshot.h"
#include "kvm/snapshot_format.h"
#include "util/memory.h"
#if defined(__x86_64__)
#include "kvm/x86/loader.h"
#endif

#define MEMORY_SIZE (2u << 20)
#define MEMORY_BASE 0x100000

/* A machine as far as the loaders look at it. */
struct machine {
	struct machine_options options;
	struct vm vm;
};

static struct machine *machine_new(void)
{
	struct machine *m = memory_zalloc(sizeof(*m));

	m->options = (struct machine_options){ .memory_mib = 2, .append = "" };
	m->vm.options = &m->options;
	m->vm.nr_regions = 1;
	m->vm.regions[0] = (struct memory_region){
		.base = MEMORY_BASE,
		.size = MEMORY_SIZE,
		.host = memory_zalloc(MEMORY_SIZE),
		.is_ram = true,
	};
	return m;
}

static void machine_free(struct machine *m)
{
	free(m->vm.regions[0].host);
	free(m);
}

/* ---- memory ------------------------------------------------------------------------------------- */

static void test_memory_bounds(void **state)
{
	struct machine *m = machine_new();
	u8 *host = m->vm.regions[0].host;

	assert_ptr_equal(vm_memory(&m->vm, MEMORY_BASE, 1), host);
	assert_ptr_equal(vm_memory(&m->vm, MEMORY_BASE, MEMORY_SIZE), host);
	assert_ptr_equal(vm_memory(&m->vm, MEMORY_BASE + MEMORY_SIZE - 1, 1),
			 host + MEMORY_SIZE - 1);
	assert_null(vm_memory(&m->vm, MEMORY_BASE - 1, 2));
	assert_null(vm_memory(&m->vm, MEMORY_BASE, MEMORY_SIZE + 1));
	assert_null(vm_memory(&m->vm, MEMORY_BASE + MEMORY_SIZE - 1, 2));
	assert_null(vm_memory(&m->vm, MEMORY_BASE + 1, UINT64_MAX));
	assert_null(vm_memory(&m->vm, UINT64_MAX, 1));
	assert_null(vm_memory(&m->vm, 0, 1));
	machine_free(m);
}

/* ---- snapshots ---------------------------------------------------------------------------------- */

static void put_record(struct text *t, u32 kind, const char *name, const void *payload, u64 size)
{
	static const char zeroes[8];
	struct snapshot_record r = { .kind = kind, .address = MEMORY_BASE, .size = size };

	strncpy(r.name, name, STATE_NAME_MAX);
	text_append_bytes(t, &r, sizeof(r));
	text_append_bytes(t, payload, size);
	text_append_bytes(t, zeroes, SNAPSHOT_PADDING(size));
}

/* Sets the header to what the bytes behind it are. */
static void seal(struct text *t)
{
	struct snapshot_header h = {
		.magic = SNAPSHOT_MAGIC,
		.version = SNAPSHOT_VERSION,
		.arch = SNAPSHOT_ARCH,
		.file_size = t->len,
	};

	h.checksum =
		snapshot_checksum(SNAPSHOT_CHECKSUM_START, t->data + sizeof(h), t->len - sizeof(h));
	memcpy(t->data, &h, sizeof(h));
}

static struct text snapshot_without_end(void)
{
	struct snapshot_machine machine = {
		.smp = 2, .maxcpus = 3, .memory_mib = 64, .flags = MACHINE_NO_BULK
	};
	struct snapshot_header h = { .version = 0 };
	struct text t = { 0 };

	text_append_bytes(&t, &h, sizeof(h));
	put_record(&t, RECORD_MACHINE, "", &machine, sizeof(machine));
	put_record(&t, RECORD_IMAGE, "", "an image", 8);
	put_record(&t, RECORD_APPEND, "", "a=1", 3);
	put_record(&t, RECORD_STATE, "regs", "0123456789", 10);
	return t;
}

static struct text good_snapshot(void)
{
	struct text t = snapshot_without_end();

	put_record(&t, RECORD_MEMORY, "", "memory", 6);
	put_record(&t, RECORD_END, "", NULL, 0);
	seal(&t);
	return t;
}

static void expect_no_snapshot(const struct text *t, const char *why)
{
	struct machine_options options = { 0 };
	struct error err;

	assert_null(snapshot_parse("file", t->data, t->len, &options, &err));
	expect_contains(err.text, "file: ");
	expect_contains(err.text, why);
}

static void test_snapshot_good(void **state)
{
	struct text t = good_snapshot();
	struct machine_options options = { 0 };
	struct error err;
	struct snapshot *s = snapshot_parse("file", t.data, t.len, &options, &err);

	assert_non_null(s);
	assert_int_equal(options.smp, 2);
	assert_int_equal(options.maxcpus, 3);
	assert_int_equal(options.memory_mib, 64);
	assert_true(options.no_bulk_console);
	assert_string_equal(options.image, "an image");
	assert_string_equal(options.append, "a=1");
	snapshot_free(s);
	text_free(&t);
}

static void test_snapshot_cut_short(void **state)
{
	struct text t = good_snapshot();
	size_t whole = t.len;

	for (t.len = 0; t.len < whole; t.len++)
		expect_no_snapshot(&t, t.len < sizeof(struct snapshot_header) ? "no snapshot"
									      : "cut short");
	t.len = whole;
	text_append_char(&t, 0);
	expect_no_snapshot(&t, "was added");
	text_free(&t);
}

static void test_snapshot_bit_flipped(void **state)
{
	struct text t = good_snapshot();

	for (size_t bit = 0; bit < t.len * 8; bit++) {
		t.data[bit / 8] ^= 1 << bit % 8;
		expect_no_snapshot(&t, "");
		t.data[bit / 8] ^= 1 << bit % 8;
	}
	text_free(&t);
}

static void test_snapshot_foreign(void **state)
{
	struct text t = good_snapshot();
	struct snapshot_header *h = (void *)t.data;

	h->arch = SNAPSHOT_X86_64 + SNAPSHOT_ARM64 - SNAPSHOT_ARCH;
	expect_no_snapshot(&t, SNAPSHOT_ARCH == SNAPSHOT_X86_64 ? "of arm64" : "of x86_64");
	h->arch = 77;
	expect_no_snapshot(&t, "does not know");
	h->arch = SNAPSHOT_ARCH;
	h->version++;
	expect_no_snapshot(&t, "of version 3");
	h->version--;
	h->magic[0] = 'k';
	expect_no_snapshot(&t, "no snapshot of this VMM");
	text_free(&t);
}

/* What a right checksum does not make right. */
static void expect_malformed(struct text *t, bool with_end, const char *why)
{
	if (with_end)
		put_record(t, RECORD_END, "", NULL, 0);
	seal(t);
	expect_no_snapshot(t, "malformed");
	expect_no_snapshot(t, why);
	text_free(t);
}

static struct text snapshot_of_machine(u32 smp, u32 memory_mib, u32 flags)
{
	struct snapshot_machine machine = {
		.smp = smp, .maxcpus = smp, .memory_mib = memory_mib, .flags = flags
	};
	struct text t = snapshot_without_end();

	memcpy(t.data + sizeof(struct snapshot_header) + sizeof(struct snapshot_record), &machine,
	       sizeof(machine));
	return t;
}

static void test_snapshot_malformed(void **state)
{
	struct text t = snapshot_without_end();

	expect_malformed(&t, false, "no end record");
	t = snapshot_without_end();
	put_record(&t, RECORD_STATE, "regs", "", 0);
	expect_malformed(&t, true, "\"regs\" twice");
	t = snapshot_without_end();
	put_record(&t, 99, "", "", 0);
	expect_malformed(&t, true, "kind 99");
	t = snapshot_without_end();
	put_record(&t, RECORD_IMAGE, "", "again", 5);
	expect_malformed(&t, true, "image's name");
	t = snapshot_without_end();
	put_record(&t, RECORD_END, "", NULL, 0);
	put_record(&t, RECORD_END, "", NULL, 0);
	expect_malformed(&t, false, "after its end");
	t = snapshot_of_machine(0, 64, 0);
	expect_malformed(&t, true, "0 of 0 vCPUs");
	t = snapshot_of_machine(VCPUS_MAX + 1, 64, 0);
	expect_malformed(&t, true, "65 of 65 vCPUs");
	t = snapshot_of_machine(1, 1u << 30, 0);
	expect_malformed(&t, true, "MiB");
	t = snapshot_of_machine(1, 64, 0x100);
	expect_malformed(&t, true, "flags 0x100");
}

static void test_snapshot_sizes(void **state)
{
	static const u64 sizes[] = { 11, 1 << 20, UINT32_MAX, UINT64_MAX - 7, UINT64_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct text t = snapshot_without_end();
		size_t last = t.len - 16 - sizeof(struct snapshot_record);

		memcpy(t.data + last + offsetof(struct snapshot_record, size), &sizes[i], 8);
		expect_malformed(&t, false, "");
	}
}

/* ---- arm64's Image ------------------------------------------------------------------------------ */

struct image_header {
	u32 code[2];
	u64 text_offset, image_size, flags;
	u64 reserved[3];
	char magic[4];
	u32 pe_header;
};

static const struct image_header good_image = {
	.image_size = 4096,
	.flags = 0xa,
	.magic = "ARM\x64",
};

static int load_image(struct image_header h, size_t size, struct error *err)
{
	struct machine *m = machine_new();
	struct image_file f = { .path = "file", .data = memory_zalloc(size), .size = size };
	u64 entry = 0, end = 0;
	int result;

	memcpy(f.data, &h, MIN(size, sizeof(h)));
	result = arm64_load(&m->vm, &f, &entry, &end, err);
	if (!result) {
		assert_int_equal(entry, MEMORY_BASE + h.text_offset);
		assert_int_equal(end, entry + h.image_size);
		assert_memory_equal(vm_memory(&m->vm, entry, size), f.data, size);
	}
	image_file_free(&f);
	machine_free(m);
	return result;
}

static void expect_no_image(struct image_header h, size_t size, const char *why)
{
	struct error err;

	assert_int_equal(load_image(h, size, &err), -1);
	expect_contains(err.text, "file: ");
	expect_contains(err.text, why);
}

static void test_image(void **state)
{
	struct image_header h = good_image;
	struct error err;

	assert_int_equal(load_image(h, 100, &err), 0);
	h.text_offset = MEMORY_SIZE - h.image_size;
	assert_int_equal(load_image(h, 100, &err), 0);
	h.text_offset++;
	expect_no_image(h, 100, "there are 2 MiB");
	h.text_offset = UINT64_MAX - 4095;
	expect_no_image(h, 100, "there are 2 MiB");
	h = good_image;
	h.image_size = UINT64_MAX;
	expect_no_image(h, 100, "there are 2 MiB");
	h.image_size = 99;
	expect_no_image(h, 100, "its header says 99");
	h = good_image;
	h.magic[3]++;
	expect_no_image(h, 100, "no magic number");
	h = good_image;
	h.flags |= 1;
	expect_no_image(h, 100, "big-endian");
	for (size_t size = 0; size < sizeof(h); size++)
		expect_no_image(good_image, size, "no magic number");
}

/* ---- x86's ELF ---------------------------------------------------------------------------------- */

#if defined(__x86_64__)

struct elf_file {
	Elf64_Ehdr header;
	Elf64_Phdr load, note;
	struct {
		Elf64_Nhdr header;
		char name[4];
		u32 entry, rest;
	} pvh;
	char content[64];
};

static struct elf_file good_elf(void)
{
	return (struct elf_file){
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_EXEC,
			    .e_machine = EM_X86_64,
			    .e_phoff = offsetof(struct elf_file, load),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 2 },
		.load = { .p_type = PT_LOAD,
			  .p_offset = offsetof(struct elf_file, content),
			  .p_paddr = MEMORY_BASE,
			  .p_filesz = 64,
			  .p_memsz = 4096 },
		.note = { .p_type = PT_NOTE,
			  .p_offset = offsetof(struct elf_file, pvh),
			  .p_filesz = 24 },
		.pvh = { .header = { .n_namesz = 4, .n_descsz = 8, .n_type = 18 },
			 .name = "Xen",
			 .entry = MEMORY_BASE + 16 },
		.content = "content",
	};
}

static int load_elf(const struct elf_file *elf, size_t size, struct error *err)
{
	struct machine *m = machine_new();
	struct image_file f = { .path = "file", .data = memory_zalloc(size), .size = size };
	struct x86_image image;
	int result;

	memcpy(f.data, elf, MIN(size, sizeof(*elf)));
	result = x86_load(&m->vm, &f, &image, err);
	if (!result) {
		assert_true(image.is_pvh);
		assert_int_equal(image.entry, MEMORY_BASE + 16);
	}
	image_file_free(&f);
	machine_free(m);
	return result;
}

static void expect_no_elf(const struct elf_file *elf, size_t size, const char *why)
{
	struct error err;

	assert_int_equal(load_elf(elf, size, &err), -1);
	expect_contains(err.text, "file: ");
	expect_contains(err.text, why);
}

static void test_elf(void **state)
{
	struct elf_file elf = good_elf();
	struct error err;

	assert_int_equal(load_elf(&elf, sizeof(elf), &err), 0);
	for (size_t size = 0; size < sizeof(elf); size++)
		expect_no_elf(&elf, size, "");
	elf.header.e_machine = EM_AARCH64;
	expect_no_elf(&elf, sizeof(elf), "not of x86");
	elf = good_elf();
	elf.header.e_phnum = 0;
	expect_no_elf(&elf, sizeof(elf), "0 program headers");
	elf.header.e_phnum = 65535;
	expect_no_elf(&elf, sizeof(elf), "65535 program headers");
	elf = good_elf();
	elf.header.e_phoff = UINT64_MAX - 10;
	expect_no_elf(&elf, sizeof(elf), "program header 0");
}

static void test_elf_segments(void **state)
{
	struct elf_file elf = good_elf();

	elf.load.p_memsz = MEMORY_SIZE + 1;
	expect_no_elf(&elf, sizeof(elf), "has 2 MiB");
	elf.load.p_memsz = UINT64_MAX;
	expect_no_elf(&elf, sizeof(elf), "has 2 MiB");
	elf = good_elf();
	elf.load.p_paddr = UINT64_MAX - 10;
	expect_no_elf(&elf, sizeof(elf), "has 2 MiB");
	elf = good_elf();
	elf.load.p_filesz = elf.load.p_memsz + 1;
	expect_no_elf(&elf, sizeof(elf), "behind the file's end");
	elf = good_elf();
	elf.load.p_offset = UINT64_MAX;
	expect_no_elf(&elf, sizeof(elf), "behind the file's end");
}

static void test_elf_notes(void **state)
{
	struct elf_file elf = good_elf();

	elf.pvh.header.n_type++;
	expect_no_elf(&elf, sizeof(elf), "neither a PVH note nor");
	elf = good_elf();
	elf.pvh.header.n_namesz = UINT32_MAX;
	expect_no_elf(&elf, sizeof(elf), "neither a PVH note nor");
	elf = good_elf();
	elf.pvh.header.n_descsz = UINT32_MAX;
	expect_no_elf(&elf, sizeof(elf), "neither a PVH note nor");
	elf = good_elf();
	elf.note.p_filesz = 16;
	expect_no_elf(&elf, sizeof(elf), "neither a PVH note nor");
	elf.note.p_offset = UINT64_MAX - 4;
	expect_no_elf(&elf, sizeof(elf), "neither a PVH note nor");
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_bounds),
		cmocka_unit_test(test_snapshot_good),
		cmocka_unit_test(test_snapshot_cut_short),
		cmocka_unit_test(test_snapshot_bit_flipped),
		cmocka_unit_test(test_snapshot_foreign),
		cmocka_unit_test(test_snapshot_malformed),
		cmocka_unit_test(test_snapshot_sizes),
		cmocka_unit_test(test_image),
#if defined(__x86_64__)
		cmocka_unit_test(test_elf),
		cmocka_unit_test(test_elf_segments),
		cmocka_unit_test(test_elf_notes),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
