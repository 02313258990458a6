// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares expected/ with a run. Entries are taken out of their files with the comment above them and
 * put into a file of their own, where somebody who knows why sorts them in.
 */
#include "expected_update.h"

#include <stdlib.h>
#include <string.h>
#include "record.h"
#include "util/file.h"
#include "util/memory.h"

#define FILE_BYTES_MAX (1u << 20)
#define CONTEXT	       3 /* lines of a diff's hunk around a change */
#define NEW_ENTRIES    "unsorted.cfg"
#define REASON_MAX     160

/* ---- entries that match nothing ----------------------------------------------------------------- */

/* The test's record with all its checks, or NULL where the run has none such. */
static const json_t *whole_record(const json_t *run, const struct test *test)
{
	const json_t *tests = json_object_get(run, "tests");

	for (size_t i = 0; i < json_array_size(tests); i++) {
		const json_t *record = json_array_get(tests, i);
		enum verdict raw = verdict_from_name(record_string(record, "raw_verdict"));

		if (strcmp(record_string(record, "key"), test->key))
			continue;
		/* One check alone was asked for, or the image did not come to its end. */
		if (strstr(record_string(record, "command"), "check=") || raw >= VERDICT_TIMEOUT)
			return NULL;
		return json_array_size(json_object_get(record, "checks")) ? record : NULL;
	}
	return NULL;
}

static bool has_check(const struct expectation *e, const struct test *test, const json_t *record)
{
	const json_t *checks = json_object_get(record, "checks");

	for (size_t i = 0; i < json_array_size(checks); i++) {
		if (expectation_may_concern(e, test,
					    record_text(json_array_get(checks, i), "name")))
			return true;
	}
	return false;
}

/* Whether the entry is about nothing; *why says what is missing. */
static bool is_unmatched(const struct expected_update *u, const struct expectation *e,
			 const char **why)
{
	bool any = false;

	for (size_t i = 0; i < u->config->count; i++) {
		const struct test *test = &u->config->tests[i];
		const json_t *record;

		if (!expectation_names_test(e, test))
			continue;
		any = true;
		if (!strchr(e->subject, '.'))
			return false;
		record = whole_record(u->run, test);
		if (!record || has_check(e, test, record))
			return false;
	}
	*why = any ? "no such check any more" : "no such test any more";
	return true;
}

size_t expected_unmatched(const struct expected_update *u, struct text *out)
{
	size_t count = 0;

	for (size_t i = 0; i < u->expectations->count; i++) {
		const struct expectation *e = &u->expectations->list[i];
		const char *why;

		if (!is_unmatched(u, e, &why))
			continue;
		text_printf(out, "%s:%u: [%s] matches nothing: %s\n", e->file, e->line, e->subject,
			    why);
		count++;
	}
	return count;
}

/* ---- entries that only passed ------------------------------------------------------------------- */

/* How often the run came upon the entry of that place. */
struct uses {
	unsigned held;	 /* it failed as the entry says */
	unsigned passed; /* it did not fail */
};

static void count_use(const json_t *object, const struct expectation *e, struct uses *uses)
{
	const json_t *expected = json_object_get(object, "expected");

	if (!expected || record_count(expected, "line") != e->line ||
	    strcmp(record_string(expected, "file"), e->file))
		return;
	if (record_flag(object, "unexpected_pass"))
		uses->passed++;
	else if (record_verdict(object) == VERDICT_XFAIL)
		uses->held++;
}

static bool only_passed(const struct expected_update *u, const struct expectation *e)
{
	const json_t *tests = json_object_get(u->run, "tests");
	struct uses uses = { 0 };

	for (size_t i = 0; i < json_array_size(tests); i++) {
		const json_t *test = json_array_get(tests, i);
		const json_t *checks = json_object_get(test, "checks");

		count_use(test, e, &uses);
		for (size_t j = 0; j < json_array_size(checks); j++)
			count_use(json_array_get(checks, j), e, &uses);
	}
	return uses.passed && !uses.held;
}

/* ---- the diff ----------------------------------------------------------------------------------- */

/* A file's lines, each with a mark: is it to go? */
struct file_lines {
	char **lines;
	bool *goes;
	size_t count;
};

