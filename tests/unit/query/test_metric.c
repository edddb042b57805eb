/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "layer/config/file.h"
#include "layer/log.h"
#include "query/metric/bind.h"
#include "query/metric/metric.h"
#include "query/metric/set.h"

#define MAX_ROOM 1024

/* A device that counts all of a Mali layout, and a few more. */
struct device {
	const struct tally_counter *counters[MAX_ROOM];
	struct tally_constant constants[8];
	struct tally_metric_inputs in;
	struct tally_keyed_value values[MAX_ROOM];
	struct tally_keyed_value out[MAX_ROOM];
	struct tally_metric_values pass;
};

static const struct tally_counter generic[] = {
	{ .key = "fragment_shader_invocations", .name = "f" },
	{ .key = "cpu_cycles", .name = "c" },
	{ .key = "cpu_instructions", .name = "i" },
	{ .key = "CPUActivityUser.Cluster[0]", .name = "u0" },
	{ .key = "CPUActivityTime.Cluster[0]", .name = "t0" },
	{ .key = "CPUActivityUser.Cluster[1]", .name = "u1" },
	{ .key = "CPUActivityTime.Cluster[1]", .name = "t1" },
	{ .key = "CyclesCPUCycles.Cluster[1]", .name = "y1" },
	{ .key = "gl-intel.x-y", .name = "hyphens" },
};

static struct device *
make_device(const char *layout)
{
	struct device *d = g_new0(struct device, 1);
	const struct tally_mali_product *product = layout ? tally_mali_find_name(layout) : NULL;
	d->in.counters = d->counters;
	d->in.constants = d->constants;
	d->in.layout = product ? product->layout : NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(generic); i++)
		d->counters[d->in.n_counters++] = &generic[i];
	for (uint32_t i = 0; d->in.layout && i < d->in.layout->n_counters; i++)
		d->counters[d->in.n_counters++] = &d->in.layout->counters[i].counter;
	if (layout) {
		d->constants[d->in.n_constants++] = (struct tally_constant){
			"MaliConstantsShaderCoreCount", 4
		};
		d->constants[d->in.n_constants++] = (struct tally_constant){
			"MaliConstantsL2SliceCount", 2
		};
		d->constants[d->in.n_constants++] = (struct tally_constant){
			"MaliConstantsBusWidthBits", 128
		};
	}
	d->pass.counters = d->values;
	return d;
}

static void
set_value(struct device *d, const char *key, uint64_t value)
{
	d->values[d->pass.n_counters++] = (struct tally_keyed_value){
		.key = key,
		.value = { .storage = TALLY_STORAGE_U64, .u64 = value },
	};
}

static const struct tally_keyed_value *
find_value(const struct device *d, uint32_t n, const char *key)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(d->out[i].key, key) == 0)
			return &d->out[i];
	}
	return NULL;
}

/* The value of the expression as one of the user's metrics, for these values: NAN where it is
 * absent, and INFINITY where it cannot be bound. */
static double
value_of(struct device *d, enum tally_dialect dialect, const char *expression)
{
	const struct tally_metric own = { .key = "own",
					  .name = "own",
					  .unit = "1",
					  .expression = expression,
					  .dialect = dialect,
					  .layouts = "" };
	struct tally_metric_set *set = tally_metric_set_create(&d->in, &own, 1, "own");
	g_assert_nonnull(set);
	double got = INFINITY;
	if (tally_metric_set_size(set) > 0) {
		g_assert_cmpuint(tally_metric_set_size(set), ==, 1);
		struct tally_metric_info info = tally_metric_set_info(set, 0);
		g_assert_cmpstr(info.key, ==, "own");
		g_assert_cmpstr(info.expression, ==, expression);
		g_assert_cmpstr(info.dialect, ==, tally_dialect_name(dialect));
		uint32_t n = tally_metric_set_evaluate(set, &d->pass, d->out);
		got = n ? d->out[0].value.f64 : NAN;
	}
	tally_metric_set_destroy(set);
	return got;
}

#define ARM TALLY_DIALECT_ARM
#define ARM_2022 TALLY_DIALECT_ARM_2022
#define BIFROST TALLY_DIALECT_BIFROST
#define OURS TALLY_DIALECT_PASSTALLY

