/* SPDX-License-Identifier: MIT */
/* tests/apps/hygiene.c - checks whether a game can see that another component issues queries in
 * its context.
 *
 *   hygiene core|compat|gles [PART] [--platform surfaceless|pbuffer|x11|glx]
 *
 * Runs the parts that fit the API, each in a context of its own, and prints what the game can
 * see. tests/live/hygiene.py compares the output with and without passtally.
 */
#include "tests/apps/hygiene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 64

void
hygiene_errors(const char *where)
{
	GLenum error;
	while ((error = glGetError()))
		printf("  error 0x%04x %s\n", error, where);
}

void
hygiene_pass(struct hygiene *h, int target, int count)
{
	if (target < 0)
		stage_target_screen(h->s);
	else
		stage_target(h->s, h->framebuffers[target], SMALL, SMALL);
	stage_draw(h->s, 0, count, 3);
}

void
hygiene_swap(struct hygiene *h)
{
	stage_swap(h->s);
}

static void
run_part(const struct hygiene_part *part, const struct stage_options *options)
{
	struct stage stage;
	struct hygiene h = { .s = &stage };
	printf("%s\n", part->name);
	fflush(stdout);
	stage_open(&stage, options);
	for (int i = 0; i < 2; i++) {
		h.textures[i] = stage_texture(options->api == STAGE_GLES ? GL_RGBA : GL_RGBA8,
			SMALL,
					      SMALL, 1);
		h.framebuffers[i] = stage_framebuffer(h.textures[i], 0, 0);
	}
	stage_target_screen(&stage);
	hygiene_errors("while preparing");
	part->run(&h);
	hygiene_errors("at the end");
	stage_close(&stage);
}

static int
run_parts(const struct hygiene_part *parts, const char *only,
	  const struct stage_options *options)
{
	int n = 0;
	for (; parts->name; parts++) {
		if (!(parts->apis & (1u << options->api)) || (only && strcmp(only,
			parts->name) != 0))
			continue;
		run_part(parts, options);
		n++;
	}
	return n;
}

int
main(int argc, char **argv)
{
	struct stage_options options = {
		.platform = STAGE_PBUFFER, .width = 128, .height = 128, .major = 4, .minor = 5
	};
	const char *only = NULL;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "core") == 0) {
			options.api = STAGE_CORE;
		} else if (strcmp(argv[i], "compat") == 0) {
			options.api = STAGE_COMPAT;
		} else if (strcmp(argv[i], "gles") == 0) {
			options.api = STAGE_GLES;
			options.major = 3;
			options.minor = 1;
		} else if (strcmp(argv[i], "--platform") == 0 && i + 1 < argc) {
			options.platform = stage_parse_platform(argv[++i]);
		} else {
			only = argv[i];
		}
	}
	if (run_parts(query_parts, only, &options) +
		    run_parts(state_parts, only, &options) ==
	    0) {
		fprintf(stderr, "no such part for this API\n");
		return 2;
	}
	return 0;
}
