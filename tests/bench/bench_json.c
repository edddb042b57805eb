/* SPDX-License-Identifier: MIT */
/* How fast the log is written and read: MB/s of passtally, jansson and yajl on the same file.
 *
 *     bench_json [--check] [FRAMES [PASSES]]
 *
 * Writes a log of that shape (default 270 frames of 1000 passes, 100 MB), then sums gpu_ns of all
 * passes by each reader; the sums must agree. The jansson and yajl writers produce the same fields
 * of frame lines. Times are CPU times, because other programs run too; ours is the median of
 * five runs, theirs that of one run. Prints a table and a line of JSON. --check: exit status 1
 * when a figure is past its limit (the table at the end of this file).
 */
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_parse.h>

#include "json/record_json.h"
#include "json/record_read.h"
#include "tests/unit/json/log_bytes.h"

#define RUNS 5
#define FEWER 5 /* the slow writers write one frame in so many */
#define N_COUNTERS 4

static const char *const keys[N_COUNTERS] = {
	"primitives_submitted",
	"vertex_shader_invocations",
	"fragment_shader_invocations",
	"samples_passed",
};

static uint64_t
now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void
die(const char *what)
{
	fprintf(stderr, "bench_json: %s\n", what);
	exit(1);
}

static uint64_t
file_size(const char *path)
{
	struct stat st;
	if (stat(path, &st) != 0)
		die("the log is gone");
	return (uint64_t)st.st_size;
}

/* ---- the same frames for every writer ---- */

struct frames {
	uint32_t n_frames, n_passes;
	struct tally_pass_record *passes;
	struct tally_keyed_value *values; /* N_COUNTERS a pass */
	uint64_t before_frames; /* bytes of our log */
};

static void
make_frames(struct frames *f, uint32_t n_frames, uint32_t n_passes)
{
	*f = (struct frames){ .n_frames = n_frames, .n_passes = n_passes };
	f->passes = calloc(n_passes, sizeof(*f->passes));
	f->values = calloc((size_t)n_passes * N_COUNTERS, sizeof(*f->values));
	if (!f->passes || !f->values)
		die("no memory");
	for (uint32_t i = 0; i < n_passes; i++) {
		struct tally_keyed_value *values = f->values + (size_t)i * N_COUNTERS;
		for (unsigned k = 0; k < N_COUNTERS; k++) {
			values[k] = (struct tally_keyed_value){
				.key = keys[k],
				.value = { .storage = TALLY_STORAGE_U64,
					   .u64 = (uint64_t)i * 7919 % 1000003 << k },
			};
		}
		f->passes[i] = (struct tally_pass_record){
			.index = i,
			.id = UINT64_C(0x9e3779b97f4a7c15) * (i + 1),
			.kind = TALLY_PASS_RENDER,
			.label = "Main",
			.call_counts = { .draws = 10 + i % 90,
				     .vertices = 3000,
				     .instances = 12,
				     .calls = 12 },
			.queue_family = -1,
			.queue_index = -1,
			.surface = -1,
			.has_cpu_start = true,
			.has_gpu_start = true,
			.has_gpu = true,
			.counters = values,
			.n_counters = N_COUNTERS,
		};
	}
}

/* What differs from frame to frame. */
static struct tally_frame_record
frame_at(struct frames *f, uint32_t frame)
{
	uint64_t start_ns = UINT64_C(51234567890123) + frame * UINT64_C(16666667);
	for (uint32_t i = 0; i < f->n_passes; i++) {
		f->passes[i].cpu_start_ns = start_ns + i * 9000;
		f->passes[i].gpu_start_ns = start_ns + 300000 + i * 12000;
		f->passes[i].gpu_ns = 11000 + (frame * 31 + i * 17) % 997;
	}
	return (struct tally_frame_record){
		.frame = frame,
		.surface = -1,
		.start_ns = start_ns,
		.cpu_ns = 16000000,
		.has_gpu = true,
		.gpu_ns = f->n_passes * UINT64_C(11500),
		.envelope_ns = f->n_passes * UINT64_C(12000),
		.has_coverage = true,
		.coverage = 0.9375,
		.passes = f->passes,
		.n_passes = f->n_passes,
		.overhead_ns = 41000,
	};
}

