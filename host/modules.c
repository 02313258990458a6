// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds modules and their dependencies.
 *
 * Names come from modules.dep (depmod's; it knows additional directories), else from modules.order
 * (the kernel's build; Documentation/kbuild/kbuild.rst), else from walking the directory. What a
 * module depends on comes from itself: modpost writes it into "depends", and what is built in is
 * not in it (scripts/mod/modpost.c, add_depends()). So packages on which depmod never ran will do.
 */
#include "modules.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "util/file.h"
#include "util/memory.h"

/* Of the list files; an allyesconfig's is below 1 MB. */
#define MAX_LIST (64u << 20)
/* Deeper than any directory of modules. */
#define MAX_DEPTH 32

struct known {
	char *name;
	char *path; /* absolute, or from the current directory as the caller's was */
};

struct modules {
	char *dir;
	struct known *known;
	size_t count;
	size_t capacity;
	bool builtin_list; /* there was one */
	char **builtin;
};

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static void know(struct modules *m, const char *path)
{
	if (m->count == m->capacity) {
		m->capacity = m->capacity ? 2 * m->capacity : 256;
		m->known = memory_resize(m->known, m->capacity, sizeof(*m->known));
	}
	m->known[m->count++] = (struct known){ .name = module_name(path), .path = text_copy(path) };
}

static const struct known *find(const struct modules *m, const char *name)
{
	char *wanted = module_name(name);
	const struct known *found = NULL;

	for (size_t i = 0; i < m->count && !found; i++) {
		if (strcmp(m->known[i].name, wanted) == 0)
			found = &m->known[i];
	}
	free(wanted);
	return found;
}

/* "RELATIVE" in dir, or where lists of packages and build trees leave something off. NULL: none. */
static char *existing_file(const char *dir, const char *relative)
{
	static const char *const suffixes[] = { "", ".xz", ".zst", ".gz" };
	/* A build tree's lists may have objects ("kvm.o"), and "kernel/" where it has none. */
	size_t len = strlen(relative) - (text_ends_with(relative, ".o") ? 2 : 0);
	const char *ko = relative[len] ? ".ko" : "";

	for (int short_form = 0; short_form < 2; short_form++) {
		size_t skip = short_form ? strlen("kernel/") : 0;

		if (short_form && !text_starts_with(relative, "kernel/"))
			break;
		for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
			char *path = text_format("%s/%.*s%s%s", dir, (int)(len - skip),
						 relative + skip, ko, suffixes[i]);

			if (exists(path))
				return path;
			free(path);
		}
	}
	return NULL;
}

/* Lines "PATH" or "PATH: PATH…". Entries whose file is missing are not known. */
static int read_list(struct modules *m, const char *list, struct error *err)
{
	struct text content = { 0 };
	char **lines;
	int status = file_read(list, MAX_LIST, &content, err);

	if (status < 0) {
		text_free(&content);
		return -1;
	}
	lines = words_split(text_string(&content), "\n");
	for (char **line = lines; *line; line++) {
		char *path;

		(*line)[strcspn(*line, ": ")] = '\0';
		if (!**line)
			continue;
		path = existing_file(m->dir, *line);
		if (path)
			know(m, path);
		free(path);
	}
	words_free(lines);
	text_free(&content);
	return 0;
}

static bool is_module_name(const char *name)
{
	return text_ends_with(name, ".ko") || text_ends_with(name, ".ko.xz") ||
	       text_ends_with(name, ".ko.zst") || text_ends_with(name, ".ko.gz");
}

/* Links are not followed: "build" and "source" lead out of it. */
static void walk(struct modules *m, const char *dir, unsigned int depth)
{
	struct dirent **names = NULL;
	int count = depth < MAX_DEPTH ? scandir(dir, &names, NULL, alphasort) : 0;

	for (int i = 0; i < count; i++) {
		char *path = text_format("%s/%s", dir, names[i]->d_name);
		struct stat st;

		if (names[i]->d_name[0] != '.' && lstat(path, &st) == 0) {
			if (S_ISDIR(st.st_mode))
				walk(m, path, depth + 1);
			else if (S_ISREG(st.st_mode) && is_module_name(names[i]->d_name))
				know(m, path);
		}
		free(path);
		free(names[i]);
	}
	free(names);
}

static int read_builtin(struct modules *m, struct error *err)
{
	char *path = text_format("%s/modules.builtin", m->dir);
	struct text content = { 0 };
	int status = 0;

	if (exists(path)) {
		status = file_read(path, MAX_LIST, &content, err);
		m->builtin_list = status == 0;
	}
	m->builtin = words_split(text_string(&content), "\n");
	for (char **line = m->builtin; *line; line++) {
		char *name = module_name(*line);

		free(*line);
		*line = name;
	}
	text_free(&content);
	free(path);
	return status;
}

/* The only directory in "dir/below", or NULL; err is set where there are several. */
static char *only_directory(const char *dir, const char *below, struct error *err)
{
	char *parent = text_format("%s/%s", dir, below), *found = NULL;
	DIR *stream = opendir(parent);
	struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		char *path = text_format("%s/%s", parent, entry->d_name);
		struct stat st;

		if (entry->d_name[0] == '.' || stat(path, &st) || !S_ISDIR(st.st_mode)) {
			free(path);
		} else if (!found) {
			found = path;
		} else {
			error_set(err,
				  "%s has modules of several kernels (%s, %s): give the one "
				  "directory that is meant",
				  parent, found, path);
			free(path);
			free(found);
			found = NULL;
			break;
		}
	}
	if (stream)
		closedir(stream);
	free(parent);
	return found;
}

