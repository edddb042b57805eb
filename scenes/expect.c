/* SPDX-License-Identifier: MIT */
/* scenes/expect.c - the expectation of a scene as JSON. */
#include "scenes/expect.h"

#include <stdio.h>
#include <time.h>

uint64_t
scene_clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static const char *separator;

void
expect_number(const char *key, long long value)
{
	printf("%s\"%s\":%lld", separator, key, value);
	separator = ",";
}

void
expect_word(const char *key, const char *word)
{
	const char *quote = word ? "\"" : "";
	printf("%s\"%s\":%s%s%s", separator, key, quote, word ? word : "null", quote);
	separator = ",";
}

/* A number, or null where the log must leave it out. */
static void
print_or_absent(const char *key, long long value, unsigned absent)
{
	if (absent)
		expect_word(key, NULL);
	else
		expect_number(key, value);
}

static void
open_object(const char *key)
{
	printf("%s\"%s\":{", separator, key);
	separator = "";
}

static void
close_object(void)
{
	printf("}");
	separator = ",";
}

/* null: there must be none. `by_draw`: with granularity draw, where each draw is counted alone
 * and may have a value although the pass may not. */
static void
print_counters(const struct expect_pass *p, bool vulkan, bool by_draw)
{
	const char *key = by_draw ? "counters_by_draw" : "counters";
	if (p->unsure & EXPECT_NO_COUNTERS && !(by_draw && p->primitives)) {
		expect_word(key, NULL);
		return;
	}
	open_object(key);
	bool render = p->kind[0] == 'r';
	if (render && !(p->unsure & EXPECT_ANY_PRIMITIVES))
		expect_number("primitives_submitted", p->primitives);
	if (render && !(p->unsure & EXPECT_ANY_SHADED))
		expect_number("vertex_shader_invocations", p->shaded);
	if (render && vulkan && !(p->unsure & EXPECT_ANY_FRAGMENTS))
		expect_number("fragment_shader_invocations", p->fragments);
	if (p->computed)
		expect_number("compute_shader_invocations", p->computed);
	close_object();
}

static void
print_target(const struct expect_pass *p)
{
	open_object("target");
	if ((p->kind[0] == 'r' || p->width > 0) && p->width >= 0) {
		expect_number("width", p->width ? p->width : SCREEN_WIDTH);
		expect_number("height", p->height ? p->height : SCREEN_HEIGHT);
	}
	if (p->layers)
		expect_number("layers", p->layers);
	if (p->samples)
		expect_number("samples", p->samples);
	if (p->colors)
		expect_number("colors", p->colors > 0 ? p->colors : 0);
	const char *words[][2] = {
		{ "color", p->color }, { "depth", p->depth },
		{ "load", p->load }, { "store", p->store },
	};
	for (int i = 0; i < 4; i++)
		if (words[i][1])
			expect_word(words[i][0], words[i][1]);
	close_object();
}

static void
print_vulkan(const struct expect_pass *p)
{
	print_counters(p, true, true);
	int commands = p->draws + p->dispatches + p->copies + p->clears;
	print_or_absent("workloads", p->workloads ? p->workloads : commands,
			p->unsure & EXPECT_ANY_WORKLOADS);
	expect_word("time", p->unsure & EXPECT_NO_TIME ? "none" : "own");
	expect_number("submission", p->submission);
}

static void
print_opengl(const struct expect_pass *p, int index)
{
	if (p->fragments)
		expect_number("fragments", p->fragments);
	expect_number("same_as", p->same_as ? p->same_as - 1 : index);
	expect_number("segment", p->segment);
	expect_number("context", p->context);
}

void
expect_begin(const char *scene, unsigned frames, unsigned devices)
{
	separator = "";
	printf("{");
	expect_word("scene", scene);
	expect_number("frames", frames);
	expect_number("devices", devices ? devices : 1);
}

void
expect_end(const struct expect_pass *passes, int n, bool vulkan)
{
	printf(",\"passes\":[");
	for (int i = 0; i < n; i++) {
		const struct expect_pass *p = &passes[i];
		printf("%s", i ? ",{" : "{");
		separator = "";
		expect_word("kind", p->kind);
		expect_word("label", p->label);
		expect_word("flags", p->flags ? p->flags : "");
		print_or_absent("draws", p->draws, p->unsure & EXPECT_NO_DRAWS);
		print_or_absent("vertices", p->vertices, p->unsure & EXPECT_NO_VERTICES);
		print_or_absent("instances", p->instances, p->unsure & EXPECT_NO_INSTANCES);
		expect_number("dispatches", p->dispatches);
		if (!(p->unsure & EXPECT_ANY_COPIES))
			expect_number("copies", p->copies);
		expect_number("clears", p->clears);
		print_counters(p, vulkan, false);
		print_target(p);
		expect_number("device", p->device);
		if (vulkan)
			print_vulkan(p);
		else
			print_opengl(p, i);
		printf("}");
	}
	printf("]}\n");
}