static uint64_t
write_ours(struct frames *f, const char *path)
{
	enum tally_record_status status;
	char why[256];
	const struct tally_recorder_options options = { .path = path, .force = true };
	struct tally_recorder *r = tally_json_recorder.open(&options, &status, why, sizeof(why));
	if (!r)
		die(why);
	const struct tally_header_record header = { .version = "0",
						    .program = "/bench",
						    .pid = 1 };
	const struct tally_counter counters[N_COUNTERS] = {
		{ .key = keys[0], .name = keys[0], .unit = "1", .source = "gl-statistics" },
		{ .key = keys[1], .name = keys[1], .unit = "1", .source = "gl-statistics" },
		{ .key = keys[2], .name = keys[2], .unit = "1", .source = "gl-statistics" },
		{ .key = keys[3], .name = keys[3], .unit = "1", .source = "gl-statistics" },
	};
	const struct tally_counter *list[N_COUNTERS];
	for (unsigned k = 0; k < N_COUNTERS; k++)
		list[k] = &counters[k];
	const struct tally_device_record device = {
		.api = TALLY_API_OPENGL,
		.name = "bench",
		.driver = "bench",
		.driver_version = "0",
		.beneath = -1,
		.counters = list,
		.n_counters = N_COUNTERS,
	};
	status = tally_json_recorder.header(r, &header);
	if (status == TALLY_RECORD_OK)
		status = tally_json_recorder.device(r, &device);
	for (uint32_t i = 0; i < f->n_passes && status == TALLY_RECORD_OK; i++) {
		const struct tally_pass_info_record info = {
			.id = f->passes[i].id,
			.kind = TALLY_PASS_RENDER,
			.label = f->passes[i].label,
		};
		status = tally_json_recorder.pass_info(r, &info);
	}
	if (status == TALLY_RECORD_OK)
		status = tally_json_recorder.flush(r);
	f->before_frames = file_size(path);
	uint64_t begin_ns = now_ns();
	for (uint32_t i = 0; i < f->n_frames && status == TALLY_RECORD_OK; i++) {
		struct tally_frame_record frame = frame_at(f, i);
		status = tally_json_recorder.frame(r, &frame);
	}
	if (status == TALLY_RECORD_OK)
		status = tally_json_recorder.flush(r);
	uint64_t took_ns = now_ns() - begin_ns;
	if (status != TALLY_RECORD_OK)
		die(tally_json_recorder.why(r));
	const struct tally_end_record end = {
		.frames = f->n_frames,
		.passes = (uint64_t)f->n_frames * f->n_passes,
		.reason = "exit",
	};
	tally_json_recorder.end(r, &end);
	tally_json_recorder.close(r);
	return took_ns;
}

static json_t *
jansson_pass(const struct tally_pass_record *p)
{
	char id[17];
	snprintf(id, sizeof(id), "%016" PRIx64, p->id);
	json_t *counters = json_object();
	for (unsigned k = 0; k < N_COUNTERS; k++)
		json_object_set_new(counters, keys[k],
				    json_integer((json_int_t)p->counters[k].value.u64));
	return json_pack("{s:I,s:s,s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o}", "index",
			 (json_int_t)p->index, "id", id, "kind", "render", "label",
			 p->label, "draws", (json_int_t)p->call_counts.draws, "vertices",
			 (json_int_t)p->call_counts.vertices, "instances",
			 (json_int_t)p->call_counts.instances, "calls",
			 (json_int_t)p->call_counts.calls, "context",
			 (json_int_t)p->context, "cpu_start_ns",
			 (json_int_t)p->cpu_start_ns, "gpu_start_ns",
			 (json_int_t)p->gpu_start_ns, "gpu_ns", (json_int_t)p->gpu_ns,
			 "counters", counters);
}

static uint64_t
write_jansson(struct frames *f, FILE *file)
{
	uint64_t begin_ns = now_ns();
	for (uint32_t i = 0; i < f->n_frames; i += FEWER) {
		struct tally_frame_record frame = frame_at(f, i);
		json_t *passes = json_array();
		for (uint32_t p = 0; p < f->n_passes; p++)
			json_array_append_new(passes, jansson_pass(&f->passes[p]));
		json_t *line = json_pack("{s:s,s:I,s:i,s:I,s:I,s:o}", "type", "frame", "frame",
					 (json_int_t)i, "device", 0, "start_ns",
					 (json_int_t)frame.start_ns, "cpu_ns",
					 (json_int_t)frame.cpu_ns, "passes", passes);
		if (!line || json_dumpf(line, file, JSON_COMPACT) != 0)
			die("jansson failed");
		fputc('\n', file);
		json_decref(line);
	}
	fflush(file);
	return now_ns() - begin_ns;
}

