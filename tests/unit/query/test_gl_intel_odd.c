/* SPDX-License-Identifier: MIT */
/* A driver of GL_INTEL_performance_query whose lists are legal, or nearly, and odd. */
#include <glib.h>
#include <string.h>

#include "query/gl/api.h"
#include "tests/unit/query/harvest_reading.h"

#define U32 0x94F8u
#define U64 0x94F9u
#define MAX_CALLS 4096u /* more than any sane enumeration makes */

struct odd_counter {
	const char *name, *text;
	unsigned type, size, offset;
};

struct odd_query {
	unsigned id, next;
	const char *name;
	unsigned data_size;
	const struct odd_counter *counters;
	unsigned n;
};

static const struct odd_query *queries;
static unsigned n_queries, n_calls, begun;
static unsigned char result[256];

static bool
has_extension(const struct tally_gl_api *api, const char *name)
{
	(void)api;
	return strcmp(name, "GL_INTEL_performance_query") == 0;
}

static unsigned
get_error(void)
{
	return 0;
}

static const struct odd_query *
find(unsigned id)
{
	g_assert_cmpuint(++n_calls, <, MAX_CALLS);
	for (unsigned i = 0; i < n_queries; i++)
		if (queries[i].id == id)
			return &queries[i];
	g_error("no query %u", id);
	return NULL;
}

static void
get_first(unsigned *id)
{
	*id = n_queries ? queries[0].id : 0;
}

static void
get_next(unsigned id, unsigned *next)
{
	*next = find(id)->next;
}

/* Names that are not terminated, as one reading of the specification allows. */
static void
put_name(const char *text, unsigned size, char *out)
{
	size_t len = strlen(text);
	memcpy(out, text, len < size ? len : size);
}

static void
query_info(unsigned id, unsigned name_size, char *name, unsigned *data_size, unsigned *n,
	   unsigned *instances, unsigned *caps)
{
	const struct odd_query *query = find(id);
	put_name(query->name, name_size, name);
	*data_size = query->data_size;
	*n = query->n;
	*instances = *caps = 0;
}

static void
counter_info(unsigned id, unsigned number, unsigned name_size, char *name, unsigned text_size,
	     char *text, unsigned *offset, unsigned *size, unsigned *type, unsigned *data_type,
	     uint64_t *raw_max)
{
	const struct odd_query *query = find(id);
	g_assert_cmpuint(number, >=, 1);
	g_assert_cmpuint(number, <=, query->n);
	const struct odd_counter *counter = &query->counters[number - 1];
	put_name(counter->name, name_size, name);
	put_name(counter->text, text_size, text);
	*offset = counter->offset;
	*size = counter->size;
	*type = 0x94F0;
	*data_type = counter->type;
	*raw_max = 0;
}

static void
create_query(unsigned id, unsigned *handle)
{
	static unsigned handles;
	find(id);
	*handle = 0x80000001u + handles++;
}

static void
delete_query(unsigned handle)
{
	(void)handle;
}

static void
begin_query(unsigned handle)
{
	begun = handle;
}

static void
get_data(unsigned handle, unsigned flags, int size, void *data, unsigned *written)
{
	(void)handle;
	g_assert_cmphex(flags, ==, 0x83F9);
	g_assert_cmpint(size, <=, (int)sizeof(result));
	memcpy(data, result, (size_t)size);
	*written = (unsigned)size;
}

static struct tally_gl_api api = {
	.version = 46,
	.has_extension = has_extension,
	.GetError = get_error,
	.GetFirstPerfQueryIdINTEL = get_first,
	.GetNextPerfQueryIdINTEL = get_next,
	.GetPerfQueryInfoINTEL = query_info,
	.GetPerfCounterInfoINTEL = counter_info,
	.CreatePerfQueryINTEL = create_query,
	.DeletePerfQueryINTEL = delete_query,
	.BeginPerfQueryINTEL = begin_query,
	.EndPerfQueryINTEL = delete_query,
	.GetPerfQueryDataINTEL = get_data,
};

