/* SPDX-License-Identifier: MIT */
/* Records to lines and back: tests/golden/log-1.jsonl, byte for byte and field for field. */
#include "json/record_read.h"
#include "tests/unit/json/golden_records.h"
#include "tests/unit/json/log_bytes.h"

static char *
golden_path(void)
{
	return g_test_build_filename(G_TEST_DIST, "..", "golden", "log-1.jsonl", NULL);
}

static char *
temporary_name(void)
{
	char *folder = g_dir_make_tmp("passtally-unit-XXXXXX", NULL);
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

/* A member of a record, a text or a number of any size. */
struct member {
	const char *name;
	size_t offset, size;
	bool is_text;
};

#define MEMBER(type, member) \
	{ \
		#member, offsetof(struct type, member), sizeof(((struct type *)NULL)->member), \
		_Generic(((struct type *)NULL)->member, const char *: true, default: false) \
	}
#define CHECK(members, got, want) check(members, G_N_ELEMENTS(members), got, want)

static void
check(const struct member *members, size_t n, const void *got, const void *want)
{
	for (size_t i = 0; i < n; i++) {
		const char *a = (const char *)got + members[i].offset;
		const char *b = (const char *)want + members[i].offset;
		bool same = memcmp(a, b, members[i].size) == 0;
		if (members[i].is_text)
			same = g_strcmp0(*(const char *const *)a, *(const char *const *)b) == 0;
		if (!same)
			g_error("%s is not what was written", members[i].name);
	}
}

static void
next_line(struct tally_log_reader *reader, struct tally_log_line *line, enum tally_line_type type)
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

/* Values that are not numbers were not written. */
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

#define M(member) MEMBER(tally_header_record, member)
static const struct member header_fields[] = { M(version),   M(n_argv), M(pid),  M(started_unix_ns),
					       M(n_options), M(n_tags), M(run),  M(os),
					       M(kernel),    M(cpu),    M(cpus), M(memory_bytes),
					       M(session),   M(host) };
#undef M

static void
check_header(const struct tally_header_record *got)
{
	CHECK(header_fields, got, &header);
	g_assert_cmpstr(got->program, ==, "/usr/games/caf\\xe9/C:\\x5cxampp\\game");
	g_assert_true(got->has_argv);
	for (uint32_t i = 0; i < got->n_argv; i++)
		g_assert_cmpstr(got->argv[i], ==, header.argv[i]);
	for (uint32_t i = 0; i < got->n_options; i++) {
		g_assert_cmpstr(got->options[i].key, ==, header.options[i].key);
		g_assert_cmpstr(got->options[i].value, ==, header.options[i].value);
	}
	for (uint32_t i = 0; i < got->n_tags; i++) {
		g_assert_cmpstr(got->tags[i].key, ==, header.tags[i].key);
		g_assert_cmpstr(got->tags[i].value, ==, header.tags[i].value);
	}
}

#define M(member) MEMBER(tally_device_record, member)
static const struct member device_fields[] = {
	M(device),        M(api),       M(name),       M(driver),   M(driver_version), M(vendor_id),
	M(has_device_id), M(device_id), M(driver_id),  M(pci),      M(uuid),           M(beneath),
	M(serialized_by), M(n_sources), M(n_counters), M(n_metrics)
};
#undef M
#define M(member) MEMBER(tally_source_info, member)
static const struct member source_fields[] = { M(name), M(on), M(reason) };
#undef M
#define M(member) MEMBER(tally_counter, member)
static const struct member counter_fields[] = { M(key),         M(name), M(unit), M(source),
						M(description), M(kind), M(scope) };
#undef M
#define M(member) MEMBER(tally_metric_info, member)
static const struct member metric_fields[] = { M(key), M(name), M(unit), M(expression),
					       M(dialect) };
#undef M

static void
check_device(const struct tally_device_record *got, const struct tally_device_record *want)
{
	CHECK(device_fields, got, want);
	for (uint32_t i = 0; i < want->n_sources; i++)
		CHECK(source_fields, &got->sources[i], &want->sources[i]);
	for (uint32_t i = 0; i < want->n_counters; i++) {
		const struct tally_counter *a = got->counters[i], *b = want->counters[i];
		CHECK(counter_fields, a, b);
	}
	for (uint32_t i = 0; i < want->n_metrics; i++)
		CHECK(metric_fields, &got->metrics[i], &want->metrics[i]);
}

#define M(member) MEMBER(tally_pass_info_record, member)
static const struct member info_fields[] = { M(id), M(kind), M(load), M(store), M(groups) };
#undef M
#define M(member) MEMBER(tally_target, member)
static const struct member target_fields[] = { M(width),   M(height),    M(layers),
					       M(samples), M(presented), M(n_color) };
#undef M

static void
check_info(const struct tally_pass_info_record *got, const struct tally_pass_info_record *want,
	   const char *label)
{
	const struct tally_target *a = &got->target, *b = &want->target;
	CHECK(info_fields, got, want);
	g_assert_cmpstr(got->label, ==, label);
	CHECK(target_fields, a, b);
	for (uint32_t i = 0; i < b->n_color; i++)
		g_assert_cmpstr(a->color[i].format, ==, b->color[i].format);
	g_assert_cmpstr(a->depth.format, ==, b->depth.format);
	g_assert_cmpstr(a->stencil.format, ==, b->stencil.format);
}

#define M(member) MEMBER(tally_workload_record, member)
static const struct member workload_fields[] = { M(command),      M(has_gpu_start), M(has_gpu),
						 M(gpu_start_ns), M(gpu_ns),        M(flags) };
#undef M

static void
check_workload(const struct tally_workload_record *got, const struct tally_workload_record *want)
{
	CHECK(workload_fields, got, want);
	check_values(got->counters, got->n_counters, want->counters, want->n_counters);
}

#define M(member) MEMBER(tally_pass_record, member)
static const struct member pass_fields[] = { M(index),         M(id),          M(segment),
					     M(kind),          M(unknown),     M(context),
					     M(queue_family),  M(queue_index), M(has_submission),
					     M(submission),    M(surface),     M(has_cpu_start),
					     M(has_gpu_start), M(has_gpu),     M(cpu_start_ns),
					     M(gpu_start_ns),  M(gpu_ns),      M(flags),
					     M(n_workloads) };
#undef M

static void
check_pass(const struct tally_pass_record *got, const struct tally_pass_record *want)
{
	CHECK(pass_fields, got, want);
	g_assert_cmpmem(&got->call_counts, sizeof(got->call_counts), &want->call_counts,
			sizeof(want->call_counts));
	check_values(got->counters, got->n_counters, want->counters, want->n_counters);
	check_values(got->metrics, got->n_metrics, want->metrics, want->n_metrics);
	for (uint32_t i = 0; i < want->n_workloads; i++)
		check_workload(&got->workloads[i], &want->workloads[i]);
}

#define M(member) MEMBER(tally_frame_record, member)
static const struct member frame_fields[] = { M(frame),
					      M(device),
					      M(start_ns),
					      M(cpu_ns),
					      M(has_thread),
					      M(thread_ns),
					      M(has_wait),
					      M(wait_ns),
					      M(has_gpu),
					      M(gpu_ns),
					      M(envelope_ns),
					      M(width),
					      M(height),
					      M(set),
					      M(has_unattributed_gpu),
					      M(unattributed_gpu_ns),
					      M(overhead_ns),
					      M(dropped_passes),
					      M(flags),
					      M(n_passes) };
#undef M

static void
check_frame(const struct tally_frame_record *got, const struct tally_frame_record *want)
{
	bool coverage = want->has_coverage && isfinite(want->coverage);
	CHECK(frame_fields, got, want);
	g_assert_cmpint(got->has_coverage, ==, coverage);
	if (coverage)
		g_assert_cmpfloat(got->coverage, ==, want->coverage);
	check_values(got->unattributed, got->n_unattributed, want->unattributed,
		     want->n_unattributed);
	for (uint32_t i = 0; i < want->n_passes; i++)
		check_pass(&got->passes[i], &want->passes[i]);
}

/* NaN in a record that was read back represents what the log leaves out. */
static void
check_double(double got, double want)
{
	if (isfinite(want))
		g_assert_cmpfloat(got, ==, want);
	else
		g_assert_true(isnan(got));
}

#define M(member) MEMBER(tally_end_record, member)
static const struct member end_fields[] = { M(frames), M(frames_dropped), M(passes), M(reason),
					    M(n_statistics) };
#undef M
#define M(member) MEMBER(tally_statistic_record, member)
static const struct member statistic_fields[] = { M(id),       M(key),    M(n),
						  M(integral), M(device), M(has_sd_sample) };
#undef M

static void
check_end(const struct tally_end_record *got)
{
	CHECK(end_fields, got, &end);
	for (uint32_t i = 0; i < end.n_statistics; i++) {
		const struct tally_statistic_record *a = &got->statistics[i], *b = &statistics[i];
		CHECK(statistic_fields, a, b);
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
		if (b->has_sd_sample)
			g_assert_cmpfloat(a->sd_sample, ==, b->sd_sample);
	}
}

/* Labels that were read back as they are in the log. */
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
		g_assert_cmpint(tally_log_reader_next(reader, &line, &error), ==, TALLY_READ_END);
}