/* For a Mali-G715 of 4 cores: GPU_ACTIVE 1000, GPU_ITER_ACTIVE 800, FRAG_WARPS 4000 in
 * total. */
static void
test_dialects(void)
{
	static const struct {
		enum tally_dialect dialect;
		const char *expression;
		double want;
	} rows[] = {
		{ ARM, "$MaliGPUCyclesGPUActive", 800 },
		{ ARM_2022, "$MaliGPUCyclesGPUActive", 1000 },
		{ ARM, "$MaliGPUCyclesGPUActiveRaw", 1000 },
		{ ARM_2022, "$MaliGPUCyclesAnyIteratorActive", 800 },
		{ ARM, "$MaliGPUCyclesAnyIteratorActive", 800 },
		{ ARM, "$MaliShaderWarpsFragmentWarps", 4000 },
		{ ARM_2022, "$MaliCoreWarpsFragmentWarps", 1000 },
		{ ARM_2022, "$MaliShaderWarpsFragmentWarps", 1000 },
		{ ARM, "$MaliCoreWarpsFragmentWarps", 4000 },
		{ OURS, "$MaliShaderWarpsFragmentWarps", 4000 },
		{ ARM, "$MaliShaderWarpsFragmentWarps.mean", 1000 },
		{ OURS, "$MaliShaderWarpsFragmentWarps.mean", 1000 },
		{ ARM_2022, "$MaliCoreWarpsFragmentWarps.mean", 1000 },
		{ ARM, "$FRAG_WARPS.mean", 1000 },
		{ ARM, "$MaliGPUCyclesGPUActiveRaw.mean", INFINITY },
		{ ARM, "$NoSuchName", INFINITY },
		{ ARM, "$NoSuchName.mean", INFINITY },
		{ ARM, "$MaliConstantsShaderCoreCount", 4 },
		{ ARM, "MALI_CONFIG_SHADER_CORE_COUNT", 4 },
		{ ARM, "MALI_CONFIG_L2_CACHE_COUNT", 2 },
		{ ARM, "MALI_CONFIG_EXT_BUS_BYTE_SIZE", 16 },
		{ ARM, "$MaliConstantsBusWidthBits / 8", 16 },
		{ ARM, "$MaliGPUWarpSize", 16 },
		{ ARM, "$MaliGPUTileSize", 32 },
		{ ARM, "$GPU_MHZ", INFINITY },
		{ ARM, "$draws", 10 },
		{ ARM, "$vertices", 30 },
		{ ARM, "$dispatches", NAN },
		{ ARM, "$gpu_ns", 2e9 },
		{ ARM, "$ZOOM", 2 },
		{ ARM, "$duration_s + MALI_CONFIG_TIME_SPAN", 4 },
		{ ARM, "$pixels", 64 },
		{ ARM, "$draws / $MaliCSFCyclesMCUActive", NAN },
		{ ARM, "${gl-intel.x-y} * 2", 14 },
		{ ARM, "$cpu_cycles", NAN },
		/* A metric by its key: 1600 cycles of 4 cores in 800. */
		{ ARM, "$MaliShaderClockRatioShaderCoreClockRatio / 100", 0.5 },
	};
	struct device *d = make_device("Mali-G715");
	const struct tally_call_counts call_counts = { .draws = 10,
						       .vertices = 30,
						       .dispatches = 5 };
	d->pass.call_counts = &call_counts;
	d->pass.unknown = TALLY_UNKNOWN_DISPATCHES;
	d->pass.has_gpu = true;
	d->pass.gpu_ns = 2000000000;
	d->pass.pixels = 64;
	set_value(d, "MaliGPUCyclesGPUActiveRaw", 1000);
	set_value(d, "MaliGPUCyclesAnyQueueActive", 800);
	set_value(d, "MaliShaderWarpsFragmentWarps", 4000);
	set_value(d, "MaliCSFCyclesMCUActive", 0);
	set_value(d, "MaliShaderCoreCyclesAnyWorkloadActive", 1600);
	set_value(d, "gl-intel.x-y", 7);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		double got = value_of(d, rows[i].dialect, rows[i].expression);
		g_test_message("%s: %g", rows[i].expression, got);
		if (isnan(rows[i].want))
			g_assert_true(isnan(got));
		else
			g_assert_cmpfloat(got, ==, rows[i].want);
	}
	g_free(d);
}

