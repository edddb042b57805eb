/* SPDX-License-Identifier: MIT */
/* Records to lines and back: tests/golden/log-1.jsonl, byte for byte and field for field. */
#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "json/record_json.h"

#define N(array) ((uint32_t)G_N_ELEMENTS(array))
#define U64(v) \
	{ \
		.storage = TALLY_STORAGE_U64, .u64 = (v) \
	}
#define I64(v) \
	{ \
		.storage = TALLY_STORAGE_I64, .i64 = (v) \
	}
#define F64(v) \
	{ \
		.storage = TALLY_STORAGE_F64, .f64 = (v) \
	}

/* ---- the golden log's records ---- */

static const char *const argv_words[] = { "game", "--level", "caf\xc3\xa9 \"1\"\n", "" };
static const struct tally_option_record options[] = {
	{ "counters", "overview" },
	{ "frame", "present" },
	{ "skip", "3" },
};
static const struct tally_tag_record tags[] = {
	{ "build", "1234" },
	{ "scene", "caf\xc3\xa9 \"1\"" },
};
static const struct tally_header_record header = {
	.version = "0.1.0",
	.program = "/usr/games/caf\xe9/C:\\xampp\\game",
	.argv = argv_words,
	.n_argv = N(argv_words),
	.has_argv = true,
	.pid = 4321,
	.started_unix_ns = UINT64_C(1709210096007000001), /* 2024-02-29T12:34:56.007000001Z */
	.options = options,
	.n_options = N(options),
	.run = "01234567-89ab-4cde-8f01-23456789abcd",
	.tags = tags,
	.n_tags = N(tags),
	.os = "Debian GNU/Linux 12 (bookworm)",
	.kernel = "Linux 6.1.0-28-amd64 x86_64",
	.cpu = "AMD Ryzen 7 5800X 8-Core Processor",
	.cpus = 16,
	.memory_bytes = UINT64_C(34359738368),
	.session = TALLY_SESSION_X11,
	.host = "forge",
};

static const struct tally_counter shader_runs = {
	.key = "vertex_shader_invocations",
	.name = "Vertex shader invocations",
	.unit = "1",
	.source = "gl-statistics",
	.description = "How often the vertex shader ran.",
	.kind = TALLY_KIND_EVENT,
	.scope = TALLY_SCOPE_PASS,
};
static const struct tally_counter busy = {
	.key = "gpu.busy",
	.name = "GPU busy",
	.unit = "percent",
	.source = "mali-kbase",
	.kind = TALLY_KIND_RATIO,
	.scope = TALLY_SCOPE_DEVICE,
};
static const struct tally_counter *const gl_counters[] = { &shader_runs, &busy };
static const struct tally_source_info gl_sources[] = {
	{ "api", true, NULL },
	{ "gl-timestamp", true, NULL },
	{ "gl-intel", false, "the driver does not offer GL_INTEL_performance_query" },
};
static const struct tally_metric_info gl_metrics[] = {
	{ "overdraw", "Overdraw", "1", "$samples_passed / $pixels", "arm" },
};
static const struct tally_device_record gl_device = {
	.device = 0,
	.api = TALLY_API_OPENGL,
	.name = "llvmpipe (LLVM 15.0.6, 256 bits)",
	.driver = "Mesa",
	.driver_version = "22.3.6",
	.vendor_id = 0x1002,
	.has_device_id = true,
	.device_id = 0,
	.driver_id = 3,
	.pci = "0000:03:00.0",
	.uuid = "00000000-0300-0000-0000-000000000000",
	.beneath = 1,
	.serialized_by = "gl-statistics: ends each pass on the GPU",
	.sources = gl_sources,
	.n_sources = N(gl_sources),
	.counters = gl_counters,
	.n_counters = N(gl_counters),
	.metrics = gl_metrics,
	.n_metrics = N(gl_metrics),
};
static const struct tally_device_record vk_device = {
	.device = 1,
	.api = TALLY_API_VULKAN,
	.beneath = -1,
};

