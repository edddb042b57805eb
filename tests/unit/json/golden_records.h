/* SPDX-License-Identifier: MIT */
/* tests/unit/json/golden_records.h - the records of tests/golden/log-1.jsonl.
 *
 * Constants.
 */
#ifndef PASSTALLY_TESTS_UNIT_GOLDEN_RECORDS_H
#define PASSTALLY_TESTS_UNIT_GOLDEN_RECORDS_H

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
static const struct tally_key_text options[] = {
	{ "counters", "overview" },
	{ "frame", "present" },
	{ "skip", "3" },
};
static const struct tally_key_text tags[] = {
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
	.has_wait = true,
	.wait_ns = 2000000,
	.has_gpu = true,
	.gpu_ns = 5000,
	.envelope_ns = 6000,
	.has_coverage = true,
	.coverage = 0.8,
	.width = 1920,
	.height = 1080,
	.surface = -1,
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
	.surface = -1,
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

#endif