static int lines_read(const char *path, struct file_lines *f, struct error *err)
{
	struct text content = { 0 };
	size_t max = 1;

	*f = (struct file_lines){ 0 };
	if (file_read(path, FILE_BYTES_MAX, &content, err)) {
		text_free(&content);
		return -1;
	}
	for (size_t i = 0; i < content.len; i++)
		max += content.data[i] == '\n';
	f->lines = memory_zalloc((max + 1) * sizeof(*f->lines));
	f->goes = memory_zalloc(max + 1);
	for (const char *p = text_string(&content); *p;) {
		size_t len = strcspn(p, "\n");

		f->lines[f->count++] = text_copy_bytes(p, len);
		p += len + (p[len] == '\n');
	}
	text_free(&content);
	return 0;
}

static void lines_free(struct file_lines *f)
{
	words_free(f->lines);
	free(f->goes);
}

static bool is_comment(const char *line)
{
	return *line == '#';
}

/*
 * Marks an entry: its section down to the next, the comment right above it, and the empty lines
 * behind. The comment above the next section stays that one's.
 */
static void mark_entry(struct file_lines *f, unsigned line)
{
	size_t first = line - 1, end = line;

	if (!line || line > f->count)
		return;
	while (first && is_comment(f->lines[first - 1]))
		first--;
	if (!first)
		first = line - 1; /* the file's own head */
	while (end < f->count && *f->lines[end] != '[')
		end++;
	if (end < f->count) {
		while (end > line && is_comment(f->lines[end - 1]))
			end--;
	}
	for (size_t i = first; i < end; i++)
		f->goes[i] = true;
}

/* One hunk from the first to the last line that goes, with what is around and between. */
static void add_removals(const char *name, const struct file_lines *f, struct text *out)
{
	size_t first = 0, last = f->count, gone = 0, start, end;

	while (first < f->count && !f->goes[first])
		first++;
	if (first == f->count)
		return;
	while (!f->goes[last - 1])
		last--;
	start = first > CONTEXT ? first - CONTEXT : 0;
	end = MIN(last + CONTEXT, f->count);
	for (size_t i = start; i < end; i++)
		gone += f->goes[i];
	text_printf(out, "--- a/%s\n+++ b/%s\n@@ -%zu,%zu +%zu,%zu @@\n", name, name, start + 1,
		    end - start, start + 1, end - start - gone);
	for (size_t i = start; i < end; i++)
		text_printf(out, "%c%s\n", f->goes[i] ? '-' : ' ', f->lines[i]);
}

/* Below the suite's directory, as in its repository. */
static const char *name_below(const char *root, const char *path)
{
	size_t len = strlen(root);

	return !strncmp(path, root, len) && path[len] == '/' ? path + len + 1 : path;
}

/* All entries of one file: those of the list from "first" on that are of it. */
static int diff_file(const struct expected_update *u, size_t first, struct text *out,
		     struct error *err)
{
	const char *file = u->expectations->list[first].file;
	struct file_lines f;

	if (lines_read(file, &f, err))
		return -1;
	for (size_t i = first; i < u->expectations->count; i++) {
		const struct expectation *e = &u->expectations->list[i];
		const char *why;

		if (!strcmp(e->file, file) && (only_passed(u, e) || is_unmatched(u, e, &why)))
			mark_entry(&f, e->line);
	}
	add_removals(name_below(u->root, file), &f, out);
	lines_free(&f);
	return 0;
}

/* ---- new entries -------------------------------------------------------------------------------- */

static const json_t *target_of(const json_t *run, const char *arch)
{
	const json_t *targets = json_object_get(run, "targets");

	for (size_t i = 0; i < json_array_size(targets); i++) {
		if (!strcmp(record_string(json_array_get(targets, i), "arch"), arch))
			return json_array_get(targets, i);
	}
	return NULL;
}

/* The kernel whose KVM it was: the booted one's in kernel mode, else this host's. */
static const char *kernel_of(const json_t *run, const char *arch)
{
	const json_t *environment = json_object_get(run, "environment");
	const json_t *booted = json_object_get(json_object_get(environment, "kernel_mode"), arch);

	return record_string(json_object_get(booted ? booted : environment, "host"), "kernel");
}

/* "6.12" of "6.12.4-amd64". */
static void add_version(struct text *out, const char *key, const char *version)
{
	size_t len = strspn(version, "0123456789");

	if (len && version[len] == '.')
		len += 1 + strspn(version + len + 1, "0123456789");
	if (len)
		text_printf(out, "%s = %.*s\n", key, (int)len, version);
}

