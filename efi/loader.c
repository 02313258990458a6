// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A UEFI application that is one image of the suite and what starts it: on real hardware, or under
 * a VMM with UEFI firmware. It puts together the image's command line, takes memory, ends the
 * firmware's services, and enters the image as any other loader would.
 */
#include "efi.h"
#include "string.h"

#define SIZE_2M	      (2ULL << 20)
#define RANGE_MARGIN  (16ULL << 20) /* left to the firmware */
#define MAP_PAGES     32
#define NR_EXIT_TRIES 3

struct rela {
	u64 offset, info;
	s64 addend;
};

/* loader.lds */
extern u8 image_base[] __attribute__((visibility("hidden")));
extern const struct rela rela_start[] __attribute__((visibility("hidden")));
extern const struct rela rela_end[] __attribute__((visibility("hidden")));

/* R_X86_64_RELATIVE, R_AARCH64_RELATIVE: the only kind that a static PIE has. */
#ifdef __x86_64__
#define R_RELATIVE 8
#else
#define R_RELATIVE 1027
#endif

/* Linked at 0 and without a .reloc section: nobody else does it. Calls nothing by a pointer. */
static void relocate(void)
{
	for (const struct rela *r = rela_start; r < rela_end; r++) {
		if (r->info == R_RELATIVE)
			*(u64 *)(image_base + r->offset) = (u64)image_base + r->addend;
	}
}

void loader_say(const struct loader *l, const char *text)
{
	efi_char line[128];

	while (*text) {
		size_t n = 0;

		for (; *text && n < ARRAY_SIZE(line) - 2; text++) {
			if (*text == '\n')
				line[n++] = '\r';
			line[n++] = *text;
		}
		line[n] = 0;
		l->system->output->output_string(l->system->output, line);
	}
}

void *loader_find_table(const struct loader *l, const struct efi_guid *guid)
{
	for (u64 i = 0; i < l->system->nr_tables; i++) {
		if (!memcmp(&l->system->tables[i].guid, guid, sizeof(*guid)))
			return l->system->tables[i].table;
	}
	return NULL;
}

/* ---- memory ------------------------------------------------------------------------------------ */

u64 loader_allocate(const struct loader *l, enum efi_allocate_type type,
		    enum efi_memory_type memory, u64 size, u64 address)
{
	u64 pages = (size + EFI_PAGE_SIZE - 1) / EFI_PAGE_SIZE;

	return l->boot->allocate_pages(type, memory, pages, &address) ? 0 : address;
}

/* Into a buffer of MAP_PAGES pages. */
static bool get_map(const struct loader *l, void *map, u64 *size, u64 *key, u64 *step)
{
	u32 version;

	*size = MAP_PAGES * EFI_PAGE_SIZE;
	return !l->boot->get_memory_map(size, map, key, step, &version);
}

bool loader_take_range(const struct loader *l, u64 from, u64 to, u64 min, u64 max, u64 *base,
		       u64 *size)
{
	u64 map =
		loader_allocate(l, EFI_ALLOCATE_ANY, EFI_LOADER_DATA, MAP_PAGES * EFI_PAGE_SIZE, 0);
	u64 map_size, key, step;

	*size = 0;
	if (!map || !get_map(l, (void *)map, &map_size, &key, &step))
		return false;
	for (u64 at = 0; at + step <= map_size; at += step) {
		const struct efi_memory_descriptor *d = (void *)(map + at);
		u64 start = MAX(ALIGN_UP(d->physical, SIZE_2M), from);
		u64 end = MIN(d->physical + d->pages * EFI_PAGE_SIZE, to);

		end = end > RANGE_MARGIN ? ALIGN_DOWN(end - RANGE_MARGIN, SIZE_2M) : 0;
		if (d->type != EFI_CONVENTIONAL || end <= start || end - start <= *size)
			continue;
		*base = start;
		*size = MIN(end - start, max);
	}
	return *size >= min &&
	       loader_allocate(l, EFI_ALLOCATE_AT, EFI_LOADER_DATA, *size, *base) == *base;
}

bool loader_exit_boot_services(const struct loader *l)
{
	u64 map =
		loader_allocate(l, EFI_ALLOCATE_ANY, EFI_LOADER_DATA, MAP_PAGES * EFI_PAGE_SIZE, 0);
	u64 size, key, step;

	/* The map may change between the two calls: then once more (UEFI 7.4.6). */
	for (int i = 0; map && i < NR_EXIT_TRIES; i++) {
		if (get_map(l, (void *)map, &size, &key, &step) &&
		    !l->boot->exit_boot_services(l->handle, key))
			return true;
	}
	return false;
}

/* ---- the command line -------------------------------------------------------------------------- */

static void add_char(struct loader *l, size_t *len, char c)
{
	if (*len < ARGS_MAX)
		l->args[(*len)++] = c;
	l->args[*len] = '\0';
}

static bool ends_with_efi(const efi_char *word, size_t len)
{
	static const char suffix[] = ".efi";

	if (len < 4)
		return false;
	for (size_t i = 0; i < 4; i++) {
		if ((word[len - 4 + i] | 0x20) != suffix[i] && word[len - 4 + i] != suffix[i])
			return false;
	}
	return true;
}

/* The image's own arguments, then those of the boot entry or the shell, which win. */
static void make_args(struct loader *l)
{
	static const struct efi_guid loaded_image = {
		0x5b1b31a1, 0x9562, 0x11d2, { 0x8e, 0x3f, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b }
	};
	struct efi_loaded_image *self;
	const efi_char *options;
	size_t len = 0, count, word = 0;

	for (const char *p = payload_args; *p; p++)
		add_char(l, &len, *p);
	if (l->boot->handle_protocol(l->handle, &loaded_image, (void **)&self) || !self->options)
		return;
	options = self->options;
	count = self->options_size / sizeof(*options);
	/* A shell puts the application's name first; a boot entry may hold what is no text. */
	while (word < count && options[word] && options[word] != ' ')
		word++;
	if (!ends_with_efi(options, word))
		word = 0;
	add_char(l, &len, ' ');
	for (; word < count && options[word]; word++) {
		if (options[word] < ' ' || options[word] > '~')
			break;
		add_char(l, &len, options[word]);
	}
}

efi_status EFIAPI efi_main(void *handle, struct efi_system_table *system);

efi_status EFIAPI efi_main(void *handle, struct efi_system_table *system)
{
	struct loader l = { .handle = handle, .system = system, .boot = system->boot };

	relocate();
	make_args(&l);
	loader_say(&l, "kvm-time-tests: ");
	loader_say(&l, l.args);
	loader_say(&l, "\n");
	arch_start_image(&l);
	return EFI_LOAD_ERROR;
}