static const struct tally_pass_info_record shadow_info = {
	.id = UINT64_C(0x00ab54a98ceb1f0a),
	.kind = TALLY_PASS_RENDER,
	.label = "Scene/Shadow",
	.target = {
		.width = 2048, .height = 1024, .layers = 4, .samples = 1,
		.depth = { .format = "DEPTH_COMPONENT24" },
		.stencil = { .format = "STENCIL_INDEX8" },
	},
	.load = TALLY_LOAD_CLEAR,
	.store = TALLY_STORE_STORE,
	.groups = "Near, Far",
};
static const struct tally_pass_info_record main_info = {
	.id = UINT64_C(0xfedcba9876543210),
	.kind = TALLY_PASS_RENDER,
	.label = "Scene/M\\xc3ain \\ \xff\xc3(",
	.target = {
		.width = 1920, .height = 1080, .layers = 1, .samples = 4, .n_color = 3,
		.color = { { .format = "RGBA8" }, { .format = NULL }, { .format = "?" } },
		.presented = true,
	},
	.load = TALLY_LOAD_DONT_CARE,
	.store = TALLY_STORE_RESOLVE,
};
static const struct tally_pass_info_record compute_info = {
	.id = 1,
	.kind = TALLY_PASS_COMPUTE,
};

static const struct tally_keyed_value shadow_counters[] = {
	{ "vertex_shader_invocations", U64(18446744073709551615u), false },
	{ "gpu.busy", F64(99.5), true },
	{ "gpu.broken", F64(NAN), true },
	{ "gpu.delta", I64(INT64_MIN), false },
};
static const struct tally_keyed_value shadow_metrics[] = {
	{ "overdraw", F64(0.1), false },
	{ "pressure", F64(1e300), true },
};
static const struct tally_keyed_value no_number[] = { { "gpu.busy", F64(INFINITY), false } };
static const struct tally_keyed_value draw_counters[] = {
	{ "vertex_shader_invocations", U64(36), true },
};
static const struct tally_workload_record workloads[] = {
	{ .command = "draw",
	  .has_gpu_start = true,
	  .has_gpu = true,
	  .gpu_start_ns = 1000200,
	  .gpu_ns = 300,
	  .counters = draw_counters,
	  .n_counters = 1 },
	{ .command = "copy", .flags = TALLY_FLAG(LOST) },
};
static const struct tally_pass_record passes_1[] = {
	{
		.index = 0,
		.id = UINT64_C(0x00ab54a98ceb1f0a),
		.kind = TALLY_PASS_RENDER,
		.label = "Scene/Shadow",
		.call_counts = { .draws = 12,
				 .clears = 1,
				 .vertices = 3600,
				 .instances = 12,
				 .calls = 25 },
		.context = 1,
		.queue_family = -1,
		.queue_index = -1,
		.surface = 0,
		.has_cpu_start = true,
		.has_gpu_start = true,
		.has_gpu = true,
		.cpu_start_ns = 1000000,
		.gpu_start_ns = 1000100,
		.gpu_ns = 4000,
		.counters = shadow_counters,
		.n_counters = N(shadow_counters),
		.metrics = shadow_metrics,
		.n_metrics = N(shadow_metrics),
		.workloads = workloads,
		.n_workloads = N(workloads),
	},
	{
		/* every count, all of Vulkan's places, nothing measured */
		.index = 1,
		.id = UINT64_C(0xfedcba9876543210),
		.segment = 2,
		.kind = TALLY_PASS_RENDER,
		.label = "Scene/M\\xc3ain \\ \xff\xc3(",
		.call_counts = { .draws = 1,
				 .dispatches = 2,
				 .copies = 3,
				 .clears = 4,
				 .vertices = 5,
				 .instances = 6,
				 .calls = 7 },
		.context = -1,
		.queue_family = 0,
		.queue_index = 1,
		.surface = -1,
		.has_submission = true,
		.submission = 99,
		.counters = no_number,
		.n_counters = N(no_number),
		.flags = TALLY_FLAG(INCOMPLETE) | TALLY_FLAG(BAD_TIME) |
			 TALLY_FLAG(CONDITIONAL),
	},
	{
		/* a display list: what it draws is unknown */
		.index = 2,
		.id = UINT64_C(0x00ab54a98ceb1f0a),
		.kind = TALLY_PASS_RENDER,
		.unknown = TALLY_UNKNOWN_DRAWS | TALLY_UNKNOWN_VERTICES |
			   TALLY_UNKNOWN_INSTANCES | TALLY_UNKNOWN_DISPATCHES |
			   TALLY_UNKNOWN_COPIES | TALLY_UNKNOWN_CLEARS,
		.context = 0,
		.queue_family = -1,
		.queue_index = -1,
		.surface = -1,
		.flags = TALLY_FLAG(LIST),
	},
	{
		/* an indirect draw: one, of how many vertices only the GPU knows */
		.index = 3,
		.id = UINT64_C(0x00ab54a98ceb1f0a),
		.kind = TALLY_PASS_RENDER,
		.call_counts = { .draws = 1 },
		.unknown = TALLY_UNKNOWN_VERTICES | TALLY_UNKNOWN_INSTANCES,
		.context = 0,
		.queue_family = -1,
		.queue_index = -1,
		.surface = -1,
		.flags = TALLY_FLAG(INDIRECT),
	},
	{
		/* a draw of no vertices: 0 is left out, and no flag says that it is unknown */
		.index = 4,
		.id = UINT64_C(0x00ab54a98ceb1f0a),
		.kind = TALLY_PASS_RENDER,
		.call_counts = { .draws = 1 },
		.context = 0,
		.queue_family = -1,
		.queue_index = -1,
		.surface = -1,
	},
	{
		.index = 5,
		.id = 1,
		.kind = TALLY_PASS_COMPUTE,
		.call_counts = { .dispatches = 1 },
		.context = 0,
		.queue_family = -1,
		.queue_index = -1,
		.surface = -1,
		.has_gpu = true,
		.gpu_ns = 0,
	},
};
static const struct tally_keyed_value unattributed[] = {
	{ "vertex_shader_invocations", U64(0), true },
};
static const struct tally_frame_record frame_1 = {
	.frame = 3,
	.device = 0,
	.start_ns = 999000,
	.cpu_ns = 16666667,
	.has_thread = true,
	.thread_ns = 9000000,
	.has_gpu = true,
	.gpu_ns = 5000,
	.envelope_ns = 6000,
	.has_coverage = true,
	.coverage = 0.8,
	.width = 1920,
	.height = 1080,
	.set = "set-1",
	.passes = passes_1,
	.n_passes = N(passes_1),
	.has_unattributed_gpu = true,
	.unattributed_gpu_ns = 1000,
	.unattributed = unattributed,
	.n_unattributed = N(unattributed),
	.overhead_ns = 2500,
	.dropped_passes = 2,
	.flags = TALLY_FLAG(PARTIAL) | TALLY_FLAG(INDIRECT),
};
static const struct tally_frame_record frame_2 = {
	.frame = 18446744073709551615u,
	.device = 1,
	.start_ns = 18446744073709551615u,
	.has_coverage = true,
	.coverage = NAN,
	.unattributed = unattributed,
	.n_unattributed = N(unattributed),
};
static const struct tally_note_record note = {
	.level = TALLY_LEVEL_WARNING,
	.message = "control \x01\x1f\x7f, tab\t, \"quotes\", back\\slash, \xe2\x82\xac "
		   "\xf0\x9f\x8e\xae",
	.source = "session",
	.has_time = true,
	.time_ns = UINT64_MAX,
};
static const struct tally_note_record bare_note = { .level = TALLY_LEVEL_INFO, .message = "" };
static const struct tally_statistic_record statistics[] = {
	{
		.id = 1,
		.key = "gpu_ns",
		.n = 3,
		.integral = true,
		.sum = { { 6 } },
		.sum_sq = { { UINT64_MAX, UINT64_MAX, INT64_MAX } },
		.min = U64(1),
		.max = U64(3),
		.mean = 2,
		.sd_population = 0.816496580927726,
		.sd_sample = 1,
		.has_sd_sample = true,
	},
	{
		.id = UINT64_C(0xfedcba9876543210),
		.key = "gpu.delta",
		.n = 1,
		.integral = true,
		.device = 1,
		.sum = { { (uint64_t)-5, UINT64_MAX, UINT64_MAX } },
		.sum_sq = { { 25 } },
		.min = I64(-5),
		.max = I64(-5),
		.mean = -5,
	},
	{
		.id = UINT64_C(0xfedcba9876543210),
		.key = "gpu.busy",
		.n = 2,
		.integral = false,
		.sum_f64 = 199,
		.sum_sq_f64 = 1.98e25,
		.min = F64(99),
		.max = F64(100),
		.mean = 99.5,
		.sd_population = 0.5,
		.sd_sample = 0.7071067811865476,
		.has_sd_sample = true,
	},
	{
		.id = UINT64_C(0xfedcba9876543210),
		.key = "gpu.broken",
		.n = 2,
		.integral = false,
		.sum_f64 = INFINITY,
		.sum_sq_f64 = INFINITY,
		.min = F64(-INFINITY),
		.max = F64(INFINITY),
		.mean = NAN,
		.sd_population = NAN,
	},
};
static const struct tally_end_record end = {
	.frames = 2,
	.frames_dropped = 1,
	.passes = 6,
	.reason = "exit",
	.statistics = statistics,
	.n_statistics = N(statistics),
};