/* One line, without what would begin a comment in the file. */
static void add_reason(struct text *out, const json_t *object)
{
	const json_t *figures = json_object_get(object, "diagnostics");
	const char *seen = record_text(object, "reason");
	size_t len = 0;

	if (!seen && json_array_size(figures))
		seen = json_string_value(json_array_get(figures, json_array_size(figures) - 1));
	text_append(out, "reason = to be explained");
	if (seen && *seen)
		text_append(out, "; seen: ");
	for (; seen && *seen && len < REASON_MAX; seen++, len++)
		text_append_char(out, *seen == '\n' || *seen == '#' ? ' ' : *seen);
	text_append(out, "\n");
}

/* check: its record, or NULL for the test's own verdict. */
static void add_entry(const struct expected_update *u, const json_t *test, const json_t *check,
		      struct text *out)
{
	const char *arch = record_string(test, "arch"), *vmm = record_string(test, "vmm");
	const char *accel = record_string(test, "accel");
	const json_t *object = check ? check : test;

	if (out->len)
		text_append(out, "\n");
	text_printf(out, "[%s%s%s]\nverdict = %s\narch = %s\nvmm = %s\naccel = %s\n",
		    record_string(test, "name"), check ? "." : "",
		    check ? record_string(check, "name") : "", record_string(object, "verdict"),
		    arch, vmm, accel);
	if (!strcmp(vmm, "qemu"))
		add_version(out, "qemu", record_string(target_of(u->run, arch), "vmm_version"));
	if (!strcmp(accel, "kvm"))
		add_version(out, "kernel", kernel_of(u->run, arch));
	add_reason(out, object);
}

static void add_entries_of_test(const struct expected_update *u, const json_t *test,
				struct text *out)
{
	const json_t *checks = json_object_get(test, "checks");
	enum verdict worst = VERDICT_SKIP;

	if (record_count(test, "repetition") > 1)
		return;
	for (size_t i = 0; i < json_array_size(checks); i++) {
		const json_t *check = json_array_get(checks, i);

		if (!record_is_leaf(check) || record_verdict(check) < VERDICT_FAIL)
			continue;
		worst = verdict_worse(worst, record_verdict(check));
		add_entry(u, test, check, out);
	}
	/* What no check has accounts for: the test's own trouble. */
	if (record_verdict(test) >= VERDICT_FAIL && record_verdict(test) > worst)
		add_entry(u, test, NULL, out);
}

/* As lines that are added to the end of their file. */
static void diff_new_entries(const struct expected_update *u, struct text *out)
{
	const json_t *tests = json_object_get(u->run, "tests");
	struct text entries = { 0 };
	struct file_lines old = { 0 };
	size_t added = 0, start, context;
	struct error none;
	const char *name;
	char *path;

	for (size_t i = 0; i < json_array_size(tests); i++)
		add_entries_of_test(u, json_array_get(tests, i), &entries);
	if (!entries.len)
		return;
	path = text_format("%s/" NEW_ENTRIES, u->dir);
	name = name_below(u->root, path);
	if (lines_read(path, &old, &none))
		text_printf(out, "--- /dev/null\n+++ b/%s\n", name);
	else
		text_printf(out, "--- a/%s\n+++ b/%s\n", name, name);
	added = old.count > 0; /* an empty line between */
	for (const char *p = text_string(&entries); *p; p++)
		added += *p == '\n';
	start = old.count > CONTEXT ? old.count - CONTEXT : 0;
	context = old.count - start;
	text_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", context ? start + 1 : 0, context, start + 1,
		    context + added);
	for (size_t i = start; i < old.count; i++)
		text_printf(out, " %s\n", old.lines[i]);
	if (old.count)
		text_append(out, "+\n");
	for (const char *p = text_string(&entries); *p;) {
		size_t len = strcspn(p, "\n");

		text_printf(out, "+%.*s\n", (int)len, p);
		p += len + 1;
	}
	lines_free(&old);
	text_free(&entries);
	free(path);
}

int expected_diff(const struct expected_update *u, struct text *out, struct error *err)
{
	const struct expectations *e = u->expectations;

	for (size_t i = 0; i < e->count; i++) {
		if ((!i || strcmp(e->list[i].file, e->list[i - 1].file)) &&
		    diff_file(u, i, out, err))
			return -1;
	}
	diff_new_entries(u, out);
	return 0;
}