static void
test_bifrost(void)
{
	static const struct {
		const char *expression;
		double want;
	} rows[] = {
		{ "SC.FRAG_QUADS", 100 },
		{ "$SC.FRAG_QUADS.mean", 100 },
		{ "JM.GPU_ACTIVE", 50 },
		{ "SC.GPU_ACTIVE", 50 }, /* as the document misspells it */
		{ "SUM(L2.EXTERNAL_READ_BEATS * L2.AXI_WIDTH_BYTES)", 16 * 9 },
		{ "SC.TEX_INSTRS", INFINITY }, /* only Mali-G71 and Mali-G72 have it */
		{ "SC.FRAG_QUAD_CYCLES", 1.5 }, /* 300 cycles for 100 warps of two quads */
	};
	struct device *d = make_device("Mali-G76");
	set_value(d, "MaliShaderWarpsFragmentWarps", 400);
	set_value(d, "MaliShaderCoreCyclesFragmentActive", 1200);
	set_value(d, "MaliGPUCyclesGPUActive", 50);
	set_value(d, "MaliExternalBusBeatsReadBeats", 9);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_test_message("%s", rows[i].expression);
		g_assert_cmpfloat(value_of(d, BIFROST, rows[i].expression), ==, rows[i].want);
	}
	g_assert_cmpfloat(value_of(d, ARM, "SC.FRAG_QUADS"), ==, 400);
	g_free(d);
}

/* A device without a layout: means, aliases and Mali constants are absent. */
static void
test_no_layout(void)
{
	struct device *d = make_device(NULL);
	set_value(d, "cpu_cycles", 10);
	set_value(d, "cpu_instructions", 25);
	g_assert_cmpfloat(value_of(d, ARM, "$cpu_instructions / $cpu_cycles"), ==, 2.5);
	g_assert_true(isinf(value_of(d, ARM, "$cpu_cycles.mean")));
	g_assert_true(isinf(value_of(d, ARM, "$MaliGPUWarpSize")));
	g_assert_true(isinf(value_of(d, ARM_2022, "$MaliGPUCyclesGPUActive")));
	g_assert_true(isnan(value_of(d, ARM, "$draws + $gpu_ns + $pixels")));
	struct tally_metric_set *set = tally_metric_set_create(&d->in, NULL, 0, "all");
	for (uint32_t i = 0; i < tally_metric_set_size(set); i++)
		g_assert_false(g_str_has_prefix(tally_metric_set_info(set, i).key, "Mali"));
	tally_metric_set_destroy(set);
	g_free(d);
}

static void
test_circles(void)
{
	static const struct tally_metric own[] = {
		{ .key = "a",
		  .name = "a",
		  .unit = "1",
		  .expression = "b + 1",
		  .layouts = "" },
		{ .key = "b",
		  .name = "b",
		  .unit = "1",
		  .expression = "c + 1",
		  .layouts = "" },
		{ .key = "c",
		  .name = "c",
		  .unit = "1",
		  .expression = "a + 1",
		  .layouts = "" },
		{ .key = "self",
		  .name = "s",
		  .unit = "1",
		  .expression = "self",
		  .layouts = "" },
		{ .key = "on_a",
		  .name = "o",
		  .unit = "1",
		  .expression = "a * 0",
		  .layouts = "" },
		{ .key = "d",
		  .name = "d",
		  .unit = "1",
		  .expression = "e + 1",
		  .layouts = "" },
		{ .key = "e",
		  .name = "e",
		  .unit = "1",
		  .expression = "cpu_cycles",
		  .layouts = "" },
	};
	struct device *d = make_device(NULL);
	struct tally_metric_set *set = tally_metric_set_create(&d->in, own, G_N_ELEMENTS(own),
							       "a,b,c,self,on_a,d");
	g_assert_cmpuint(tally_metric_set_size(set), ==, 1);
	g_assert_cmpstr(tally_metric_set_info(set, 0).key, ==, "d");
	set_value(d, "cpu_cycles", 10);
	g_assert_cmpuint(tally_metric_set_evaluate(set, &d->pass, d->out), ==, 1);
	g_assert_cmpfloat(d->out[0].value.f64, ==, 11);
	tally_metric_set_destroy(set);
	g_free(d);
}