static struct tally_source *
open_wanted(const struct odd_query *table, unsigned n, const char *wanted)
{
	static struct tally_key_table keys;
	queries = table;
	n_queries = n;
	n_calls = 0;
	tally_key_table_finish(&keys);
	struct tally_source *src = tally_gl_intel_create(&api);
	src->wanted = wanted;
	src->keys = &keys;
	g_assert_cmpint(src->ops->open(src, 4), ==, TALLY_OK);
	return src;
}

static struct tally_source *
open_source(const struct odd_query *table, unsigned n)
{
	return open_wanted(table, n, "all");
}

static void
close_source(struct tally_source *src)
{
	src->ops->close(src);
	tally_source_destroy(src);
}

/* "set: key key | set: key" */
static void
expect_sets(const struct tally_source *src, const char *want)
{
	GString *out = g_string_new("");
	for (uint32_t i = 0; i < src->n_sets; i++) {
		const struct tally_layout *layout = &src->sets[i]->layout;
		g_string_append_printf(out, "%s%s:", i ? " | " : "", layout->set);
		for (uint32_t k = 0; k < layout->n_counters; k++)
			g_string_append_printf(out, " %s", layout->counters[k]->key);
	}
	g_assert_cmpstr(out->str, ==, want);
	g_string_free(out, TRUE);
}

/* The second is a separate counter, unless its offset is that of the first; in another query
 * both are what they are in this one. */
static void
test_alike(void)
{
	static const struct odd_counter first[] = {
		{ "Busy", "Of a slice.", U32, 4, 8 },
		{ "Busy", "Of a slice.", U32, 4, 0 },
		{ "Busy", "Of a slice.", U32, 4, 8 },
		{ "BUSY", "", U64, 8, 16 },
	};
	static const struct odd_counter second[] = { { "Busy", "Of a slice.", U32, 4, 0 } };
	static const struct odd_query table[] = {
		{ 0xfffffff0, 7, "One", 24, first, G_N_ELEMENTS(first) },
		{ 7, 0, "Two", 4, second, G_N_ELEMENTS(second) },
	};
	static const uint32_t at_0 = 11, at_8 = 22;
	static const uint64_t at_16 = UINT64_C(0x8000000000000001);
	struct reading reading;
	struct tally_source *src = open_source(table, G_N_ELEMENTS(table));
	expect_sets(src, "One: busy busy_2 gl-intel.busy | Two: busy");
	g_assert_cmpuint(src->n_counters, ==, 3);
	g_assert_cmpstr(src->sets[0]->layout.counters[1]->description, ==,
			"Of a slice. Its number is 2.");
	memcpy(result, &at_0, sizeof(at_0));
	memcpy(result + 8, &at_8, sizeof(at_8));
	memcpy(result + 16, &at_16, sizeof(at_16));
	src->ops->begin(src, 0);
	g_assert_cmphex(begun, >=, 0x80000001u);
	src->ops->end(src, 0);
	for (int i = 0; i < 4; i++) {
		src->ops->gap(src);
		src->frame++;
	}
	clear(&reading);
	g_assert_cmpint(src->ops->read(src, 0, &reading.sample), ==, TALLY_OK);
	g_assert_cmphex(reading.valid[0], ==, 7);
	g_assert_cmpuint(reading.values[0].u64, ==, at_8);
	g_assert_cmpuint(reading.values[1].u64, ==, at_0);
	g_assert_cmpuint(reading.values[2].u64, ==, at_16);
	close_source(src);
}

/* What follows an unterminated name is not the remainder of the previous one. */
static void
test_names(void)
{
	static const struct odd_counter counters[] = {
		{ "A long name of a counter", "", U32, 4, 0 },
		{ "B", "", U32, 4, 2 }, /* overlaps, and is not aligned */
	};
	static const struct odd_query table[] = {
		{ 1, 2, "A long name of a query", 0, counters, 1 },
		{ 2, 3, "No counters", 64, counters, 0 },
		{ 3, 0, "Q", 6, counters, 2 },
	};
	struct tally_source *src = open_source(table, G_N_ELEMENTS(table));
	expect_sets(src, "A long name of a query: a_long_name_of_a_counter | "
			 "Q: a_long_name_of_a_counter b");
	close_source(src);
}

