// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs addr2line for a guest's backtrace.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_config.h"
#include "symbolise.h"
#include "util/memory.h"
#include "util/process.h"
#include "util/text.h"

#define ADDR2LINE_TIMEOUT_NS 5000000000ULL
/* lib/protocol.h: a line has room for fewer. */
#define FRAMES_MAX 128

static const char *const addr2line[ARCH_COUNT] = {
	[ARCH_X86_64] = CONFIG_ADDR2LINE_X86_64,
	[ARCH_ARM64] = CONFIG_ADDR2LINE_ARM64,
};

/*
 * Two lines an address, "function" and "file:line"; empty text when addr2line cannot say. A frame
 * but the innermost is where a call returns to, which may be another line or even another function:
 * the call is before it.
 */
static void ask(enum arch arch, const char *elf, const u64 *pcs, size_t count, struct text *out)
{
	char **argv = memory_zalloc((count + 5) * sizeof(*argv));
	struct text errors = { 0 };
	struct error err;
	int status;

	argv[0] = text_copy(addr2line[arch]);
	argv[1] = text_copy("-f");
	argv[2] = text_copy("-e");
	argv[3] = text_copy(elf);
	for (size_t i = 0; i < count; i++)
		argv[i + 4] = text_format("0x%" PRIx64, i && pcs[i] ? pcs[i] - 1 : pcs[i]);
	if (process_capture(argv, NULL, ADDR2LINE_TIMEOUT_NS, out, &errors, &status, &err) ||
	    !WIFEXITED(status) || WEXITSTATUS(status))
		text_clear(out);
	text_free(&errors);
	words_free(argv);
}

/* The compiler's absolute path, as seen from the suite's directory or the current one. */
static const char *short_path(const char *path)
{
	const char *root = getenv("KTT_ROOT");
	char cwd[4096];

	if (!root)
		root = getcwd(cwd, sizeof(cwd));
	if (root && text_starts_with(path, root) && path[strlen(root)] == '/')
		return path + strlen(root) + 1;
	return path;
}

static void append_frame(struct text *t, u64 pc, const char *function, char *place)
{
	text_printf(t, "0x%" PRIx64, pc);
	if (function && strcmp(function, "??")) {
		char *discriminator = strstr(place, " (discriminator");

		if (discriminator)
			*discriminator = '\0';
		text_printf(t, " %s", function);
		if (!text_starts_with(place, "??"))
			text_printf(t, " at %s", short_path(place));
	}
	text_append_char(t, '\n');
}

char *symbolise(enum arch arch, const char *elf, const u64 *pcs, size_t count)
{
	struct text out = { 0 }, t = { 0 };
	char **lines;
	bool named;

	count = MIN(count, (size_t)FRAMES_MAX);
	if (count)
		ask(arch, elf, pcs, count, &out);
	lines = words_split(text_string(&out), "\n");
	named = words_count(lines) == 2 * count;
	for (size_t i = 0; i < count; i++)
		append_frame(&t, pcs[i], named ? lines[2 * i] : NULL,
			     named ? lines[2 * i + 1] : NULL);
	words_free(lines);
	text_free(&out);
	return text_take(&t);
}