/* A chain of metrics may have any length and begin anywhere, but must not be circular. */
static void
test_chain(void)
{
	struct tally_metric own[200];
	char keys[200][16], expressions[200][16];
	for (unsigned i = 0; i < 200; i++) {
		g_snprintf(keys[i], sizeof(keys[i]), "m%u", i);
		g_snprintf(expressions[i], sizeof(expressions[i]), "m%u + 1", i + 1);
		own[i] = (struct tally_metric){ .key = keys[i],
						.name = keys[i],
						.unit = "1",
						.expression = expressions[i],
						.layouts = "" };
	}
	own[199].expression = "1";
	struct device *d = make_device(NULL);
	struct tally_metric_set *set = tally_metric_set_create(&d->in, own, 200, "m190");
	g_assert_cmpuint(tally_metric_set_evaluate(set, &d->pass, d->out), ==, 1);
	g_assert_cmpfloat(d->out[0].value.f64, ==, 10);
	tally_metric_set_destroy(set);
	set = tally_metric_set_create(&d->in, own, 200, "m0");
	g_assert_cmpuint(tally_metric_set_evaluate(set, &d->pass, d->out), ==, 1);
	g_assert_cmpfloat(d->out[0].value.f64, ==, 200);
	tally_metric_set_destroy(set);
	set = tally_metric_set_create(&d->in, own, 200, "m*");
	g_assert_cmpuint(tally_metric_set_size(set), >=, 200);
	tally_metric_set_destroy(set);
	own[199].expression = "m0 + 1";
	set = tally_metric_set_create(&d->in, own, 200, "m0,m7,m100");
	g_assert_cmpuint(tally_metric_set_size(set), ==, 0);
	tally_metric_set_destroy(set);
	g_free(d);
}

static void keep_message(void *data, const char *message);

/* The user is informed which metrics name something that does not exist, and which are
 * circular. */
static void
test_broken(void)
{
	static const struct tally_metric own[] = {
		{ .key = "u",
		  .name = "u",
		  .unit = "1",
		  .expression = "cpu_cycels",
		  .layouts = "" },
		{ .key = "v",
		  .name = "v",
		  .unit = "1",
		  .expression = "draws",
		  .layouts = "" },
	};
	struct device *d = make_device(NULL);
	struct tally_note_record note;
	while (tally_log_take(&note))
		;
	struct tally_metric_set *set = tally_metric_set_create(&d->in, own, 2, "u,v");
	g_assert_cmpuint(tally_metric_set_size(set), ==, 1);
	g_assert_true(tally_log_take(&note));
	g_assert_nonnull(strstr(note.message, "metric u is left out"));
	g_assert_nonnull(strstr(note.message, "cpu_cycels"));
	g_assert_false(tally_log_take(&note));
	tally_metric_set_destroy(set);
	/* A built-in one that is named, and of which an input is not counted. */
	set = tally_metric_set_create(&d->in, NULL, 0, "none_such,samples_per_pixel,vertex_reu*");
	g_assert_cmpuint(tally_metric_set_size(set), ==, 0);
	g_assert_true(tally_log_take(&note));
	g_assert_nonnull(strstr(note.message, "metric samples_per_pixel is left out"));
	g_assert_nonnull(strstr(note.message, "\"samples_passed\""));
	g_assert_false(tally_log_take(&note));
	tally_metric_set_destroy(set);
	g_free(d);

	static const char *const chain[][2] = {
		{ "c1", "c2 + 1" },     { "c2", "c1 * 2" }, { "on", "c1 + 1" },
		{ "good", "fine + 1" }, { "fine", "1" },    { "self", "self" },
	};
	static char file[] = "f";
	struct tally_config_metric from[G_N_ELEMENTS(chain)] = { 0 };
	for (size_t i = 0; i < G_N_ELEMENTS(from); i++) {
		from[i].key = (char *)chain[i][0];
		from[i].expression = (char *)chain[i][1];
		from[i].file = file;
	}
	struct tally_config config = { .metrics = from, .n_metrics = G_N_ELEMENTS(from) };
	struct tally_metric left[G_N_ELEMENTS(from)];
	GString *said = g_string_new(NULL);
	g_assert_cmpuint(tally_metric_read_own(&config, left, keep_message, said), ==, 3);
	g_assert_cmpstr(left[0].key, ==, "on"); /* which may name a counter, too */
	g_assert_cmpstr(left[1].key, ==, "good");
	g_assert_cmpstr(left[2].key, ==, "fine");
	g_assert_nonnull(strstr(said->str, "metric c1: it is in a circle"));
	g_assert_nonnull(strstr(said->str, "metric self: it is in a circle"));
	g_assert_null(strstr(said->str, "metric good"));
	g_string_free(said, TRUE);
}