static char *
golden_path(void)
{
	return g_test_build_filename(G_TEST_DIST, "..", "golden", "log-1.jsonl", NULL);
}

static char *
temporary_name(void)
{
	char *folder = g_dir_make_tmp("passtally-XXXXXX", NULL);
	g_assert_nonnull(folder);
	char *path = g_build_filename(folder, "log.jsonl", NULL);
	g_free(folder);
	return path;
}

static void
remove_temporary(char *path)
{
	char *folder = g_path_get_dirname(path);
	g_unlink(path);
	g_rmdir(folder);
	g_free(folder);
	g_free(path);
}

static struct tally_recorder *
open_recorder(const char *path)
{
	enum tally_record_status status;
	char why[256] = "";
	const struct tally_recorder_options how = { .path = path };
	struct tally_recorder *r = tally_json_recorder.open(&how, &status, why, sizeof(why));
	g_assert_cmpstr(why, ==, "");
	g_assert_nonnull(r);
	g_assert_cmpint(status, ==, TALLY_RECORD_OK);
	return r;
}

static void
write_golden(struct tally_recorder *r)
{
	const struct tally_recorder_ops *ops = &tally_json_recorder;
	g_assert_cmpint(ops->header(r, &header), ==, TALLY_RECORD_OK);
	g_assert_cmpint(ops->device(r, &gl_device), ==, TALLY_RECORD_OK);
	g_assert_cmpint(ops->device(r, &vk_device), ==, TALLY_RECORD_OK);
	g_assert_cmpint(ops->note(r, &note), ==, TALLY_RECORD_OK);
	g_assert_cmpint(ops->pass_info(r, &shadow_info), ==, TALLY_RECORD_OK);
	g_assert_cmpint(ops->pass_info(r, &main_info), ==, TALLY_RECORD_OK);
	g_assert_cmpint(ops->pass_info(r, &compute_info), ==, TALLY_RECORD_OK);
	g_assert_cmpint(ops->frame(r, &frame_1), ==, TALLY_RECORD_OK);
	g_assert_cmpint(ops->note(r, &bare_note), ==, TALLY_RECORD_OK);
	g_assert_cmpint(ops->frame(r, &frame_2), ==, TALLY_RECORD_OK);
	g_assert_cmpint(ops->end(r, &end), ==, TALLY_RECORD_OK);
	g_assert_cmpint(ops->flush(r), ==, TALLY_RECORD_OK);
	g_assert_cmpstr(ops->why(r), ==, "");
}

