/* SPDX-License-Identifier: MIT */
/* Runs one scene:  vk_stream SCENE [--frames N],  vk_stream --list */
#include "tests/apps/vk_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct scene *const lists[] = { stream_passes, stream_work, stream_submits,
					     stream_odd, stream_rules };

static const struct scene *
find(const char *name)
{
	for (uint32_t l = 0; l < COUNT(lists); l++)
		for (const struct scene *scene = lists[l]; scene->name; scene++)
			if (strcmp(scene->name, name) == 0)
				return scene;
	return NULL;
}

static int
run(const struct scene *scene, struct stream *s)
{
	if (setjmp(s->out))
		return 3;
	stream_open(s);
	scene->run(s);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: vk_stream SCENE [--frames N] | --list\n", stderr);
		return 2;
	}
	if (strcmp(argv[1], "--list") == 0) {
		for (uint32_t l = 0; l < COUNT(lists); l++)
			for (const struct scene *scene = lists[l]; scene->name; scene++)
				puts(scene->name);
		return 0;
	}
	const struct scene *scene = find(argv[1]);
	if (!scene) {
		fprintf(stderr, "vk_stream: no scene %s\n", argv[1]);
		return 2;
	}
	static struct stream s;
	s.wishes = scene->wishes;
	s.frames = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
	int failed = run(scene, &s);
	stream_close(&s);
	printf("%s %s\n", scene->name, failed ? "failed" : "done");
	return failed;
}
