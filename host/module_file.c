// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads one kernel module: decompresses it and looks into its .modinfo section, which is a row of
 * NUL-terminated "key=value" strings (include/linux/moduleparam.h, MODULE_INFO).
 */
#include "module_file.h"

#include <ctype.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "elf_read.h"
#include "elf_strip.h"
#include "util/file.h"

/* A module with all of its debug information has some 100 MB; what is larger is no module. */
#define MAX_MODULE (512u << 20)

/* Decoders want a dictionary, of 1 MiB for the kernel's modules (scripts/Makefile.modinst). */
#define XZ_MEMORY_LIMIT (256u << 20)

static int too_long(const char *path, struct error *err)
{
	return error_set(err, "%s: more than %u MiB decompressed: no module", path,
			 MAX_MODULE >> 20);
}

static int decompress_xz(const char *path, const struct text *in, struct text *out,
			 struct error *err)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	u8 buffer[65536];
	lzma_ret status = lzma_stream_decoder(&stream, XZ_MEMORY_LIMIT, LZMA_CONCATENATED);
	int result = 0;

	stream.next_in = (const u8 *)in->data;
	stream.avail_in = in->len;
	while (status == LZMA_OK && result == 0) {
		stream.next_out = buffer;
		stream.avail_out = sizeof(buffer);
		status = lzma_code(&stream, LZMA_FINISH);
		text_append_bytes(out, buffer, sizeof(buffer) - stream.avail_out);
		if (out->len > MAX_MODULE)
			result = too_long(path, err);
	}
	lzma_end(&stream);
	if (result == 0 && status != LZMA_STREAM_END)
		result = error_set(err, "%s: its xz data are damaged or cut short (error %d)", path,
				   status);
	return result;
}

static int decompress_zstd(const char *path, const struct text *in, struct text *out,
			   struct error *err)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer input = { in->data, in->len, 0 };
	u8 buffer[65536];
	size_t status = 1;
	int result = 0;

	if (!stream)
		return error_set(err, "%s: no memory to decompress it", path);
	while (result == 0 && input.pos < input.size) {
		ZSTD_outBuffer output = { buffer, sizeof(buffer), 0 };

		status = ZSTD_decompressStream(stream, &output, &input);
		if (ZSTD_isError(status))
			result = error_set(err, "%s: its zstd data are damaged: %s", path,
					   ZSTD_getErrorName(status));
		text_append_bytes(out, buffer, output.pos);
		if (result == 0 && out->len > MAX_MODULE)
			result = too_long(path, err);
	}
	/* All input is eaten; what the decoder still holds comes out before it is at a frame's end. */
	while (result == 0 && status != 0) {
		ZSTD_outBuffer output = { buffer, sizeof(buffer), 0 };

		status = ZSTD_decompressStream(stream, &output, &input);
		text_append_bytes(out, buffer, output.pos);
		if (ZSTD_isError(status) || (status != 0 && output.pos == 0))
			result = error_set(err, "%s: its zstd data are cut short", path);
	}
	ZSTD_freeDStream(stream);
	return result;
}

/* out: the module in the content of its file. */
static int decompress(const char *path, const struct text *in, struct text *out, struct error *err)
{
	static const struct {
		const char *magic;
		size_t len;
		int (*decompress)(const char *, const struct text *, struct text *, struct error *);
	} formats[] = {
		{ "\xfd"
		  "7zXZ\0",
		  6, decompress_xz },
		{ "\x28\xb5\x2f\xfd", 4, decompress_zstd },
	};

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (in->len >= formats[i].len &&
		    memcmp(in->data, formats[i].magic, formats[i].len) == 0)
			return formats[i].decompress(path, in, out, err);
	}
	if (in->len >= 2 && memcmp(in->data, "\x1f\x8b", 2) == 0)
		return error_set(err,
				 "%s: modules compressed by gzip are not read (.ko, .ko.xz and "
				 ".ko.zst are): decompress it with gunzip",
				 path);
	text_append_bytes(out, in->data, in->len);
	return 0;
}

