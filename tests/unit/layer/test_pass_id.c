/* SPDX-License-Identifier: MIT */
#include "layer/pass_id.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

/* One vector, as text and as input of pass_id.c. */
struct vector {
	enum tally_pass_kind kind;
	char *label;
	struct tally_target target;
	struct tally_extent presented;
	uint32_t ordinal;
	char *string;
	uint64_t id;
};

/* What docs/identity.md says, by example. */
static char *
read_vectors(void)
{
	char *path = g_test_build_filename(G_TEST_DIST, "layer", "pass_ids.txt", NULL);
	char *text = NULL;
	GError *error = NULL;
	g_file_get_contents(path, &text, NULL, &error);
	g_assert_no_error(error);
	g_free(path);
	return text;
}

static struct tally_attachment *
attachment_of(struct tally_target *t, const char *role)
{
	if (strcmp(role, "d") == 0)
		return &t->depth;
	if (strcmp(role, "s") == 0)
		return &t->stencil;
	g_assert_true(role[0] == 'c' && role[1] >= '0' && role[1] <= '7' && !role[2]);
	uint32_t i = (uint32_t)(role[1] - '0');
	if (t->n_color <= i)
		t->n_color = i + 1;
	return &t->color[i];
}

static void
parse_targets(struct tally_target *t, const char *text)
{
	if (strcmp(text, "-") == 0)
		return;
	char **items = g_strsplit(text, ",", -1);
	for (char **item = items; *item; item++) {
		char **fields = g_strsplit(*item, ":", -1);
		g_assert_cmpuint(g_strv_length(fields), ==, 4);
		struct tally_attachment *a = attachment_of(t, fields[0]);
		a->format = g_intern_string(fields[1]);
		a->samples = (uint32_t)g_ascii_strtoull(fields[2], NULL, 10);
		a->layers = (uint32_t)g_ascii_strtoull(fields[3], NULL, 10);
		g_strfreev(fields);
	}
	g_strfreev(items);
}

static struct vector
parse_vector(char **lines)
{
	struct vector v = { 0 };
	/* kind label targets size presented ordinal; only the label may hold blanks */
	char *line = lines[0];
	char *space = strchr(line, ' ');
	int kind = tally_name_find(tally_pass_kind_name, TALLY_N_PASS_KINDS, line,
				   (size_t)(space - line));
	g_assert_cmpint(kind, >=, 0);
	v.kind = (enum tally_pass_kind)kind;
	char *rest = space + 1;
	if (*rest == '"') {
		char *quote = strchr(rest + 1, '"');
		*quote = '\0';
		v.label = g_strcompress(rest + 1);
		rest = quote + 2;
	} else {
		g_assert_true(g_str_has_prefix(rest, "none "));
		rest += 5;
	}
	char targets[256];
	g_assert_cmpint(sscanf(rest, "%255s %ux%u %ux%u %u", targets, &v.target.width,
			       &v.target.height, &v.presented.width, &v.presented.height,
			       &v.ordinal),
			==, 6);
	parse_targets(&v.target, targets);
	v.string = g_strstrip(lines[1]);
	v.id = g_ascii_strtoull(g_strstrip(lines[2]), NULL, 16);
	return v;
}

static uint64_t
hash_of(const char *text)
{
	return tally_fnv1a(TALLY_FNV_OFFSET, text, strlen(text));
}

static void
test_vectors(void)
{
	char *text = read_vectors();
	char **all = g_strsplit(text, "\n", -1);
	char **lines = all;
	while (*lines && **lines == '#')
		lines++;
	unsigned n = 0;
	for (unsigned i = 0; lines[i] && lines[i][0]; i += 3, n++) {
		g_test_message("%s", lines[i]);
		struct vector v = parse_vector(lines + i);
		uint64_t base = tally_pass_id_base(v.kind, v.label, &v.target, v.presented);
		g_assert_cmphex(tally_pass_id_finish(base, v.ordinal), ==, v.id);
		g_assert_cmphex(hash_of(v.string), ==, v.id);
		g_free(v.label);
	}
	g_assert_cmpuint(n, ==, 20);
	g_strfreev(all);
	g_free(text);
}

/* Published values of FNV-1a. */
static void
test_fnv(void)
{
	g_assert_cmphex(tally_fnv1a(TALLY_FNV_OFFSET, "", 0), ==, UINT64_C(0xcbf29ce484222325));
	g_assert_cmphex(tally_fnv1a(TALLY_FNV_OFFSET, "a", 1), ==, UINT64_C(0xaf63dc4c8601ec8c));
	g_assert_cmphex(tally_fnv1a(TALLY_FNV_OFFSET, "foobar", 6), ==,
			UINT64_C(0x85944171f73967e8));
}

static const struct {
	uint32_t width, height, presented_width, presented_height;
	const char *want;
} sizes[] = {
	{ 100, 100, 100, 100, "1/1" },
	{ 101, 99, 100, 100, "1/1" },
	{ 102, 100, 100, 100, "102x100" },
	{ 100, 98, 100, 100, "100x98" },
	{ 33, 33, 100, 100, "1/3" },
	{ 16, 8, 96, 48, "1/6" },
	{ 10, 10, 120, 120, "1/12" },
	{ 75, 75, 100, 100, "3/4" },
	{ 400, 200, 300, 150, "4/3" },
	{ 300, 150, 200, 100, "3/2" },
	{ 400, 400, 100, 100, "4/1" },
	{ 500, 500, 100, 100, "500x500" },
	{ 50, 100, 100, 100, "50x100" },
	{ 0, 10, 100, 100, "-" },
	{ 10, 0, 100, 100, "-" },
	{ 10, 10, 0, 0, "10x10" },
	{ 10, 10, 10, 0, "10x10" },
	{ UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, "1/1" },
};

static void
test_size(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		struct tally_target t = { .width = sizes[i].width, .height = sizes[i].height };
		struct tally_extent presented = { sizes[i].presented_width,
						  sizes[i].presented_height };
		char *want = g_strdup_printf("v1|render|label|-|%s|", sizes[i].want);
		g_test_message("%s", want);
		g_assert_cmphex(tally_pass_id_base(TALLY_PASS_RENDER, "label", &t, presented),
				==, hash_of(want));
		g_free(want);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/pass_id/vectors", test_vectors);
	g_test_add_func("/pass_id/fnv", test_fnv);
	g_test_add_func("/pass_id/size", test_size);
	return g_test_run();
}