static void
test_wanted(void)
{
	static const struct tally_metric own = { .key = "overdraw",
						 .name = "mine",
						 .unit = "1",
						 .expression = "42",
						 .layouts = "",
						 .overview = true };
	struct device *d = make_device("Mali-G715");
	struct tally_metric_set *set = tally_metric_set_create(&d->in, &own, 1, NULL);
	uint32_t n = tally_metric_set_size(set);
	/* About ten of the GPU's, and a few of any device's. */
	g_assert_cmpuint(n, >=, 10);
	g_assert_cmpuint(n, <=, 24);
	bool found = false;
	for (uint32_t i = 0; i < n; i++) {
		struct tally_metric_info info = tally_metric_set_info(set, i);
		g_assert_false(g_str_has_prefix(info.key, "g715."));
		found |= strcmp(info.key, "overdraw") == 0 && strcmp(info.expression, "42") == 0;
	}
	g_assert_true(found); /* the user's own metric takes precedence over the built-in one */
	tally_metric_set_destroy(set);

	set = tally_metric_set_create(&d->in, NULL, 0, "arm-2022");
	g_assert_cmpuint(tally_metric_set_size(set), ==, 112 + 2 + 1); /* activity twice */
	tally_metric_set_destroy(set);
	set = tally_metric_set_create(&d->in, NULL, 0, "Fragment warp OCC*");
	g_assert_cmpuint(tally_metric_set_size(set), ==, 2); /* of both dialects */
	tally_metric_set_destroy(set);
	set = tally_metric_set_create(&d->in, NULL, 0,
				      "primitives + MaliALU*.mean + SHADER_CORE_ACTIVE.mean");
	n = tally_metric_set_size(set);
	g_assert_cmpuint(n, >, 4);
	for (uint32_t i = 0; i < n; i++)
		g_assert_true(g_str_has_suffix(tally_metric_set_info(set, i).key, ".mean"));
	tally_metric_set_destroy(set);
	set = tally_metric_set_create(&d->in, NULL, 0, "fragment_shader_invocations");
	g_assert_cmpuint(tally_metric_set_size(set), ==, 0);
	g_assert_cmpuint(tally_metric_set_evaluate(set, &d->pass, d->out), ==, 0);
	tally_metric_set_destroy(set);
	g_free(d);
}

static void
test_clusters(void)
{
	struct device *d = make_device(NULL);
	struct tally_metric_set *set = tally_metric_set_create(&d->in, NULL, 0, "g715.*");
	g_assert_cmpuint(tally_metric_set_size(set), ==, 3);
	set_value(d, "CPUActivityUser.Cluster[0]", 3);
	set_value(d, "CPUActivityTime.Cluster[0]", 4);
	set_value(d, "CPUActivityUser.Cluster[1]", 9);
	set_value(d, "CPUActivityTime.Cluster[1]", 4);
	set_value(d, "CyclesCPUCycles.Cluster[1]", 77);
	uint32_t n = tally_metric_set_evaluate(set, &d->pass, d->out);
	g_assert_cmpuint(n, ==, 3);
	g_assert_cmpfloat(find_value(d, n, "g715.cpu_activity[0]")->value.f64, ==, 75);
	g_assert_cmpfloat(find_value(d, n, "g715.cpu_activity[1]")->value.f64, ==, 100);
	g_assert_cmpfloat(find_value(d, n, "g715.cpu_cycles[1]")->value.f64, ==, 77);
	tally_metric_set_destroy(set);
	g_free(d);
}

/* Keys by pointer, by text, from the second list; estimates are passed on; nothing remains of
 * the previous pass. */
