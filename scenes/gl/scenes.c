/* SPDX-License-Identifier: MIT */
/* scenes/gl/scenes.c - draws one scene a number of times, or prints what a log of it must
 * contain.
 *
 *   passtally-scenes-gl NAME [--frames N] [--api core|compat|gles]
 *               [--platform surfaceless|pbuffer|x11|glx|display | --device N]
 *               [--end present|finish|flush|terminator|label|nothing] [--no-read]
 *               [--expect]
 *   passtally-scenes-gl --list
 *   passtally-scenes-gl --describe [--api compat|gles]
 *               [--platform ... | --device N]
 *
 * Prints the checksum of the final pixels (the scene is drawn once more after the last frame,
 * so that the frames themselves contain only the scene). --device N is EGL's Nth device without
 * a display, and 0 a surfaceless display where EGL has no devices. --describe prints the
 * driver's name for itself; with --api its context is of the highest version. Exit status: 0; 2
 * usage; 77 the request is not available; 78 no such device; 99 GL reported an error.
 */
#include "scenes/gl/scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct scene *const tables[] = {
	target_scenes, transfer_scenes, draw_scenes, context_scenes, measure_scenes,
};
#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

GLuint scene_textures[N_SMALL], scene_framebuffers[N_SMALL];

const char scene_cover_vertex[] =
	"IN vec2 pos;\n"
	"void main() {\n"
	"	vec2 corner = vec2(gl_VertexID == 1, gl_VertexID == 2);\n"
	"	gl_Position = vec4(corner * 4.0 - 1.0, 0.0, 1.0 + 0.0 * pos.x);\n"
	"}\n";

void
scene_make_small(struct stage *s)
{
	bool old = s->options.api == STAGE_GLES && s->options.major < 3;
	for (int i = 0; i < N_SMALL; i++) {
		scene_textures[i] = stage_texture(old ? GL_RGBA : GL_RGBA8, SMALL, SMALL, 1);
		scene_framebuffers[i] = stage_framebuffer(scene_textures[i], 0, 0);
	}
}

void
scene_small_target(struct stage *s, int i)
{
	stage_target(s, scene_framebuffers[i], SMALL, SMALL);
}

void
scene_draw_small(struct stage *s, int i, int count)
{
	scene_small_target(s, i);
	glClear(GL_COLOR_BUFFER_BIT);
	stage_draw(s, 0, count, 4);
}

void
scene_clear_screen(struct stage *s)
{
	stage_target_screen(s);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

void
scene_show(struct stage *s, GLuint texture)
{
	scene_clear_screen(s);
	stage_draw_textured(s, texture);
}

/* NULL: there are no more. */
static const struct scene *
table_at(size_t i)
{
	return i < N_TABLES ? tables[i] : more_scenes ? more_scenes[i - N_TABLES] : NULL;
}

static const struct scene *
find_scene(const char *name)
{
	for (size_t i = 0; table_at(i); i++) {
		for (const struct scene *scene = table_at(i); scene->name; scene++) {
			if (strcmp(scene->name, name) == 0)
				return scene;
		}
	}
	fprintf(stderr, "there is no scene %s; --list names them\n", name);
	exit(2);
}

/* One line per scene: its name, the APIs on which it runs, whether it needs a surface, its
 * devices. */
static void
list_scenes(void)
{
	for (size_t i = 0; table_at(i); i++) {
		for (const struct scene *scene = table_at(i); scene->name; scene++) {
			if (scene->varies)
				continue;
			printf("%s%s%s%s%s\n", scene->name,
			       scene->apis & SCENE_CORE ? " core" : "",
			       scene->apis & SCENE_COMPAT ? " compat" : "",
			       scene->apis & SCENE_GLES ? " gles" : "",
			       scene->needs_surface ? " surface" : "");
		}
	}
}

struct arguments {
	const struct scene *scene;
	struct stage_options options;
	unsigned frames;
	bool has_api, read, expect, describe;
};

static void
parse_arguments(int argc, char **argv, struct arguments *a)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
		if (strcmp(word, "--list") == 0) {
			list_scenes();
			exit(0);
		} else if (strcmp(word, "--no-read") == 0) {
			a->read = false;
		} else if (strcmp(word, "--expect") == 0) {
			a->expect = true;
		} else if (strcmp(word, "--describe") == 0) {
			a->describe = true;
		} else if (strcmp(word, "--device") == 0) {
			a->options.platform = STAGE_DEVICE;
			a->options.device = (int)strtol(value, NULL, 10);
			i++;
		} else if (strcmp(word, "--frames") == 0) {
			a->frames = (unsigned)strtoul(value, NULL, 10);
			i++;
		} else if (strcmp(word, "--api") == 0) {
			a->options.api = stage_parse_api(value);
			a->has_api = true;
			i++;
		} else if (strcmp(word, "--platform") == 0) {
			a->options.platform = stage_parse_platform(value);
			i++;
		} else if (strcmp(word, "--end") == 0) {
			a->options.end = stage_parse_end(value);
			i++;
		} else {
			a->scene = find_scene(word);
		}
	}
}