static void
test_golden_write(void)
{
	char *path = temporary_name();
	struct tally_recorder *r = open_recorder(path);
	write_golden(r);
	tally_json_recorder.close(r);

	char *got, *want, *golden = golden_path();
	size_t got_len, want_len;
	g_assert_true(g_file_get_contents(path, &got, &got_len, NULL));
	g_assert_true(g_file_get_contents(golden, &want, &want_len, NULL));
	char **got_lines = g_strsplit(got, "\n", -1), **want_lines = g_strsplit(want, "\n", -1);
	for (size_t i = 0; got_lines[i] && want_lines[i]; i++)
		g_assert_cmpstr(got_lines[i], ==, want_lines[i]);
	g_assert_cmpuint(got_len, ==, want_len);
	g_assert_true(memcmp(got, want, want_len) == 0);
	g_assert_true(g_utf8_validate(got, (gssize)got_len, NULL));

	g_strfreev(got_lines);
	g_strfreev(want_lines);
	g_free(got);
	g_free(want);
	g_free(golden);
	remove_temporary(path);
}

/* ---- and back ---- */

static void
next_line(struct tally_log_reader *reader, struct tally_log_line *line,
	  enum tally_line_type type)
{
	struct tally_read_error error = { 0 };
	enum tally_read_status status = tally_log_reader_next(reader, line, &error);
	g_assert_cmpstr(error.message, ==, "");
	g_assert_cmpint(status, ==, TALLY_READ_OK);
	g_assert_cmpint(line->type, ==, type);
}