static void
test_inputs(void)
{
	static const struct tally_metric own[] = {
		{ .key = "ipc",
		  .name = "i",
		  .unit = "1",
		  .expression = "cpu_instructions / cpu_cycles",
		  .layouts = "" },
		{ .key = "twice",
		  .name = "t",
		  .unit = "1",
		  .expression = "ipc * 2",
		  .layouts = "" },
		{ .key = "other",
		  .name = "o",
		  .unit = "1",
		  .expression = "cpu_cycles - 1",
		  .layouts = "" },
	};
	struct device *d = make_device(NULL);
	struct tally_metric_set *set = tally_metric_set_create(&d->in, own, 3,
							       "ipc,twice,other");
	char copy[] = "cpu_instructions";
	struct tally_keyed_value more = {
		.key = copy,
		.value = { .storage = TALLY_STORAGE_F64, .f64 = 5 },
		.estimated = true,
	};
	set_value(d, generic[1].key, 2);
	set_value(d, "unknown_key", 3);
	set_value(d, generic[0].key, 3);
	d->pass.more = &more;
	d->pass.n_more = 1;
	uint32_t n = tally_metric_set_evaluate(set, &d->pass, d->out);
	g_assert_cmpuint(n, ==, 3);
	g_assert_cmpfloat(find_value(d, n, "ipc")->value.f64, ==, 2.5);
	g_assert_cmpfloat(find_value(d, n, "twice")->value.f64, ==, 5);
	g_assert_true(find_value(d, n, "ipc")->estimated);
	g_assert_true(find_value(d, n, "twice")->estimated);
	g_assert_false(find_value(d, n, "other")->estimated);
	memcpy(copy, "cpu_instructionz", sizeof(copy));
	n = tally_metric_set_evaluate(set, &d->pass, d->out);
	g_assert_cmpuint(n, ==, 1);
	g_assert_cmpstr(d->out[0].key, ==, "other");
	d->pass.n_counters = 0;
	g_assert_cmpuint(tally_metric_set_evaluate(set, &d->pass, d->out), ==, 0);
	tally_metric_set_destroy(set);
	g_free(d);
}

/* All built-in metrics: their descriptions are complete, and a percentage lies between 0 and
 * 100. */
static void
test_built_in(void)
{
	bool used[TALLY_N_DIALECTS] = { false };
	for (uint32_t i = 0; i < tally_n_metrics; i++) {
		struct tally_metric m = tally_metric_at(i);
		struct tally_expr_error error;
		g_test_message("%s", m.key);
		g_assert_true(m.key[0] && m.name[0] && m.unit[0] && m.layouts);
		used[m.dialect] = true;
		struct tally_expr *e = tally_expr_parse(m.expression,
							strlen(m.expression), &error);
		g_assert_nonnull(e);
		tally_expr_destroy(e);
		if (m.printed)
			g_assert_cmpstr(m.printed, !=, m.expression);
		if (m.printed && m.dialect == TALLY_DIALECT_BIFROST)
			g_assert_nonnull(m.erratum);
		for (const char *p = m.layouts; *p && *p != '*';) {
			size_t n = strcspn(p, ",");
			g_autofree char *name = g_strndup(p, n);
			const struct tally_mali_product *product = tally_mali_find_name(name);
			g_assert_true(product && product->layout);
			g_assert_cmpstr(product->layout->name, ==, name);
			p += n + (p[n] != '\0');
		}
	}
	for (unsigned i = 0; i < TALLY_N_DIALECTS; i++)
		g_assert_true(used[i]);
	g_assert_null(tally_dialect_name(TALLY_N_DIALECTS));
}

static void
test_percentages(void)
{
	for (uint32_t l = 0; l < tally_mali_n_layouts; l++) {
		struct device *d = make_device(tally_mali_layout(l)->name);
		struct tally_metric_set *set = tally_metric_set_create(&d->in, NULL, 0, "all");
		unsigned percentages = 0, edges = 0;
		for (unsigned round = 0; round < 60; round++) {
			d->pass.n_counters = 0;
			for (uint32_t i = 0; i < d->in.n_counters; i++) {
				uint64_t wide = (uint64_t)g_test_rand_int() << 32 |
						(uint32_t)g_test_rand_int();
				bool zero = round % 5 == 0 && wide % 3 == 0;
				set_value(d, d->counters[i]->key,
					  zero ? 0 : wide >> (wide % 63));
			}
			uint32_t n = tally_metric_set_evaluate(set, &d->pass, d->out);
			g_assert_cmpuint(n, >, 20);
			for (uint32_t i = 0; i < n; i++) {
				double v = d->out[i].value.f64;
				g_assert_true(isfinite(v));
				g_assert_false(v == 0 && signbit(v));
				struct tally_metric_info info = { .unit = "" };
				for (uint32_t k = 0; k < tally_metric_set_size(set); k++) {
					if (tally_metric_set_info(set, k).key == d->out[i].key)
						info = tally_metric_set_info(set, k);
				}
				if (strcmp(info.unit, "percent") != 0)
					continue;
				g_assert_cmpfloat(v, >=, 0);
				g_assert_cmpfloat(v, <=, 100);
				percentages++;
				edges += v == 0 || v == 100;
			}
		}
		g_assert_cmpuint(percentages, >, 1000);
		g_assert_cmpuint(edges, <, percentages);
		tally_metric_set_destroy(set);
		g_free(d);
	}
}