static void
choose_version(struct arguments *a)
{
	const struct scene *scene = a->scene;
	if (!a->has_api)
		a->options.api = scene->apis & SCENE_CORE     ? STAGE_CORE
				 : scene->apis & SCENE_COMPAT ? STAGE_COMPAT
							      : STAGE_GLES;
	if (!(scene->apis & (1u << a->options.api))) {
		fprintf(stderr, "%s does not run on this API\n", scene->name);
		exit(2);
	}
	if (scene->needs_surface && !stage_has_surface(&a->options))
		stage_skip("this scene needs a surface");
	bool es = a->options.api == STAGE_GLES;
	a->options.major = es ? (scene->es_major ? scene->es_major : 3)
			      : (scene->major ? scene->major : 3);
	a->options.minor = es ? scene->es_minor : (scene->major ? scene->minor : 3);
}

static void
print_expectation(const struct arguments *a)
{
	expect_begin(a->scene->name, a->frames, a->scene->devices);
	printf(",\"gles\":%s", a->options.api == STAGE_GLES ? "true" : "false");
	expect_end(a->scene->passes, a->scene->n_passes, false);
}

static int
describe_driver(const struct arguments *a)
{
	struct stage stage;
	stage_open_bare(&stage, &a->options);
	glClear(GL_COLOR_BUFFER_BIT); /* work, so that a capture describes it, too */
	printf("%s\t%s\t%s\n", (const char *)glGetString(GL_RENDERER),
	       (const char *)glGetString(GL_VERSION), (const char *)glGetString(GL_VENDOR));
	stage_close(&stage);
	return 0;
}

int
main(int argc, char **argv)
{
	struct arguments a = {
		.options = { .platform = STAGE_PBUFFER,
			     .width = SCREEN_WIDTH,
			     .height = SCREEN_HEIGHT },
		.frames = 4,
		.read = true,
	};
	parse_arguments(argc, argv, &a);
	if (a.describe) {
		a.options.major = a.options.minor = a.has_api ? 0 : 3;
		return describe_driver(&a);
	}
	if (!a.scene) {
		fprintf(stderr, "usage: %s NAME [options]; --list names the scenes\n",
			argv[0]);
		return 2;
	}
	choose_version(&a);
	if (a.expect) {
		print_expectation(&a);
		return 0;
	}
	struct stage stage;
	stage_open(&stage, &a.options);
	glClearColor(0.1f, 0.2f, 0.3f, 1.0f);
	if (a.scene->init)
		a.scene->init(&stage);
	stage_check("preparing the scene");
	for (unsigned i = 0; i < a.frames; i++) {
		stage_begin_frame(&stage);
		a.scene->frame(&stage);
		stage_end_frame(&stage);
	}
	stage_check("the frames");
	if (a.read) {
		stage.options.end = STAGE_END_NOTHING;
		a.scene->frame(&stage);
		stage_target_screen(&stage);
		printf("%s %016llx\n", a.scene->name, stage_checksum(&stage));
	}
	if (a.scene->finish)
		a.scene->finish(&stage);
	stage_check("the scene");
	stage_close(&stage);
	return 0;
}
