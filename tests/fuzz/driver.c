/* SPDX-License-Identifier: MIT */
/* The main() of a fuzz target in the tests: the files of the folders that it is given, each
 * unchanged and changed in `rounds` ways, which are the same every time. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>

#define MAX_FILE (1 << 17)
#define MAX_CHANGED 8192 /* larger inputs are taken as they are */

static uint32_t state = 1;

static uint32_t
roll(uint32_t n)
{
	state = state * UINT32_C(1664525) + UINT32_C(1013904223);
	return (state >> 8) % n;
}

/* Changes a few bytes, usually to bytes that mean something. */
static void
change(uint8_t *bytes, size_t size)
{
	uint32_t n_words = (uint32_t)strlen(fuzz_target.words);
	for (uint32_t n = roll(4) + 1; n > 0; n--) {
		uint8_t *at = &bytes[roll((uint32_t)size)];
		bool any = roll(8) == 0 || !n_words;
		*at = any ? (uint8_t)roll(256) : (uint8_t)fuzz_target.words[roll(n_words)];
	}
}

static int
run_file(const char *path)
{
	static uint8_t bytes[MAX_FILE], changed[MAX_CHANGED];
	FILE *file = fopen(path, "rb");
	if (!file) {
		perror(path);
		return 1;
	}
	size_t size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	LLVMFuzzerTestOneInput(bytes, size);
	for (unsigned i = 0; size && size < MAX_CHANGED && i < fuzz_target.rounds; i++) {
		memcpy(changed, bytes, size);
		change(changed, size);
		LLVMFuzzerTestOneInput(changed, roll(4) ? size : roll((uint32_t)size));
	}
	printf("ok %s\n", path);
	return 0;
}

static int
run_folder(const char *path)
{
	DIR *folder = opendir(path);
	int failed = 0, n = 0;
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		char name[4096];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		failed |= run_file(name);
		n++;
	}
	if (folder)
		closedir(folder);
	if (n == 0)
		fprintf(stderr, "fuzz_%s: %s has no inputs\n", fuzz_target.name, path);
	return failed || n == 0;
}

int
main(int argc, char **argv)
{
	int failed = argc < 2;
	for (int i = 1; i < argc; i++)
		failed |= run_folder(argv[i]);
	return failed;
}
