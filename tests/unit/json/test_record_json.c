/* SPDX-License-Identifier: MIT */
/* Records to lines and back: tests/golden/log-1.jsonl, byte for byte and field for field. */
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
	g_assert_cmpint(got->has_wait, ==, want->has_wait);
	g_assert_cmpuint(got->wait_ns, ==, want->wait_ns);
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

/* NaN in a record that was read back represents what the log leaves out. */
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
		g_assert_cmpint(tally_log_reader_next(reader, &line, &error), ==,
				TALLY_READ_END);
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
	return g_test_run();
}