static void
check_value(struct tally_value got, struct tally_value want)
{
	g_assert_cmpint(got.storage, ==, want.storage);
	if (want.storage == TALLY_STORAGE_F64)
		g_assert_cmpfloat(got.f64, ==, want.f64);
	else
		g_assert_cmpuint(got.u64, ==, want.u64);
}

/* Values that are no numbers were not written. */
static void
check_values(const struct tally_keyed_value *got, uint32_t n_got,
	     const struct tally_keyed_value *want, uint32_t n_want)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < n_want; i++) {
		if (want[i].value.storage == TALLY_STORAGE_F64 && !isfinite(want[i].value.f64))
			continue;
		g_assert_cmpuint(at, <, n_got);
		g_assert_cmpstr(got[at].key, ==, want[i].key);
		g_assert_cmpint(got[at].estimated, ==, want[i].estimated);
		check_value(got[at].value, want[i].value);
		at++;
	}
	g_assert_cmpuint(at, ==, n_got);
	g_assert_true(n_got || !got);
}

static void
check_header(const struct tally_header_record *got)
{
	g_assert_cmpstr(got->version, ==, header.version);
	g_assert_cmpstr(got->program, ==, "/usr/games/caf\\xe9/C:\\x5cxampp\\game");
	g_assert_true(got->has_argv);
	g_assert_cmpuint(got->n_argv, ==, header.n_argv);
	for (uint32_t i = 0; i < got->n_argv; i++)
		g_assert_cmpstr(got->argv[i], ==, header.argv[i]);
	g_assert_cmpint(got->pid, ==, header.pid);
	g_assert_cmpuint(got->started_unix_ns, ==, header.started_unix_ns);
	g_assert_cmpuint(got->n_options, ==, header.n_options);
	for (uint32_t i = 0; i < got->n_options; i++) {
		g_assert_cmpstr(got->options[i].key, ==, header.options[i].key);
		g_assert_cmpstr(got->options[i].value, ==, header.options[i].value);
	}
	g_assert_cmpuint(got->n_tags, ==, header.n_tags);
	for (uint32_t i = 0; i < got->n_tags; i++) {
		g_assert_cmpstr(got->tags[i].key, ==, header.tags[i].key);
		g_assert_cmpstr(got->tags[i].value, ==, header.tags[i].value);
	}
	g_assert_cmpstr(got->run, ==, header.run);
	g_assert_cmpstr(got->os, ==, header.os);
	g_assert_cmpstr(got->kernel, ==, header.kernel);
	g_assert_cmpstr(got->cpu, ==, header.cpu);
	g_assert_cmpuint(got->cpus, ==, header.cpus);
	g_assert_cmpuint(got->memory_bytes, ==, header.memory_bytes);
	g_assert_cmpint(got->session, ==, header.session);
	g_assert_cmpstr(got->host, ==, header.host);
}