/* The directory with the modules themselves, given that or what holds it. NULL with err set. */
static char *modules_dir(const char *dir, struct error *err)
{
	static const char *const below[] = { "lib/modules", "usr/lib/modules" };
	struct stat st;

	if (stat(dir, &st) < 0) {
		error_set(err, "modules directory %s: %s", dir, strerror(errno));
		return NULL;
	}
	if (!S_ISDIR(st.st_mode)) {
		error_set(err, "modules directory %s: no directory", dir);
		return NULL;
	}
	err->text[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		char *found = only_directory(dir, below[i], err);

		if (found || err->text[0])
			return found;
	}
	return text_copy(dir);
}

static int read_names(struct modules *m, struct error *err)
{
	static const char *const lists[] = { "modules.dep", "modules.order" };

	for (size_t i = 0; i < ARRAY_SIZE(lists) && m->count == 0; i++) {
		char *list = text_format("%s/%s", m->dir, lists[i]);
		int status = exists(list) ? read_list(m, list, err) : 0;

		free(list);
		if (status < 0)
			return -1;
	}
	if (m->count == 0)
		walk(m, m->dir, 0);
	return read_builtin(m, err);
}

struct modules *modules_open(const char *dir, struct error *err)
{
	struct modules *m = memory_zalloc(sizeof(*m));

	m->dir = modules_dir(dir, err);
	if (!m->dir || read_names(m, err) < 0) {
		modules_close(m);
		return NULL;
	}
	if (m->count == 0 && !m->builtin_list) {
		error_set(err,
			  "%s: no kernel modules in it (looked for modules.dep, modules.order, "
			  "modules.builtin and *.ko, *.ko.xz, *.ko.zst)",
			  m->dir);
		modules_close(m);
		return NULL;
	}
	return m;
}

void modules_close(struct modules *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++) {
		free(m->known[i].name);
		free(m->known[i].path);
	}
	free(m->known);
	words_free(m->builtin);
	free(m->dir);
	free(m);
}

enum module_state modules_state(const struct modules *m, const char *name)
{
	char *wanted = module_name(name);
	enum module_state state = m->builtin_list ? MODULE_ABSENT : MODULE_UNKNOWN;

