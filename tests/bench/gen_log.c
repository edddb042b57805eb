/* SPDX-License-Identifier: MIT */
/* Writes a log as a game would leave it, of any size: what `passtally report` is measured on.
 *
 *     gen_log [--mb N] [--passes N] [--seed N] OUT
 *
 * By default 1000 MB of frames of 40 passes with labels, time stamps, eight counters and two
 * metrics, through the capture's own writer. GPU times and fragments drift and are noisy from
 * frame to frame, the rest of a pass varies little, and a few passes appear and disappear. The
 * same seed gives the same bytes.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/record_json.h"

#define N_COUNTERS 8
#define N_METRICS 2
#define MOST_PASSES 1000
#define PASS_BYTES 545 /* about the bytes of one pass, including its share of the frame's own */

static const struct tally_counter counters[N_COUNTERS] = {
	{ .key = "primitives_submitted", .name = "Primitives", .unit = "1" },
	{ .key = "vertex_shader_invocations", .name = "Vertices", .unit = "1" },
	{ .key = "fragment_shader_invocations", .name = "Fragments", .unit = "1" },
	{ .key = "compute_shader_invocations", .name = "Compute", .unit = "1" },
	{ .key = "clipping_input_primitives", .name = "Clipper in", .unit = "1" },
	{ .key = "clipping_output_primitives", .name = "Clipper out", .unit = "1" },
	{ .key = "GpuBusyCycles", .name = "Busy", .unit = "1" },
	{ .key = "L2ReadBytes", .name = "L2 reads", .unit = "B" },
};
static const struct tally_metric_info metrics[N_METRICS] = {
	{ .key = "overdraw", .name = "Overdraw", .unit = "1", .expression = "a / b" },
	{ .key = "gpu_utilisation", .name = "Busy", .unit = "%", .expression = "a / b * 100" },
};

struct game {
	uint64_t random;
	uint32_t n_passes;
	struct tally_pass_record passes[MOST_PASSES];
	struct tally_keyed_value values[MOST_PASSES][N_COUNTERS];
	struct tally_keyed_value derived[MOST_PASSES][N_METRICS];
	char labels[MOST_PASSES][32];
	struct tally_pass_record frame[MOST_PASSES]; /* those that are in it */
};

static struct game game;

static void
die(const char *what)
{
	fprintf(stderr, "gen_log: %s\n", what);
	exit(1);
}

/* xorshift64* */
static uint64_t
draw(uint64_t below)
{
	game.random ^= game.random >> 12;
	game.random ^= game.random << 25;
	game.random ^= game.random >> 27;
	return (game.random * UINT64_C(0x2545f4914f6cdd1d) >> 16) % below;
}

static void
make_passes(void)
{
	static const char *const words[] = { "shadow", "gbuffer", "light", "bloom", "ui" };
	for (uint32_t i = 0; i < game.n_passes; i++) {
		struct tally_pass_record *p = &game.passes[i];
		snprintf(game.labels[i], sizeof(game.labels[i]), "scene/%s %u", words[i % 5], i);
		*p = (struct tally_pass_record){
			.id = UINT64_C(0x9e3779b97f4a7c15) * (i + 1),
			.kind = i % 10 == 9 ? TALLY_PASS_COMPUTE : TALLY_PASS_RENDER,
			.label = i % 3 ? game.labels[i] : NULL,
			.call_counts = { .draws = 1 + draw(300), .calls = 5 + draw(900) },
			.context = 1,
			.queue_family = -1,
			.queue_index = -1,
			.surface = i + 1 == game.n_passes ? 2097154 : -1,
			.has_cpu_start = true,
			.has_gpu_start = true,
			.has_gpu = true,
			.gpu_ns = 2000 + draw(900000),
			.counters = game.values[i],
			.n_counters = N_COUNTERS,
			.metrics = game.derived[i],
			.n_metrics = N_METRICS,
		};
		if (i % 10 == 9)
			p->call_counts.dispatches = 1 + draw(20);
		p->call_counts.vertices = p->call_counts.draws * (3 + draw(4000));
		p->call_counts.instances = p->call_counts.draws;
		for (unsigned k = 0; k < N_COUNTERS; k++) {
			game.values[i][k].key = counters[k].key;
			game.values[i][k].value.u64 = draw(UINT64_C(1) << (8 + 4 * k % 24));
		}
		for (unsigned k = 0; k < N_METRICS; k++) {
			game.derived[i][k].key = metrics[k].key;
			game.derived[i][k].value.storage = TALLY_STORAGE_F64;
		}
	}
}

/* The game advances: determines the passes of the next frame, and how long they took
 * together. */