/* What cannot be decoded is left out and reported. */
static void
test_unread(void)
{
	static const struct odd_counter counters[] = {
		{ "Newer", "", 0x94FD, 4, 0 },
		{ "Too wide", "", U32, 8, 0 },
		{ "Far", "", U32, 4, 0xfffffffc },
		{ "Good", "", U32, 4, 0 },
	};
	static const struct odd_query table[] = {
		{ 1, 0, "Q", 16, counters, G_N_ELEMENTS(counters) },
	};
	struct tally_source *src = open_source(table, 1);
	expect_sets(src, "Q: good");
	g_assert_nonnull(strstr(src->reason, "3 of its counters"));
	close_source(src);
}

/* The overview has what its metrics need, and all where too little of it is known. */
static void
test_overview(void)
{
	static const struct odd_counter counters[] = {
		{ "EU Active", "", U32, 4, 0 },         { "EU Stall", "", U32, 4, 4 },
		{ "Sampler Texels", "", U32, 4, 8 },    { "GPU Busy", "", U32, 4, 12 },
		{ "Rasterized Pixels", "", U32, 4, 16 }, { "Newer", "", 0x94FD, 4, 20 },
	};
	static const char name[] = "Render Metrics Basic set";
	static const struct odd_query table[] = { { 1, 0, name, 24, counters, 6 } };
	static const struct odd_query unknown[] = { { 1, 0, name, 24, counters + 1, 5 } };
	static const struct {
		const struct odd_query *table;
		const char *wanted, *keys;
	} rows[] = {
		{ table, NULL, "eu_active eu_stall sampler_texels rasterized_pixels" },
		{ table, "overview+gpu_busy",
		  "eu_active eu_stall sampler_texels gpu_busy rasterized_pixels" },
		{ table, "all", "eu_active eu_stall sampler_texels gpu_busy rasterized_pixels" },
		{ unknown, NULL, "eu_stall sampler_texels gpu_busy rasterized_pixels" },
		{ unknown, "gpu_busy", "gpu_busy" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct tally_source *src = open_wanted(rows[i].table, 1, rows[i].wanted);
		char *want = g_strdup_printf("%s: %s", name, rows[i].keys);
		expect_sets(src, want);
		g_assert_nonnull(strstr(src->reason, "1 of its counters"));
		g_free(want);
		close_source(src);
	}
}

/* A list of queries that leads back into itself is no longer than its contents. */
static void
test_ring(void)
{
	static const struct odd_counter counters[] = { { "Only", "", U32, 4, 0 } };
	static const struct odd_query table[] = {
		{ 5, 6, "A", 4, counters, 1 },
		{ 6, 7, "B", 4, counters, 1 },
		{ 7, 6, "C", 4, counters, 1 },
	};
	struct tally_source *src = open_source(table, G_N_ELEMENTS(table));
	expect_sets(src, "A: only | B: only | C: only");
	close_source(src);
}

/* More types of query than are examined: reported, not only cut. */
static void
test_many(void)
{
	static const struct odd_counter counters[] = { { "Only", "", U32, 4, 0 } };
	struct odd_query *table = g_new0(struct odd_query, 600);
	for (unsigned i = 0; i < 600; i++)
		table[i] = (struct odd_query){ i + 1, i + 2, "Set", 4, counters, 1 };
	table[599].next = 0;
	struct tally_source *src = open_source(table, 512);
	g_assert_cmpuint(src->n_sets, ==, 512);
	g_assert_nonnull(strstr(src->reason, "more than 512 types of query"));
	close_source(src);
	table[511].next = 0;
	src = open_source(table, 512);
	g_assert_cmpuint(src->n_sets, ==, 512);
	g_assert_cmpstr(src->reason, ==, "");
	close_source(src);
	g_free(table);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/gl_intel_odd/alike", test_alike);
	g_test_add_func("/gl_intel_odd/names", test_names);
	g_test_add_func("/gl_intel_odd/unread", test_unread);
	g_test_add_func("/gl_intel_odd/overview", test_overview);
	g_test_add_func("/gl_intel_odd/ring", test_ring);
	g_test_add_func("/gl_intel_odd/many", test_many);
	return g_test_run();
}