static void
keep_message(void *data, const char *message)
{
	g_string_append_printf(data, "%s|", message);
}

static void
test_own(void)
{
	static const char text[] = "[passtally]\n"
				   "skip = 2\n"
				   "[metric good]\n"
				   "expression = $draws * 2\n"
				   "name = Twice\n"
				   "unit = draws\n"
				   "dialect = passtally\n"
				   "[metric bad]\n"
				   "  expression = max($a, \n"
				   "[metric \xc3\xa9]\n"
				   "expression = 1\n"
				   "[ metric  x[0] ]\n"
				   "expression = 1 +* 2\n"
				   "[metric klingon]\n"
				   "expression = 1\n"
				   "dialect = klingon\n"
				   "[metric empty]\n"
				   "[metric plain]\n"
				   "expression = $b\n";
	char *dir = g_dir_make_tmp("passtally-metric-XXXXXX", NULL);
	char *path = g_build_filename(dir, "a.conf", NULL);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	struct tally_config config;
	GString *said = g_string_new(NULL);
	tally_config_init(&config);
	g_assert_false(
		tally_config_read_file(&config, path, TALLY_FROM_USER_FILE, keep_message, said));
	g_assert_nonnull(strstr(said->str, "a.conf:10: a metric is headed"));
	g_assert_nonnull(strstr(said->str, "a.conf:17: metric empty has no expression"));
	g_assert_cmpuint(config.skip, ==, 2);
	g_assert_cmpuint(config.n_metrics, ==, 5);
	g_string_truncate(said, 0);
	struct tally_metric own[5];
	g_assert_cmpuint(tally_metric_read_own(&config, own, keep_message, said), ==, 2);
	g_assert_cmpstr(own[0].key, ==, "good");
	g_assert_cmpstr(own[0].name, ==, "Twice");
	g_assert_cmpstr(own[0].unit, ==, "draws");
	g_assert_cmpint(own[0].dialect, ==, TALLY_DIALECT_PASSTALLY);
	g_assert_cmpstr(own[1].name, ==, "plain");
	g_assert_cmpstr(own[1].unit, ==, "1");
	g_assert_cmpint(own[1].dialect, ==, TALLY_DIALECT_ARM);
	g_assert_nonnull(strstr(said->str, "a.conf:9:23: metric bad: expected"));
	g_assert_null(strchr(said->str, '\n')); /* a message is one line */
	g_assert_nonnull(strstr(said->str, "a.conf:13:17: metric x[0]: expected"));
	g_assert_nonnull(strstr(said->str,
				"a.conf:14: metric klingon: the dialect has to be arm"));
	g_assert_cmpuint(tally_metric_read_own(&config, own, NULL, NULL), ==, 2);
	g_string_free(said, TRUE);
	tally_config_finish(&config);
	g_remove(path);
	g_rmdir(dir);
	g_free(path);
	g_free(dir);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/metric/dialects", test_dialects);
	g_test_add_func("/metric/bifrost", test_bifrost);
	g_test_add_func("/metric/no_layout", test_no_layout);
	g_test_add_func("/metric/circles", test_circles);
	g_test_add_func("/metric/chain", test_chain);
	g_test_add_func("/metric/broken", test_broken);
	g_test_add_func("/metric/wanted", test_wanted);
	g_test_add_func("/metric/clusters", test_clusters);
	g_test_add_func("/metric/inputs", test_inputs);
	g_test_add_func("/metric/built_in", test_built_in);
	g_test_add_func("/metric/percentages", test_percentages);
	g_test_add_func("/metric/own", test_own);
	return g_test_run();
}