static uint64_t
make_frame(struct tally_frame_record *f)
{
	uint64_t gpu_ns = 0, at_ns = f->start_ns + 400000;
	f->n_passes = 0;
	for (uint32_t i = 0; i < game.n_passes; i++) {
		if (i % 8 == 7 && draw(4) == 0)
			continue;
		struct tally_pass_record *p = &game.frame[f->n_passes];
		*p = game.passes[i];
		p->index = f->n_passes++;
		p->gpu_ns += draw(p->gpu_ns / 8);
		p->gpu_start_ns = at_ns;
		p->cpu_start_ns = f->start_ns + i * 30000 + draw(9000);
		at_ns += p->gpu_ns + 200;
		gpu_ns += p->gpu_ns;
		struct tally_keyed_value *v = game.values[i];
		v[2].value.u64 = p->gpu_ns * 3 + draw(5000);
		v[6].value.u64 = p->gpu_ns / 2;
		v[7].value.u64 = p->gpu_ns * 11 + draw(90000);
		game.derived[i][0].value.f64 = (double)v[2].value.u64 / 2073600;
		game.derived[i][1].value.f64 = (double)draw(1000) / 10;
	}
	f->passes = game.frame;
	f->envelope_ns = at_ns - f->start_ns - 400000;
	return gpu_ns;
}

static enum tally_record_status
write_start(struct tally_recorder *r)
{
	static const char *const argv[] = { "game", "--benchmark" };
	const struct tally_counter *list[N_COUNTERS];
	for (unsigned k = 0; k < N_COUNTERS; k++)
		list[k] = &counters[k];
	const struct tally_header_record header = {
		.version = "0.1.0",
		.program = "/usr/games/game",
		.argv = argv,
		.n_argv = 2,
		.has_argv = true,
		.pid = 4242,
		.started_unix_ns = UINT64_C(1767323045000000000),
	};
	const struct tally_device_record device = {
		.api = TALLY_API_OPENGL,
		.name = "Generated",
		.driver = "gen_log",
		.driver_version = "1",
		.beneath = -1,
		.counters = list,
		.n_counters = N_COUNTERS,
		.metrics = metrics,
		.n_metrics = N_METRICS,
	};
	enum tally_record_status status = tally_json_recorder.header(r, &header);
	if (status == TALLY_RECORD_OK)
		status = tally_json_recorder.device(r, &device);
	for (uint32_t i = 0; i < game.n_passes && status == TALLY_RECORD_OK; i++) {
		const struct tally_pass_info_record info = {
			.id = game.passes[i].id,
			.kind = game.passes[i].kind,
			.label = game.passes[i].label,
			.target = { .width = 1920,
				    .height = 1080,
				    .presented = i + 1 == game.n_passes },
		};
		status = tally_json_recorder.pass_info(r, &info);
	}
	return status;
}

static enum tally_record_status
write_frames(struct tally_recorder *r, uint64_t bytes, struct tally_end_record *end)
{
	enum tally_record_status status = TALLY_RECORD_OK;
	uint64_t start_ns = UINT64_C(51234567890123);
	uint64_t frames = bytes / (game.n_passes * (uint64_t)PASS_BYTES) + 1;
	for (; status == TALLY_RECORD_OK && end->frames < frames; end->frames++) {
		struct tally_frame_record f = {
			.frame = end->frames,
			.surface = -1,
			.start_ns = start_ns,
			.cpu_ns = 16000000 + draw(900000),
			.has_gpu = true,
			.has_coverage = true,
			.coverage = 1,
			.has_unattributed_gpu = true,
			.overhead_ns = 30000 + draw(20000),
		};
		f.gpu_ns = make_frame(&f);
		start_ns += f.cpu_ns;
		end->passes += f.n_passes;
		status = tally_json_recorder.frame(r, &f);
	}
	return status;
}

int
main(int argc, char **argv)
{
	uint64_t mb = 1000;
	game.random = 1;
	game.n_passes = 40;
	const char *out = NULL;
	for (int i = 1; i < argc; i++) {
		bool more = i + 1 < argc;
		if (more && strcmp(argv[i], "--mb") == 0)
			mb = strtoull(argv[++i], NULL, 10);
		else if (more && strcmp(argv[i], "--passes") == 0)
			game.n_passes = (uint32_t)strtoul(argv[++i], NULL, 10);
		else if (more && strcmp(argv[i], "--seed") == 0)
			game.random = strtoull(argv[++i], NULL, 10);
		else
			out = argv[i];
	}
	/* An option that is not known, or asks for help, must not become a file of 1 GB. */
	if (!out || *out == '-' || !mb || !game.random || !game.n_passes ||
	    game.n_passes > MOST_PASSES)
		die("usage: gen_log [--mb N] [--passes 1..1000] [--seed N] OUT (N is 1 "
		    "or more)");
	make_passes();
	enum tally_record_status status;
	char why[256];
	const struct tally_recorder_options options = { .path = out, .force = true };
	struct tally_recorder *r = tally_json_recorder.open(&options, &status, why, sizeof(why));
	if (!r)
		die(why);
	struct tally_end_record end = { .reason = "exit" };
	status = write_start(r);
	if (status == TALLY_RECORD_OK)
		status = write_frames(r, mb * 1000000, &end);
	if (status == TALLY_RECORD_OK)
		status = tally_json_recorder.end(r, &end);
	if (status != TALLY_RECORD_OK)
		die(tally_json_recorder.why(r));
	tally_json_recorder.close(r);
	return 0;
}