static void
check_device(const struct tally_device_record *got, const struct tally_device_record *want)
{
	g_assert_cmpuint(got->device, ==, want->device);
	g_assert_cmpint(got->api, ==, want->api);
	g_assert_cmpstr(got->name, ==, want->name);
	g_assert_cmpstr(got->driver, ==, want->driver);
	g_assert_cmpstr(got->driver_version, ==, want->driver_version);
	g_assert_cmpuint(got->vendor_id, ==, want->vendor_id);
	g_assert_cmpint(got->has_device_id, ==, want->has_device_id);
	g_assert_cmpuint(got->device_id, ==, want->device_id);
	g_assert_cmpuint(got->driver_id, ==, want->driver_id);
	g_assert_cmpstr(got->pci, ==, want->pci);
	g_assert_cmpstr(got->uuid, ==, want->uuid);
	g_assert_cmpint(got->beneath, ==, want->beneath);
	g_assert_cmpstr(got->serialized_by, ==, want->serialized_by);
	g_assert_cmpuint(got->n_sources, ==, want->n_sources);
	for (uint32_t i = 0; i < want->n_sources; i++) {
		g_assert_cmpstr(got->sources[i].name, ==, want->sources[i].name);
		g_assert_cmpint(got->sources[i].on, ==, want->sources[i].on);
		g_assert_cmpstr(got->sources[i].reason, ==, want->sources[i].reason);
	}
	g_assert_cmpuint(got->n_counters, ==, want->n_counters);
	for (uint32_t i = 0; i < want->n_counters; i++) {
		const struct tally_counter *a = got->counters[i], *b = want->counters[i];
		g_assert_cmpstr(a->key, ==, b->key);
		g_assert_cmpstr(a->name, ==, b->name);
		g_assert_cmpstr(a->unit, ==, b->unit);
		g_assert_cmpstr(a->source, ==, b->source);
		g_assert_cmpstr(a->description, ==, b->description);
		g_assert_cmpint(a->kind, ==, b->kind);
		g_assert_cmpint(a->scope, ==, b->scope);
	}
	g_assert_cmpuint(got->n_metrics, ==, want->n_metrics);
	for (uint32_t i = 0; i < want->n_metrics; i++) {
		g_assert_cmpstr(got->metrics[i].key, ==, want->metrics[i].key);
		g_assert_cmpstr(got->metrics[i].name, ==, want->metrics[i].name);
		g_assert_cmpstr(got->metrics[i].unit, ==, want->metrics[i].unit);
		g_assert_cmpstr(got->metrics[i].expression, ==, want->metrics[i].expression);
		g_assert_cmpstr(got->metrics[i].dialect, ==, want->metrics[i].dialect);
	}
}

static void
check_info(const struct tally_pass_info_record *got, const struct tally_pass_info_record *want,
	   const char *label)
{
	const struct tally_target *a = &got->target, *b = &want->target;
	g_assert_cmpuint(got->id, ==, want->id);
	g_assert_cmpint(got->kind, ==, want->kind);
	g_assert_cmpstr(got->label, ==, label);
	g_assert_cmpint(got->load, ==, want->load);
	g_assert_cmpint(got->store, ==, want->store);
	g_assert_cmpstr(got->groups, ==, want->groups);
	g_assert_cmpuint(a->width, ==, b->width);
	g_assert_cmpuint(a->height, ==, b->height);
	g_assert_cmpuint(a->layers, ==, b->layers);
	g_assert_cmpuint(a->samples, ==, b->samples);
	g_assert_cmpint(a->presented, ==, b->presented);
	g_assert_cmpuint(a->n_color, ==, b->n_color);
	for (uint32_t i = 0; i < b->n_color; i++)
		g_assert_cmpstr(a->color[i].format, ==, b->color[i].format);
	g_assert_cmpstr(a->depth.format, ==, b->depth.format);
	g_assert_cmpstr(a->stencil.format, ==, b->stencil.format);
}

static void
check_workload(const struct tally_workload_record *got, const struct tally_workload_record *want)
{
	g_assert_cmpstr(got->command, ==, want->command);
	g_assert_cmpint(got->has_gpu_start, ==, want->has_gpu_start);
	g_assert_cmpint(got->has_gpu, ==, want->has_gpu);
	g_assert_cmpuint(got->gpu_start_ns, ==, want->gpu_start_ns);
	g_assert_cmpuint(got->gpu_ns, ==, want->gpu_ns);
	g_assert_cmpuint(got->flags, ==, want->flags);
	check_values(got->counters, got->n_counters, want->counters, want->n_counters);
}

static void
check_pass(const struct tally_pass_record *got, const struct tally_pass_record *want)
{
	g_assert_cmpuint(got->index, ==, want->index);
	g_assert_cmpuint(got->id, ==, want->id);
	g_assert_cmpuint(got->segment, ==, want->segment);
	g_assert_cmpint(got->kind, ==, want->kind);
	g_assert_cmpmem(&got->call_counts, sizeof(got->call_counts), &want->call_counts,
			sizeof(want->call_counts));
	g_assert_cmphex(got->unknown, ==, want->unknown);
	g_assert_cmpint(got->context, ==, want->context);
	g_assert_cmpint(got->queue_family, ==, want->queue_family);
	g_assert_cmpint(got->queue_index, ==, want->queue_index);
	g_assert_cmpint(got->has_submission, ==, want->has_submission);
	g_assert_cmpuint(got->submission, ==, want->submission);
	g_assert_cmpint(got->surface, ==, want->surface);
	g_assert_cmpint(got->has_cpu_start, ==, want->has_cpu_start);
	g_assert_cmpint(got->has_gpu_start, ==, want->has_gpu_start);
	g_assert_cmpint(got->has_gpu, ==, want->has_gpu);
	g_assert_cmpuint(got->cpu_start_ns, ==, want->cpu_start_ns);
	g_assert_cmpuint(got->gpu_start_ns, ==, want->gpu_start_ns);
	g_assert_cmpuint(got->gpu_ns, ==, want->gpu_ns);
	g_assert_cmphex(got->flags, ==, want->flags);
	check_values(got->counters, got->n_counters, want->counters, want->n_counters);
	check_values(got->metrics, got->n_metrics, want->metrics, want->n_metrics);
	g_assert_cmpuint(got->n_workloads, ==, want->n_workloads);
	for (uint32_t i = 0; i < want->n_workloads; i++)
		check_workload(&got->workloads[i], &want->workloads[i]);
}