/* The value of a key of .modinfo, or NULL. Malloced. */
static char *modinfo_value(const char *info, size_t size, const char *key)
{
	size_t key_len = strlen(key);

	for (size_t at = 0; at < size;) {
		size_t len = strnlen(info + at, size - at);

		if (len > key_len && memcmp(info + at, key, key_len) == 0 &&
		    info[at + key_len] == '=')
			return text_copy_bytes(info + at + key_len + 1, len - key_len - 1);
		at += len + 1;
	}
	return NULL;
}

static void read_modinfo(struct module_file *m, const Elf64_Shdr *section)
{
	const char *info = m->content.data + section->sh_offset;
	char *depends = modinfo_value(info, section->sh_size, "depends");
	char *vermagic = modinfo_value(info, section->sh_size, "vermagic");

	m->depends = words_split(depends ? depends : "", ",");
	if (vermagic)
		m->release = text_copy_bytes(vermagic, strcspn(vermagic, " "));
	free(vermagic);
	free(depends);
}

static int examine(struct module_file *m, struct error *err)
{
	const struct text *c = &m->content;
	Elf64_Ehdr header;
	Elf64_Shdr section;

	if (!elf_header(c->data, c->len, &header) || header.e_type != ET_REL)
		return error_set(err, "%s: no kernel module (no relocatable ELF64 file)", m->path);
	if (header.e_machine == EM_X86_64)
		m->arch = ARCH_X86_64;
	else if (header.e_machine == EM_AARCH64)
		m->arch = ARCH_ARM64;
	else
		return error_set(err, "%s: a module for neither x86_64 nor arm64", m->path);
	if (!elf_find_section(c->data, c->len, &header, ".modinfo", &section) ||
	    section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL)
		return error_set(err, "%s: no kernel module (no .modinfo), or cut short", m->path);
	read_modinfo(m, &section);
	return 0;
}

int module_file_read(const char *path, struct module_file *m, struct error *err)
{
	struct text raw = { 0 };
	int status;

	*m = (struct module_file){ .name = module_name(path), .path = text_copy(path) };
	status = file_read(path, MAX_MODULE, &raw, err);
	if (status == 0)
		status = decompress(path, &raw, &m->content, err);
	text_free(&raw);
	if (status == 0)
		status = examine(m, err);
	if (status == 0)
		elf_strip_module(&m->content);
	else
		module_file_free(m);
	return status;
}

void module_file_free(struct module_file *m)
{
	free(m->name);
	free(m->path);
	free(m->release);
	words_free(m->depends);
	text_free(&m->content);
	*m = (struct module_file){ 0 };
}

char *module_name(const char *file_name)
{
	const char *slash = strrchr(file_name, '/');
	const char *base = slash ? slash + 1 : file_name;
	char *name = text_copy_bytes(base, strcspn(base, "."));

	for (char *c = name; *c; c++) {
		if (*c == '-')
			*c = '_';
	}
	return name;
}

/* To the blank that ends the word: one in double quotes does not. */
static size_t word_length(const char *word)
{
	bool quoted = false;
	size_t len = 0;

	for (; word[len] && (quoted || !isspace((unsigned char)word[len])); len++) {
		if (word[len] == '"')
			quoted = !quoted;
	}
	return len;
}

/* Of a word "NAME.PARAMETER…", the parameter; NULL where it is not for that module. */
static const char *parameter_of(const char *module, const char *word, size_t len)
{
	size_t name_len = strlen(module);

	if (len <= name_len + 1 || word[name_len] != '.')
		return NULL;
	for (size_t i = 0; i < name_len; i++) {
		if (module[i] != (word[i] == '-' ? '_' : word[i]))
			return NULL;
	}
	return word + name_len + 1;
}

char *module_parameters(const char *file_name, const char *command_line)
{
	char *module = module_name(file_name);
	struct text parameters = { 0 };
	size_t len;

	for (const char *word = command_line; *word; word += len) {
		const char *parameter;

		word += strspn(word, " \t\n");
		len = word_length(word);
		parameter = parameter_of(module, word, len);
		if (!parameter)
			continue;
		if (parameters.len)
			text_append(&parameters, " ");
		text_append_bytes(&parameters, parameter, word + len - parameter);
	}
	free(module);
	return text_take(&parameters);
}
