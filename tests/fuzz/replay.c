// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a fuzz target over files: for compilers without libFuzzer, and for the unit tests, which run
 * every seed and every input that once found something.
 *
 * Usage: NAME DIRECTORY...
 */
#include "fuzz.h"

#include <dirent.h>
#include <sys/stat.h>

static void replay(const char *path)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	uint8_t *data;

	FUZZ_EXPECT(f && !fstat(fileno(f), &st));
	/* Exactly as long as the file, so that a read behind its end is noticed. */
	data = malloc(st.st_size ? st.st_size : 1);
	FUZZ_EXPECT(data && fread(data, 1, st.st_size, f) == (size_t)st.st_size);
	fclose(f);
	LLVMFuzzerTestOneInput(data, st.st_size);
	free(data);
}

static unsigned int replay_directory(const char *dir)
{
	struct dirent **names;
	unsigned int replayed = 0;
	int n = scandir(dir, &names, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		if (names[i]->d_name[0] != '.') {
			replay(path);
			replayed++;
		}
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return replayed;
}

int main(int argc, char **argv)
{
	unsigned int replayed = 0;

	for (int i = 1; i < argc; i++)
		replayed += replay_directory(argv[i]);
	printf("%u inputs\n", replayed);
	return replayed ? 0 : 1;
}