static void
yajl_text(yajl_gen gen, const char *text)
{
	yajl_gen_string(gen, (const unsigned char *)text, strlen(text));
}

static void
yajl_number(yajl_gen gen, const char *key, uint64_t value)
{
	yajl_text(gen, key);
	yajl_gen_integer(gen, (long long)value);
}

static void
yajl_pass(yajl_gen gen, const struct tally_pass_record *p)
{
	char id[17];
	snprintf(id, sizeof(id), "%016" PRIx64, p->id);
	yajl_gen_map_open(gen);
	yajl_number(gen, "index", p->index);
	yajl_text(gen, "id");
	yajl_text(gen, id);
	yajl_text(gen, "kind");
	yajl_text(gen, "render");
	yajl_text(gen, "label");
	yajl_text(gen, p->label);
	yajl_number(gen, "draws", p->call_counts.draws);
	yajl_number(gen, "vertices", p->call_counts.vertices);
	yajl_number(gen, "instances", p->call_counts.instances);
	yajl_number(gen, "calls", p->call_counts.calls);
	yajl_number(gen, "context", (uint64_t)p->context);
	yajl_number(gen, "cpu_start_ns", p->cpu_start_ns);
	yajl_number(gen, "gpu_start_ns", p->gpu_start_ns);
	yajl_number(gen, "gpu_ns", p->gpu_ns);
	yajl_text(gen, "counters");
	yajl_gen_map_open(gen);
	for (unsigned k = 0; k < N_COUNTERS; k++)
		yajl_number(gen, keys[k], p->counters[k].value.u64);
	yajl_gen_map_close(gen);
	yajl_gen_map_close(gen);
}

static uint64_t
write_yajl(struct frames *f, FILE *file)
{
	uint64_t begin_ns = now_ns();
	for (uint32_t i = 0; i < f->n_frames; i += FEWER) {
		struct tally_frame_record frame = frame_at(f, i);
		yajl_gen gen = yajl_gen_alloc(NULL);
		yajl_gen_map_open(gen);
		yajl_text(gen, "type");
		yajl_text(gen, "frame");
		yajl_number(gen, "frame", i);
		yajl_number(gen, "device", 0);
		yajl_number(gen, "start_ns", frame.start_ns);
		yajl_number(gen, "cpu_ns", frame.cpu_ns);
		yajl_text(gen, "passes");
		yajl_gen_array_open(gen);
		for (uint32_t p = 0; p < f->n_passes; p++)
			yajl_pass(gen, &f->passes[p]);
		yajl_gen_array_close(gen);
		yajl_gen_map_close(gen);
		const unsigned char *text;
		size_t len;
		if (yajl_gen_get_buf(gen, &text, &len) != yajl_gen_status_ok)
			die("yajl failed");
		fwrite(text, 1, len, file);
		fputc('\n', file);
		yajl_gen_free(gen);
	}
	fflush(file);
	return now_ns() - begin_ns;
}

/* ---- three readers of one file: the sum of gpu_ns over all passes ---- */

static uint64_t
read_ours(const char *path)
{
	enum tally_read_status status;
	struct tally_read_error error;
	struct tally_log_line line;
	uint64_t sum = 0;
	struct tally_log_reader *reader = open_log_file(path);
	if (!reader)
		die("the log cannot be opened");
	while ((status = tally_log_reader_next(reader, &line, &error)) == TALLY_READ_OK) {
		for (uint32_t i = 0;
		     line.type == TALLY_LINE_FRAME && i < line.frame.n_passes; i++)
			sum += line.frame.passes[i].gpu_ns;
	}
	if (status != TALLY_READ_END)
		die(error.message);
	tally_log_reader_close(reader);
	return sum;
}

static uint64_t
read_jansson(const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	uint64_t sum = 0;
	while (file && (len = getline(&line, &size, file)) > 0) {
		json_t *root = json_loadb(line, (size_t)len, 0, NULL);
		size_t i;
		json_t *pass;
		if (!root)
			die("jansson cannot read the log");
		json_array_foreach(json_object_get(root, "passes"), i, pass)
		{
			sum += (uint64_t)json_integer_value(json_object_get(pass, "gpu_ns"));
		}
		json_decref(root);
	}
	free(line);
	if (file)
		fclose(file);
	return sum;
}

