/* SPDX-License-Identifier: MIT */
#include "cli/log/folder.h"
#include "cli/log/input.h"
#include "cli/shared/cli.h"
#include "cli/shared/out.h"
#include "cli/shared/text.h"
#include "json/record_json.h"
#include "json/record_read.h"
#include "query/statistics/run_statistics.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
	const char *log, *output;
	bool force;
};

static const struct tally_arg options[] = {
	TALLY_ARG("output", tally_arg_text, struct request, output),
	TALLY_ARG("force", tally_arg_flag, struct request, force),
};

static const struct tally_arg operands =
	TALLY_ARG("LOG", tally_arg_one, struct request, log);

struct digest {
	const char *path;
	struct tally_recorder *out;
	struct tally_run_statistics *statistics;
	uint64_t frames, passes;
	bool is_digest; /* the log is a digest */
	bool ended;
	enum tally_record_status status;
};

static enum tally_record_status
write_end(struct digest *d, const struct tally_end_record *said)
{
	struct tally_end_record end = *said;
	struct tally_statistic_record *list =
		tally_run_statistics_list(d->statistics, &end.n_statistics);
	end.statistics = list;
	d->ended = true;
	d->status = tally_json_recorder.end(d->out, &end);
	free(list);
	return d->status;
}

static bool
take_line(void *user, const struct tally_log_line *line)
{
	struct digest *d = user;
	const struct tally_recorder_ops *ops = &tally_json_recorder;
	struct tally_header_record header;
	switch (line->type) {
	case TALLY_LINE_HEADER:
		header = line->header;
		d->is_digest = header.digest;
		header.digest = true;
		d->status = ops->header(d->out, &header);
		break;
	case TALLY_LINE_DEVICE:
		tally_run_statistics_describe(d->statistics, &line->device);
		d->status = ops->device(d->out, &line->device);
		break;
	case TALLY_LINE_PASS_INFO:
		d->status = ops->pass_info(d->out, &line->pass_info);
		break;
	case TALLY_LINE_PIPELINE:
		d->status = ops->pipeline(d->out, &line->pipeline);
		break;
	case TALLY_LINE_FRAME:
		d->frames++;
		d->passes += line->frame.n_passes;
		tally_run_statistics_add(d->statistics, &line->frame);
		break;
	case TALLY_LINE_NOTE:
		d->status = ops->note(d->out, &line->note);
		break;
	case TALLY_LINE_END:
		d->status = write_end(d, &line->end);
		break;
	default:
		break;
	}
	return d->status == TALLY_RECORD_OK && !d->is_digest;
}

/* Reads the log into the digest that is open. Returns the exit status, after a
 * message. */
static int
convert(struct digest *d, struct tally_log_reader *reader)
{
	struct tally_read_error error = { 0 };
	const struct tally_log_taker taker = { take_line, d, "reading", d->path, true };
	enum tally_read_status status = tally_log_read_lines(reader, &taker, NULL, &error);
	if (d->is_digest)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "digest", "%s is a digest already", d->path);
	bool whole = status == TALLY_READ_END || status == TALLY_READ_TRUNCATED;
	if (whole && !d->ended) {
		write_end(d, &(struct tally_end_record){
				     .frames = d->frames, .passes = d->passes, .reason = "cut" });
		tally_cli_complain("digest", "%s: its end is cut (was the program killed?)",
				   d->path);
	}
	if (d->status == TALLY_RECORD_OK)
		d->status = tally_json_recorder.flush(d->out);
	if (d->status != TALLY_RECORD_OK)
		return TALLY_FAIL(TALLY_EXIT_FAILED, "digest", "%s",
				  tally_json_recorder.why(d->out));
	return whole ? TALLY_EXIT_OK : tally_cli_read_failed("digest", d->path, status, &error);
}

/* Where the digest is written: "-" is standard output, and the default where the log
 * comes from standard input. NULL after a message: a log is not read while it is
 * written over. */
static char *
output_path(const struct request *r)
{
	GStatBuf from, to;
	if (r->output && g_stat(r->log, &from) == 0 && g_stat(r->output, &to) == 0 &&
	    from.st_dev == to.st_dev && from.st_ino == to.st_ino)
		return TALLY_FAIL(NULL, "digest", "%s is the log itself: name another file",
				  r->output);
	if (r->output || strcmp(r->log, "-") == 0)
		return g_strdup(r->output ? r->output : "-");
	g_autofree char *stem = tally_folder_stem(r->log);
	return g_strconcat(stem, ".digest.jsonl", NULL);
}

/* Writes the digest to `path`, which is a new file unless `force`. Returns the exit
 * status, after a message; closes the reader; unless it is 0 no file is left. */
static int
write_file(const char *path, bool force, const char *log, struct tally_log_reader *reader)
{
	const struct tally_recorder_options to = { .path = path, .force = force };
	enum tally_record_status opened;
	char why[512];
	struct digest d = { .path = log };
	d.out = tally_json_recorder.open(&to, &opened, why, sizeof(why));
	if (!d.out) {
		tally_log_reader_close(reader);
		return TALLY_FAIL(TALLY_EXIT_USAGE, "digest", "%s", why);
	}
	d.statistics = tally_run_statistics_create(true);
	int exit_status = convert(&d, reader);
	tally_json_recorder.close(d.out);
	if (exit_status != TALLY_EXIT_OK)
		remove(path);
	tally_run_statistics_destroy(d.statistics);
	return exit_status;
}

/* By a file in the folder for temporary ones: an unfinished digest is not shown. */
static int
write_standard(const char *log, struct tally_log_reader *reader)
{
	g_autofree char *path = NULL, *text = NULL;
	g_autoptr(GError) error = NULL;
	gsize len;
	int fd = g_file_open_tmp("passtally-XXXXXX", &path, &error);
	if (fd < 0) {
		tally_log_reader_close(reader);
		return TALLY_FAIL(TALLY_EXIT_FAILED, "digest", "%s", error->message);
	}
	g_close(fd, NULL);
	int exit_status = write_file(path, true, log, reader);
	if (exit_status != TALLY_EXIT_OK)
		return exit_status;
	if (g_file_get_contents(path, &text, &len, &error)) {
		struct tally_out out;
		tally_out_init(&out, stdout);
		tally_out_bytes(&out, text, len);
		tally_out_flush(&out);
	} else {
		exit_status = TALLY_FAIL(TALLY_EXIT_FAILED, "digest", "%s", error->message);
	}
	remove(path);
	return exit_status;
}

static int
run(int argc, char **argv)
{
	struct request r = { 0 };
	int exit_status = tally_args_read(&tally_command_digest, argc, argv, &r);
	if (exit_status != TALLY_EXIT_OK)
		return exit_status;
	g_autofree char *found = tally_folder_choose("digest", r.log);
	r.log = found;
	g_autofree char *path = found ? output_path(&r) : NULL;
	if (!path)
		return TALLY_EXIT_USAGE;
	struct tally_read_error error;
	enum tally_read_status status;
	struct tally_log_reader *reader = tally_log_input_open(r.log, &status, &error);
	if (!reader)
		return tally_cli_read_failed("digest", r.log, status, &error);
	bool standard = strcmp(path, "-") == 0;
	exit_status = standard ? write_standard(r.log, reader)
			       : write_file(path, r.force, r.log, reader);
	if (exit_status == TALLY_EXIT_OK && !standard)
		tally_text_print_line(stdout, "%s", path);
	return exit_status;
}

const struct tally_command tally_command_digest =
	TALLY_COMMAND(digest, run, options, &operands);