	if (find(m, wanted))
		state = MODULE_FILE;
	else if (words_have(m->builtin, wanted))
		state = MODULE_BUILT_IN;
	free(wanted);
	return state;
}

static bool listed(const struct module_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->files[i].name, name) == 0)
			return true;
	}
	return false;
}

/* Is the module one that goes with the others? */
static int check_file(const struct module_file *file, enum arch arch,
		      const struct module_list *list, struct error *err)
{
	const struct module_file *first = list->count ? &list->files[0] : NULL;

	if (file->arch != arch)
		return error_set(err, "%s: a module for %s, not for %s", file->path,
				 arch_to_name(file->arch), arch_to_name(arch));
	if (first && first->release && file->release && strcmp(first->release, file->release))
		return error_set(err,
				 "%s is of kernel %s, but %s of %s: the modules directory is a "
				 "mixture; build or install its modules again",
				 file->path, file->release, first->path, first->release);
	return 0;
}

/* The modules whose dependencies are being looked for, innermost first. */
struct chain {
	const struct known *known;
	const struct chain *outer;
};

static bool in_chain(const struct chain *chain, const struct known *known)
{
	while (chain && chain->known != known)
		chain = chain->outer;
	return chain != NULL;
}

static int select_one(const struct modules *m, enum arch arch, const struct known *known,
		      const struct chain *outer, struct module_list *list, struct error *err);

static int select_dependencies(const struct modules *m, enum arch arch,
			       const struct module_file *file, const struct chain *chain,
			       struct module_list *list, struct error *err)
{
	for (char **name = file->depends; *name; name++) {
		const struct known *needed = find(m, *name);

		if (!needed)
			return error_set(err,
					 "%s needs module %s, which is not in %s: give the "
					 "directory with all of the kernel's modules",
					 file->path, *name, m->dir);
		if (select_one(m, arch, needed, chain, list, err) < 0)
			return -1;
	}
	return 0;
}

static int select_one(const struct modules *m, enum arch arch, const struct known *known,
		      const struct chain *outer, struct module_list *list, struct error *err)
{
	struct chain chain = { known, outer };
	struct module_file file;

	if (listed(list, known->name))
		return 0;
	if (in_chain(outer, known))
		return error_set(err, "%s: depends on itself, so that it cannot be loaded",
				 known->path);
	if (module_file_read(known->path, &file, err) < 0)
		return -1;
	if (select_dependencies(m, arch, &file, &chain, list, err) < 0 ||
	    check_file(&file, arch, list, err) < 0) {
		module_file_free(&file);
		return -1;
	}
	list->files = memory_resize(list->files, list->count + 1, sizeof(*list->files));
	list->files[list->count++] = file;
	return 0;
}

int modules_select(const struct modules *m, enum arch arch, const char *const *names,
		   struct module_list *list, struct error *err)
{
	for (; *names; names++) {
		const struct known *known = find(m, *names);

		if (known && select_one(m, arch, known, NULL, list, err) < 0)
			return -1;
	}
	return 0;
}

void module_list_free(struct module_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		module_file_free(&list->files[i]);
	free(list->files);
	*list = (struct module_list){ 0 };
}

int module_list_pack(const struct module_list *list, const char *list_path, struct initramfs *fs,
		     struct error *err)
{
	struct text paths = { 0 };
	int status = 0;

	for (size_t i = 0; i < list->count && status == 0; i++) {
		const struct module_file *file = &list->files[i];
		char *path = text_format("/modules/%s.ko", file->name);

		text_printf(&paths, "%s\n", path);
		status = initramfs_add_data(fs, path, 0644, file->content.data, file->content.len,
					    err);
		free(path);
	}
	if (status == 0)
		status = initramfs_add_data(fs, list_path, 0644, text_string(&paths), paths.len,
					    err);
	text_free(&paths);
	return status;
}