/* Passes are at depth 2; the frame's own gpu_ns at depth 1. */
struct yajl_state {
	uint64_t sum;
	unsigned depth;
	int wanted;
};

static int
yajl_key(void *data, const unsigned char *key, size_t len)
{
	struct yajl_state *s = data;
	s->wanted = s->depth == 2 && len == 6 && !memcmp(key, "gpu_ns", 6);
	return 1;
}

static int
yajl_integer(void *data, long long value)
{
	struct yajl_state *s = data;
	if (s->wanted)
		s->sum += (uint64_t)value;
	s->wanted = 0;
	return 1;
}

static int
yajl_open(void *data)
{
	((struct yajl_state *)data)->depth++;
	return 1;
}

static int
yajl_close(void *data)
{
	((struct yajl_state *)data)->depth--;
	return 1;
}

static uint64_t
read_yajl(const char *path)
{
	static const yajl_callbacks callbacks = {
		.yajl_integer = yajl_integer,
		.yajl_start_map = yajl_open,
		.yajl_map_key = yajl_key,
		.yajl_end_map = yajl_close,
	};
	struct yajl_state state = { 0 };
	static unsigned char chunk[1 << 16];
	FILE *file = fopen(path, "re");
	yajl_handle handle = yajl_alloc(&callbacks, NULL, &state);
	yajl_config(handle, yajl_allow_multiple_values, 1);
	size_t len;
	while (file && (len = fread(chunk, 1, sizeof(chunk), file)) > 0) {
		if (yajl_parse(handle, chunk, len) != yajl_status_ok)
			die("yajl cannot read the log");
	}
	if (yajl_complete_parse(handle) != yajl_status_ok)
		die("yajl cannot read the log");
	yajl_free(handle);
	if (file)
		fclose(file);
	return state.sum;
}

/* ---- */

static long
peak_kib(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static double
mb_per_s(uint64_t bytes, uint64_t ns)
{
	return (double)bytes * 1e3 / (double)ns;
}

static double
time_writer(struct frames *f, uint64_t (*writer)(struct frames *, FILE *), const char *path)
{
	FILE *file = fopen(path, "we");
	if (!file)
		die("cannot write the second file");
	uint64_t took_ns = writer(f, file);
	fclose(file);
	return mb_per_s(file_size(path), took_ns);
}

static int
compare_times(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

static uint64_t
find_median(uint64_t *times, size_t n)
{
	qsort(times, n, sizeof(*times), compare_times);
	return times[n / 2];
}

static uint64_t
time_reader(uint64_t (*reader)(const char *), const char *path, uint64_t want, size_t runs)
{
	uint64_t times[RUNS];
	for (size_t run = 0; run < runs; run++) {
		uint64_t begin_ns = now_ns();
		if (reader(path) != want)
			die("a reader got another sum");
		times[run] = now_ns() - begin_ns;
	}
	return find_median(times, runs);
}

/* ---- figures and their limits ---- */

enum {
	WRITE_NS,
	PASS_BYTES,
	WRITE_MB_S,
	WRITE_OVER_YAJL,
	READ_MB_S,
	READ_OVER_JANSSON,
	READ_OVER_YAJL,
	READER_KIB,
	PEAK_KIB,
	N_FIGURES,
};

/* Limits on speed are ratios within one run, as other programs slow both down alike; ns a pass
 * and MB/s are the budget on a current machine. */
static const struct {
	const char *name, *what;
	double at_most, at_least; /* 0: no limit */
} figures[N_FIGURES] = {
	[WRITE_NS] = { "json.write_ns", "ns a pass written", 400, 0 },
	[PASS_BYTES] = { "json.bytes_a_pass", "bytes a pass", 350, 0 },
	[WRITE_MB_S] = { "json.write_mb_s", "MB/s written", 0, 0 },
	[WRITE_OVER_YAJL] = { "json.write_over_yajl", "times yajl's writer", 0, 3 },
	[READ_MB_S] = { "json.read_mb_s", "MB/s read", 0, 0 },
	[READ_OVER_JANSSON] = { "json.read_over_jansson", "times jansson's reader", 0, 5 },
	[READ_OVER_YAJL] = { "json.read_over_yajl", "times yajl's reader", 0, 1.5 },
	[READER_KIB] = { "json.reader_kib", "KiB more by reading", 8192, 0 },
	[PEAK_KIB] = { "json.peak_kib", "KiB resident at most, before the others", 0, 0 },
};

/* The number of figures past their limit. */
static int
print_figures(const double *values)
{
	int past = 0;
	for (int i = 0; i < N_FIGURES; i++) {
		bool over = (figures[i].at_most > 0 && values[i] > figures[i].at_most) ||
			    (figures[i].at_least > 0 && values[i] < figures[i].at_least);
		printf("  %10.1f %s", values[i], figures[i].what);
		if (figures[i].at_most > 0)
			printf(", at most %.0f", figures[i].at_most);
		if (figures[i].at_least > 0)
			printf(", at least %.1f", figures[i].at_least);
		puts(over ? ": PAST IT" : "");
		past += over;
	}
	for (int i = 0; i < N_FIGURES; i++)
		printf("%s\"%s\": %.2f", i ? ", " : "{", figures[i].name, values[i]);
	puts("}");
	return past;
}

static uint64_t
sum_of_frames(struct frames *f)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < f->n_frames; i++) {
		frame_at(f, i);
		for (uint32_t p = 0; p < f->n_passes; p++)
			sum += f->passes[p].gpu_ns;
	}
	return sum;
}

