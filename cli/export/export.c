/* SPDX-License-Identifier: MIT */
#include "cli/export/export.h"

#include "cli/export/names.h"
#include "cli/shared/cli.h"
#include "cli/log/folder.h"
#include "cli/log/given_names.h"
#include "cli/log/input.h"
#include "cli/shared/result.h"

#include <errno.h>
#include <string.h>

struct request {
	const char *perfetto, *csv; /* NULL = not requested; "-" = standard output */
	struct tally_export_options options;
	const char *log;
	char *found; /* the log's path, owned */
	const struct tally_export_format *format;
	struct tally_result result;
	struct tally_aggregate summary;
	struct tally_export *export; /* NULL: no line was read yet */
};

static const struct tally_arg options[] = {
	TALLY_ARG("perfetto", tally_arg_text, struct request, perfetto),
	TALLY_ARG("csv", tally_arg_text, struct request, csv),
	TALLY_ARG("no-counters", tally_arg_flag, struct request, options.no_counters),
	TALLY_ARG_TAKE("names", tally_given_names_take),
};

static const struct tally_arg operands =
	TALLY_ARG("log", tally_arg_one, struct request, log);

static int
parse(struct request *r, int argc, char **argv)
{
	int status = tally_args_read(&tally_command_export, argc, argv, r);
	if (status != TALLY_EXIT_OK)
		return status;
	if (!r->perfetto == !r->csv)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "export",
				  "name one format: --perfetto OUT or --csv OUT");
	r->format = r->csv ? &tally_export_csv : &tally_export_perfetto;
	r->found = tally_folder_choose("export", r->log);
	r->log = r->found;
	return r->found ? TALLY_EXIT_OK : TALLY_EXIT_USAGE;
}

static void
show_frame(void *user, const struct tally_frame_record *frame, const GPtrArray *groups)
{
	const struct request *r = user;
	(void)groups;
	r->format->frame(r->export, frame);
}

/* Returns false if a write failed, so that continuing is pointless. */
static bool
show_line(void *user, const struct tally_log_line *line)
{
	struct request *r = user;
	errno = 0;
	/* Not before the first line was read: if the file is not a log, nothing is written. */
	if (!r->export)
		r->export = r->format->begin(r->result.file, &r->options);
	if (line->type == TALLY_LINE_DEVICE)
		tally_export_keys_read(r->options.keys, &line->device);
	tally_aggregate_add(&r->summary, line);
	if (line->type != TALLY_LINE_FRAME)
		r->format->line(r->export, line);
	if (ferror(r->result.file))
		r->result.error = errno;
	return !ferror(r->result.file);
}

static int
read_log(struct request *r)
{
	struct tally_read_error error = { 0 };
	enum tally_read_status status = TALLY_READ_OK;
	struct tally_log_reader *reader = tally_log_input_open(r->log, &status, &error);
	if (!reader)
		return tally_cli_read_failed("export", r->log, status, &error);
	const struct tally_log_taker taker = { show_line, r, "exporting", r->log, false };
	status = tally_log_read_lines(reader, &taker, NULL, &error);
	if (status == TALLY_READ_END || status == TALLY_READ_OK)
		return TALLY_EXIT_OK; /* a failed write is reported when the output is closed */
	if (status == TALLY_READ_TRUNCATED) {
		tally_cli_complain(
			"export",
			"%s: the last line (%" G_GUINT64_FORMAT
			") is cut, as when the program was killed; all lines before it "
			"are exported",
			r->log, error.line);
		return TALLY_EXIT_OK;
	}
	return tally_cli_read_failed("export", r->log, status, &error);
}

static void
print_left(const struct tally_export_left *left)
{
	if (left->passes)
		tally_cli_complain("export",
				   "%" G_GUINT64_FORMAT
				   " pass%s no known place on the GPU's "
				   "timeline: listed where submitted",
				   left->passes, left->passes == 1 ? " has" : "es have");
	if (left->workloads)
		tally_cli_complain(
			"export",
			"%" G_GUINT64_FORMAT " single command%s no known place on "
			"the GPU's timeline: --csv has what was counted there",
			left->workloads, left->workloads == 1 ? " has" : "s have");
}

static int
export_log(struct request *r)
{
	struct tally_export_left left = { 0 };
	if (tally_result_open(
		    &r->result, "export", r->csv ? r->csv : r->perfetto,
		    tally_result_mode(r->log), r->format->binary,
		    "name what to write first: passtally export --perfetto OUT LOG"))
		return TALLY_EXIT_USAGE;
	setvbuf(r->result.file, NULL, _IOFBF, 1 << 18);
	const struct tally_aggregate_watch watch = { .user = r, .takes_values = true,
						     .frame = show_frame };
	tally_aggregate_begin(&r->summary, r->log, &watch);
	r->options.log = &r->summary;
	r->options.keys = tally_export_keys_new();
	int status = read_log(r);
	if (r->export)
		r->format->end(r->export, &left);
	g_hash_table_destroy(r->options.keys);
	tally_aggregate_finish(&r->summary);
	bool good = status == TALLY_EXIT_OK;
	if (!tally_result_close(&r->result, good) && good)
		return TALLY_EXIT_FAILED;
	if (good)
		print_left(&left);
	return status;
}

static int
run(int argc, char **argv)
{
	struct request r = { .log = NULL };
	int status = parse(&r, argc, argv);
	if (status == TALLY_EXIT_OK)
		status = export_log(&r);
	g_free(r.found);
	return status;
}

const struct tally_command tally_command_export =
	TALLY_COMMAND(export, run, options, &operands);