static void
test_golden_read(void)
{
	char *path = golden_path(), *bytes;
	size_t len;
	uint64_t done, total;
	g_assert_true(g_file_get_contents(path, &bytes, &len, NULL));
	struct tally_log_reader *reader = open_log_bytes(bytes, len);
	g_assert_nonnull(reader);
	check_golden(reader);
	tally_log_reader_progress(reader, &done, &total);
	g_assert_cmpuint(done, ==, len);
	g_assert_cmpuint(total, ==, len);
	tally_log_reader_close(reader);

	/* Without the last newline, in memory that ends exactly there. */
	char *exact = g_memdup2(bytes, len - 1);
	reader = open_log_bytes(exact, len - 1);
	check_golden(reader);
	tally_log_reader_close(reader);
	g_free(exact);
	g_free(bytes);
	g_free(path);
}

/* What most frames of one pass have is left out, and read back all the same. */
static void
test_left_out(void)
{
	static const char *const names[] = { "envelope_ns", "coverage", "unattributed",
					     "dropped_passes" };
	static const struct tally_frame_record whole = {
		.has_gpu = true,
		.gpu_ns = 5000,
		.envelope_ns = 5000,
		.has_coverage = true,
		.coverage = 1,
		.has_unattributed_gpu = true,
	};
	char *path = temporary_name(), *bytes;
	size_t len;
	struct tally_recorder *r = open_recorder(path);
	g_assert_cmpint(tally_json_recorder.header(r, &header), ==, TALLY_RECORD_OK);
	g_assert_cmpint(tally_json_recorder.device(r, &gl_device), ==, TALLY_RECORD_OK);
	g_assert_cmpint(tally_json_recorder.frame(r, &whole), ==, TALLY_RECORD_OK);
	tally_json_recorder.close(r);
	g_assert_true(g_file_get_contents(path, &bytes, &len, NULL));
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		g_assert_null(strstr(strstr(bytes, "\"type\":\"frame\""), names[i]));

	struct tally_log_reader *reader = open_log_bytes(bytes, len);
	struct tally_log_line line;
	next_line(reader, &line, TALLY_LINE_HEADER);
	next_line(reader, &line, TALLY_LINE_DEVICE);
	next_line(reader, &line, TALLY_LINE_FRAME);
	check_frame(&line.frame, &whole);
	tally_log_reader_close(reader);
	g_free(bytes);
	remove_temporary(path);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	if (argc > 1) { /* a path: write the log there, to be inspected before it is kept */
		struct tally_recorder *r = open_recorder(argv[1]);
		write_golden(r);
		tally_json_recorder.close(r);
		return 0;
	}
	g_test_add_func("/record_json/write", test_golden_write);
	g_test_add_func("/record_json/read", test_golden_read);
	g_test_add_func("/record_json/left_out", test_left_out);
	return g_test_run();
}