static void
measure(struct frames *f, const char *path, const char *other, double *values)
{
	uint64_t times[RUNS];
	for (int run = 0; run < RUNS; run++)
		times[run] = write_ours(f, path);
	uint64_t write_ns = find_median(times, RUNS);
	uint64_t size = file_size(path);
	uint64_t want = sum_of_frames(f);
	double n_passes = (double)f->n_frames * f->n_passes;
	long before_kib = peak_kib();
	uint64_t read_ns = time_reader(read_ours, path, want, RUNS);
	values[PEAK_KIB] = (double)peak_kib();
	values[READER_KIB] = values[PEAK_KIB] - (double)before_kib;
	values[WRITE_NS] = (double)write_ns / n_passes;
	values[PASS_BYTES] = (double)(size - f->before_frames) / n_passes;
	values[WRITE_MB_S] = mb_per_s(size, write_ns);
	values[READ_MB_S] = mb_per_s(size, read_ns);
	uint64_t yajl_ns = time_reader(read_yajl, path, want, 1);
	uint64_t jansson_ns = time_reader(read_jansson, path, want, 1);
	values[READ_OVER_YAJL] = (double)yajl_ns / (double)read_ns;
	values[READ_OVER_JANSSON] = (double)jansson_ns / (double)read_ns;
	double yajl_mb_s = time_writer(f, write_yajl, other);
	double jansson_mb_s = time_writer(f, write_jansson, other);
	values[WRITE_OVER_YAJL] = values[WRITE_MB_S] / yajl_mb_s;
	printf("a log of %.0f MB, MB/s\n", (double)size / 1e6);
	printf("  write: passtally %.0f, jansson %.0f, yajl %.0f\n", values[WRITE_MB_S],
	       jansson_mb_s, yajl_mb_s);
	printf("  read:  passtally %.0f, jansson %.0f, yajl %.0f\n", values[READ_MB_S],
	       mb_per_s(size, jansson_ns), mb_per_s(size, yajl_ns));
}

int
main(int argc, char **argv)
{
	bool check = argc > 1 && strcmp(argv[1], "--check") == 0;
	argc -= check;
	argv += check;
	uint32_t n_frames = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 270;
	uint32_t n_passes = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000;
	if (!n_frames || !n_passes || n_frames > 1000000 || n_passes > 1000000)
		die("usage: bench_json [--check] [FRAMES [PASSES]]");
	char folder[] = "/tmp/passtally-bench-XXXXXX", path[64], other[64];
	if (!mkdtemp(folder))
		die("no temporary folder");
	snprintf(path, sizeof(path), "%s/log.jsonl", folder);
	snprintf(other, sizeof(other), "%s/other.jsonl", folder);

	struct frames f;
	make_frames(&f, n_frames, n_passes);
	double values[N_FIGURES];
	measure(&f, path, other, values);
	int past = print_figures(values);
	unlink(path);
	unlink(other);
	rmdir(folder);
	free(f.passes);
	free(f.values);
	return check && past;
}
