/* SPDX-License-Identifier: MIT */
/* scenes/gl/expect.c - the expectation of a scene as JSON. */
#include "scenes/gl/scenes.h"

#include <stdio.h>

static const char *separator;

static void
print_number(const char *key, long long value)
{
	printf("%s\"%s\":%lld", separator, key, value);
	separator = ",";
}

static void
print_word(const char *key, const char *word)
{
	if (word)
		printf("%s\"%s\":\"%s\"", separator, key, word);
	else
		printf("%s\"%s\":null", separator, key);
	separator = ",";
}

/* A number, or null where the log must leave it out. */
static void
print_or_absent(const char *key, long long value, bool absent)
{
	if (absent)
		print_word(key, NULL);
	else
		print_number(key, value);
}

static void
print_counters(const struct expect_pass *p)
{
	bool render = p->kind[0] == 'r';
	printf("%s\"counters\":{", separator);
	separator = "";
	if (render && !(p->unsure & EXPECT_ANY_PRIMITIVES))
		print_number("primitives_submitted", p->primitives);
	if (render && !(p->unsure & EXPECT_ANY_SHADED))
		print_number("vertex_shader_invocations", p->shaded);
	if (p->shaded_compute)
		print_number("compute_shader_invocations", p->shaded_compute);
	printf("}");
	separator = ",";
}

static void
print_target(const struct expect_pass *p, const struct stage_options *options)
{
	printf("%s\"target\":{", separator);
	separator = "";
	if (p->kind[0] == 'r' && p->width >= 0) {
		print_number("width", p->width ? p->width : options->width);
		print_number("height", p->height ? p->height : options->height);
	}
	if (p->samples)
		print_number("samples", p->samples);
	if (p->colors)
		print_number("colors", p->colors > 0 ? p->colors : 0);
	if (p->depth)
		print_word("depth", p->depth);
	if (p->load)
		print_word("load", p->load);
	if (p->store)
		print_word("store", p->store);
	printf("}");
	separator = ",";
}

static void
print_pass(const struct expect_pass *p, int index, const struct stage_options *options)
{
	separator = "";
	printf("{");
	print_word("kind", p->kind);
	print_word("label", p->label);
	print_word("flags", p->flags ? p->flags : "");
	print_or_absent("draws", p->draws, p->unsure & EXPECT_NO_DRAWS);
	print_or_absent("vertices", p->vertices, p->unsure & EXPECT_NO_VERTICES);
	print_or_absent("instances", p->instances, p->unsure & EXPECT_NO_INSTANCES);
	print_number("dispatches", p->dispatches);
	if (p->fragments)
		print_number("fragments", p->fragments);
	if (!(p->unsure & EXPECT_ANY_COPIES))
		print_number("copies", p->copies);
	print_number("clears", p->clears);
	print_counters(p);
	print_target(p, options);
	print_number("same_as", p->same_as ? p->same_as - 1 : index);
	print_number("segment", p->segment);
	print_number("context", p->context);
	print_number("device", p->device);
	printf("}");
}

void
expect_print(const struct scene *scene, const struct stage_options *options, unsigned frames)
{
	printf("{\"scene\":\"%s\",\"frames\":%u,\"devices\":%u,\"gles\":%s,\"passes\":[",
		scene->name,
	       frames, scene->devices ? scene->devices : 1,
	       options->api == STAGE_GLES ? "true" : "false");
	for (int i = 0; i < scene->n_passes; i++) {
		printf("%s", i ? "," : "");
		print_pass(&scene->passes[i], i, options);
	}
	printf("]}\n");
}