static void
check_frame(const struct tally_frame_record *got, const struct tally_frame_record *want)
{
	bool coverage = want->has_coverage && isfinite(want->coverage);
	g_assert_cmpuint(got->frame, ==, want->frame);
	g_assert_cmpuint(got->device, ==, want->device);
	g_assert_cmpuint(got->start_ns, ==, want->start_ns);
	g_assert_cmpuint(got->cpu_ns, ==, want->cpu_ns);
	g_assert_cmpint(got->has_thread, ==, want->has_thread);
	g_assert_cmpuint(got->thread_ns, ==, want->thread_ns);
	g_assert_cmpint(got->has_gpu, ==, want->has_gpu);
	g_assert_cmpuint(got->gpu_ns, ==, want->gpu_ns);
	g_assert_cmpuint(got->envelope_ns, ==, want->envelope_ns);
	g_assert_cmpint(got->has_coverage, ==, coverage);
	if (coverage)
		g_assert_cmpfloat(got->coverage, ==, want->coverage);
	g_assert_cmpuint(got->width, ==, want->width);
	g_assert_cmpuint(got->height, ==, want->height);
	g_assert_cmpstr(got->set, ==, want->set);
	g_assert_cmpint(got->has_unattributed_gpu, ==, want->has_unattributed_gpu);
	g_assert_cmpuint(got->unattributed_gpu_ns, ==, want->unattributed_gpu_ns);
	check_values(got->unattributed, got->n_unattributed, want->unattributed,
		     want->n_unattributed);
	g_assert_cmpuint(got->overhead_ns, ==, want->overhead_ns);
	g_assert_cmpuint(got->dropped_passes, ==, want->dropped_passes);
	g_assert_cmphex(got->flags, ==, want->flags);
	g_assert_cmpuint(got->n_passes, ==, want->n_passes);
	for (uint32_t i = 0; i < want->n_passes; i++)
		check_pass(&got->passes[i], &want->passes[i]);
}

/* NaN in a record read back stands for what the log leaves out. */
static void
check_double(double got, double want)
{
	if (isfinite(want))
		g_assert_cmpfloat(got, ==, want);
	else
		g_assert_true(isnan(got));
}

static void
check_end(const struct tally_end_record *got)
{
	g_assert_cmpuint(got->frames, ==, end.frames);
	g_assert_cmpuint(got->frames_dropped, ==, end.frames_dropped);
	g_assert_cmpuint(got->passes, ==, end.passes);
	g_assert_cmpstr(got->reason, ==, end.reason);
	g_assert_cmpuint(got->n_statistics, ==, end.n_statistics);
	for (uint32_t i = 0; i < end.n_statistics; i++) {
		const struct tally_statistic_record *a = &got->statistics[i],
						    *b = &statistics[i];
		g_assert_cmpuint(a->id, ==, b->id);
		g_assert_cmpstr(a->key, ==, b->key);
		g_assert_cmpuint(a->n, ==, b->n);
		g_assert_cmpint(a->integral, ==, b->integral);
		g_assert_cmpuint(a->device, ==, b->device);
		g_assert_cmpmem(&a->sum, sizeof(a->sum), &b->sum, sizeof(b->sum));
		g_assert_cmpmem(&a->sum_sq, sizeof(a->sum_sq), &b->sum_sq, sizeof(b->sum_sq));
		check_double(a->sum_f64, b->sum_f64);
		check_double(a->sum_sq_f64, b->sum_sq_f64);
		if (b->min.storage == TALLY_STORAGE_F64) {
			check_double(a->min.f64, b->min.f64);
			check_double(a->max.f64, b->max.f64);
		} else {
			check_value(a->min, b->min);
			check_value(a->max, b->max);
		}
		check_double(a->mean, b->mean);
		check_double(a->sd_population, b->sd_population);
		g_assert_cmpint(a->has_sd_sample, ==, b->has_sd_sample);
		if (b->has_sd_sample)
			g_assert_cmpfloat(a->sd_sample, ==, b->sd_sample);
	}
}

