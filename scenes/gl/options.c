/* SPDX-License-Identifier: MIT */
#include "scenes/gl/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
stage_skip(const char *why)
{
	fprintf(stderr, "skipped: %s\n", why);
	exit(77);
}

void
stage_no_device(void)
{
	fprintf(stderr, "skipped: no such device\n");
	exit(78);
}

void
stage_fail(const char *why)
{
	fprintf(stderr, "failed: %s\n", why);
	exit(99);
}

static int
find_word(const char *const *words, int n, const char *word)
{
	for (int i = 0; i < n; i++) {
		if (strcmp(words[i], word) == 0)
			return i;
	}
	fprintf(stderr, "%s is not one of:", word);
	for (int i = 0; i < n; i++)
		fprintf(stderr, " %s", words[i]);
	fprintf(stderr, "\n");
	exit(2);
}

enum stage_platform
stage_parse_platform(const char *word)
{
	static const char *const words[] = { "surfaceless", "pbuffer", "x11", "glx",
					     "display" };
	return (enum stage_platform)find_word(words, 5, word);
}

enum stage_api
stage_parse_api(const char *word)
{
	static const char *const words[] = { "core", "compat", "gles" };
	return (enum stage_api)find_word(words, 3, word);
}

enum stage_end
stage_parse_end(const char *word)
{
	static const char *const words[] = { "present", "finish", "flush",
					     "terminator", "label", "nothing" };
	return (enum stage_end)find_word(words, 6, word);
}

bool
stage_has_surface(const struct stage_options *options)
{
	return options->platform != STAGE_SURFACELESS && options->platform != STAGE_DEVICE;
}
