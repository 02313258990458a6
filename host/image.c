// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks at an image before it is booted: a VMM says little about a file that is none, and a guest
 * that was cut short may hang.
 */
#include "image.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "util/text.h"

static const char *source_dir(enum arch arch)
{
	return arch == ARCH_X86_64 ? "x86" : "arm";
}

static char *path_of(const char *dir, enum arch arch, const char *name, const char *suffix)
{
	return text_format("%s/%s/%s/%s.%s", dir, arch_to_name(arch), source_dir(arch), name,
			   suffix);
}

char *image_path(const char *dir, enum arch arch, const char *name)
{
	return path_of(dir, arch, name, arch == ARCH_X86_64 ? "elf" : "img");
}

char *image_symbols_path(const char *dir, enum arch arch, const char *name)
{
	return path_of(dir, arch, name, "elf");
}

char *image_story_path(const char *dir, enum arch arch, const char *name)
{
	return path_of(dir, arch, name, "txt");
}

bool image_dir_exists(const char *dir, enum arch arch)
{
	char *path = text_format("%s/%s/%s", dir, arch_to_name(arch), source_dir(arch));
	struct stat st;
	bool exists = !stat(path, &st) && S_ISDIR(st.st_mode);

	free(path);
	return exists;
}

static const char *elf_machine_name(unsigned int machine)
{
	switch (machine) {
	case EM_X86_64:
		return "x86_64";
	case EM_AARCH64:
		return "arm64";
	default:
		return "another architecture";
	}
}

/* The loadable parts have to be in the file. */
static int check_segments(int fd, const Elf64_Ehdr *header, u64 size, const char *path,
			  struct error *err)
{
	u64 end = 0;

	if (header->e_phentsize != sizeof(Elf64_Phdr) || !header->e_phnum)
		return error_set(err, "%s: an ELF file without program headers", path);
	for (unsigned int i = 0; i < header->e_phnum; i++) {
		u64 at, part;
		Elf64_Phdr segment;

		if (__builtin_add_overflow(header->e_phoff, i * sizeof(segment), &at) ||
		    at > INT64_MAX || pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
			return error_set(err, "%s: the file is cut short: build it again (make)",
					 path);
		if (segment.p_type != PT_LOAD)
			continue;
		if (__builtin_add_overflow(segment.p_offset, segment.p_filesz, &part))
			part = UINT64_MAX;
		end = MAX(end, part);
	}
	if (end > size)
		return error_set(err,
				 "%s: the file is cut short (%llu of %llu bytes): build it again "
				 "(make)",
				 path, (unsigned long long)size, (unsigned long long)end);
	return 0;
}

static int check_elf(int fd, u64 size, enum arch arch, const char *path, struct error *err)
{
	unsigned int wanted = arch == ARCH_X86_64 ? EM_X86_64 : EM_AARCH64;
	Elf64_Ehdr header;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB)
		return error_set(err, "%s: no ELF64 file: build it again (make)", path);
	if (header.e_machine != wanted)
		return error_set(err, "%s: an image for %s, not for %s", path,
				 elf_machine_name(header.e_machine), arch_to_name(arch));
	return check_segments(fd, &header, size, path, err);
}

/* The header of Linux' Documentation/arch/arm64/booting.rst. */
struct arm64_image_header {
	u32 code[2];
	u64 text_offset;
	u64 image_size;
	u64 flags;
	u64 reserved[3];
	char magic[4];
	u32 pe_offset;
};

static int check_arm64_image(int fd, u64 size, const char *path, struct error *err)
{
	struct arm64_image_header header;
	ssize_t n = pread(fd, &header, sizeof(header), 0);

	if (n >= SELFMAG && !memcmp(&header, ELFMAG, SELFMAG))
		return error_set(err,
				 "%s: an ELF file where an arm64 Image is wanted: build it "
				 "again (make)",
				 path);
	if (n != sizeof(header) || memcmp(header.magic, "ARMd", 4))
		return error_set(err, "%s: no arm64 Image: build it again (make)", path);
	/* image_size includes memory that is not in the file, and is never less than it. */
	if (le64toh(header.image_size) < size)
		return error_set(err, "%s: longer than its header says: build it again (make)",
				 path);
	return 0;
}

int image_check(const char *path, enum arch arch, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), result;
	struct stat st;

	if (fd < 0)
		return error_set(err, "%s: %s%s", path, strerror(errno),
				 errno == ENOENT ? ": build it (make), or see --images" : "");
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		result = error_set(err, "%s: no regular file", path);
	else if (arch == ARCH_X86_64)
		result = check_elf(fd, st.st_size, arch, path, err);
	else
		result = check_arm64_image(fd, st.st_size, path, err);
	close(fd);
	return result;
}