/* Labels read back as they stand in the log. */
static void
check_labels(const struct tally_frame_record *got)
{
	g_assert_cmpstr(got->passes[0].label, ==, "Scene/Shadow");
	g_assert_cmpstr(got->passes[1].label, ==, "Scene/M\\x5cxc3ain \\ \\xff\\xc3(");
	g_assert_null(got->passes[2].label);
}

static void
check_golden(struct tally_log_reader *reader)
{
	struct tally_log_line line;
	struct tally_read_error error;
	next_line(reader, &line, TALLY_LINE_HEADER);
	check_header(&line.header);
	next_line(reader, &line, TALLY_LINE_DEVICE);
	check_device(&line.device, &gl_device);
	const char *key = line.device.counters[0]->key;
	next_line(reader, &line, TALLY_LINE_DEVICE);
	check_device(&line.device, &vk_device);
	next_line(reader, &line, TALLY_LINE_NOTE);
	g_assert_cmpint(line.note.level, ==, note.level);
	g_assert_cmpstr(line.note.message, ==, note.message);
	g_assert_cmpstr(line.note.source, ==, note.source);
	g_assert_true(line.note.has_time);
	g_assert_cmpuint(line.note.time_ns, ==, note.time_ns);
	next_line(reader, &line, TALLY_LINE_PASS_INFO);
	check_info(&line.pass_info, &shadow_info, "Scene/Shadow");
	next_line(reader, &line, TALLY_LINE_PASS_INFO);
	check_info(&line.pass_info, &main_info, "Scene/M\\x5cxc3ain \\ \\xff\\xc3(");
	next_line(reader, &line, TALLY_LINE_PASS_INFO);
	check_info(&line.pass_info, &compute_info, NULL);
	next_line(reader, &line, TALLY_LINE_FRAME);
	g_assert_cmpuint(line.number, ==, 8);
	check_frame(&line.frame, &frame_1);
	check_labels(&line.frame);
	g_assert_true(line.frame.passes[0].counters[0].key == key); /* the same pointer */
	next_line(reader, &line, TALLY_LINE_NOTE);
	g_assert_cmpstr(line.note.message, ==, "");
	g_assert_null(line.note.source);
	g_assert_false(line.note.has_time);
	next_line(reader, &line, TALLY_LINE_FRAME);
	check_frame(&line.frame, &frame_2);
	next_line(reader, &line, TALLY_LINE_END);
	check_end(&line.end);
	for (int i = 0; i < 2; i++)
		g_assert_cmpint(tally_log_reader_next(reader, &line, &error), ==,
				TALLY_READ_END);
}

static void
test_golden_read(void)
{
	char *path = golden_path(), *bytes;
	size_t len;
	uint64_t done, total;
	enum tally_read_status status;
	struct tally_read_error error;
	struct tally_log_reader *reader = tally_log_reader_open(path, &status, &error);
	g_assert_nonnull(reader);
	check_golden(reader);
	g_assert_true(g_file_get_contents(path, &bytes, &len, NULL));
	tally_log_reader_progress(reader, &done, &total);
	g_assert_cmpuint(done, ==, len);
	g_assert_cmpuint(total, ==, len);
	tally_log_reader_close(reader);

	/* From memory, without the last newline, in memory that ends right there. */
	char *exact = g_memdup2(bytes, len - 1);
	reader = tally_log_reader_open_memory(exact, len - 1);
	check_golden(reader);
	tally_log_reader_close(reader);
	g_free(exact);
	g_free(bytes);
	g_free(path);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	if (argc > 1) { /* a path: write the log there, to be looked at before it is kept */
		struct tally_recorder *r = open_recorder(argv[1]);
		write_golden(r);
		tally_json_recorder.close(r);
		return 0;
	}
	g_test_add_func("/record_json/write", test_golden_write);
	g_test_add_func("/record_json/read", test_golden_read);
	return g_test_run();
}
