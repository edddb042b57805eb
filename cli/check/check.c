/* SPDX-License-Identifier: MIT */
#include "cli/check/conserve.h"
#include "cli/check/recount.h"
#include "cli/log/folder.h"
#include "cli/log/input.h"
#include "cli/shared/cli.h"
#include "cli/shared/text.h"
#include "json/record_json.h"

#include <glib.h>
#include <stdio.h>

/* Wrong sums printed one by one; any further ones are only counted. */
#define MOST_SHOWN 20

struct request {
	GPtrArray *logs; /* elements: const char * */
	bool lines_only;
};

static const struct tally_arg options[] = {
	TALLY_ARG_HELP,
	TALLY_ARG_FLAG("lines", 0, struct request, lines_only,
		       "Check line by line only, not whether frames and end line "
		       "agree; for a log from which frames were removed."),
};

static const char help[] =
	"Usage: passtally check [LOG...]\n\n"
	"Checks that each line of a log is what the schema says (passtally\n"
	"schema), and that the lines come in a legal order. LOG may be compressed\n"
	"with zstd; - is standard input, and without LOG it is the newest log.\n"
	"The first wrong line is reported as LOG:LINE:COLUMN: what was expected.\n"
	"Of counters that are read in snapshots the values of passes,\n"
	"unattributed and unlogged must add up to the growth in the end line,\n"
	"whose statistics must be those of the frames; the first 20 that are not\n"
	"are reported.\n" TALLY_HELP_OPTIONS
	"\nA log whose last line is cut, as after kill -9, is accepted with a\n"
	"warning: every complete line must be right. Lines of a type that this\n"
	"version does not know are passed over.\n\n"
	"Exit status: 0; 2 usage; 3 a bad log; 125 other errors.";

struct check {
	const char *path;
	bool lines_only;
	uint64_t line, frames, passes;
	uint64_t n_sums; /* number of sums that do not add up */
};

static void
wrong_sum(struct check *c, const char *array, uint32_t i, const char *message)
{
	if (c->n_sums++ < MOST_SHOWN)
		tally_text_print_line(stderr, "%s:%" G_GUINT64_FORMAT ":1: /%s/%u: %s", c->path,
				      c->line, array, i, message);
}

static void
wrong_growth(void *data, uint32_t i, const char *message)
{
	wrong_sum(data, "growth", i, message);
}

static void
wrong_statistic(void *data, uint32_t i, const char *message)
{
	wrong_sum(data, "statistics", i, message);
}

/* Totals of the lines before the end line. */
struct sums {
	struct tally_conserve *conserve;
	struct tally_recount *recount;
};

static void
add_line(struct check *c, const struct sums *sums, const struct tally_log_line *line)
{
	c->line = line->number;
	switch (line->type) {
	case TALLY_LINE_DEVICE:
		tally_conserve_add_device(sums->conserve, &line->device);
		tally_recount_add_device(sums->recount, &line->device);
		break;
	case TALLY_LINE_FRAME:
		c->frames++;
		c->passes += line->frame.n_passes;
		if (c->lines_only)
			break;
		tally_conserve_add_frame(sums->conserve, &line->frame);
		tally_recount_add_frame(sums->recount, &line->frame);
		break;
	case TALLY_LINE_END:
		if (c->lines_only)
			break;
		tally_conserve_check(sums->conserve, &line->end, wrong_growth, c);
		tally_recount_check(sums->recount, &line->end, wrong_statistic, c);
		break;
	default:
		break;
	}
}

static enum tally_read_status
read_lines(struct check *c, struct tally_log_reader *reader, struct tally_read_error *error)
{
	const struct sums sums = { tally_conserve_create(), tally_recount_create() };
	struct tally_progress progress;
	struct tally_log_line line;
	enum tally_read_status status;
	tally_progress_begin(&progress, 1000);
	while ((status = tally_log_reader_next(reader, &line, error)) == TALLY_READ_OK) {
		add_line(c, &sums, &line);
		tally_progress_read(&progress, "checking", c->path, reader);
	}
	tally_progress_end(&progress);
	tally_conserve_destroy(sums.conserve);
	tally_recount_destroy(sums.recount);
	return status;
}

static int
conclude(const struct check *c, enum tally_read_status status,
	 const struct tally_read_error *error)
{
	int exit_status = TALLY_EXIT_OK;
	if (status != TALLY_READ_END && status != TALLY_READ_TRUNCATED)
		exit_status = tally_cli_read_failed("check", c->path, status, error);
	if (c->n_sums > MOST_SHOWN)
		tally_text_print_line(stderr, "%s: %" G_GUINT64_FORMAT " more sums are wrong",
				      c->path, c->n_sums - MOST_SHOWN);
	if (exit_status != TALLY_EXIT_OK || c->n_sums)
		return exit_status == TALLY_EXIT_OK ? TALLY_EXIT_BAD_LOG : exit_status;
	char counts[80];
	g_snprintf(counts, sizeof(counts),
		   "%" G_GUINT64_FORMAT " frames, %" G_GUINT64_FORMAT " passes", c->frames,
		   c->passes);
	if (status == TALLY_READ_TRUNCATED) {
		tally_text_print_line(stdout,
				      "%s: ok up to line %" G_GUINT64_FORMAT
				      "; the last line is "
				      "cut (was the program killed?), %s",
				      c->path, c->line, counts);
		tally_cli_complain("check", "%s: the last line is cut", c->path);
	} else {
		tally_text_print_line(stdout, "%s: ok, %s", c->path, counts);
	}
	return TALLY_EXIT_OK;
}

static int
check_log(const char *path, bool lines_only)
{
	struct check c = { .path = path, .lines_only = lines_only };
	struct tally_read_error error = { 0 };
	enum tally_read_status status;
	struct tally_log_reader *reader = tally_log_input_open(path, &status, &error);
	if (reader)
		status = read_lines(&c, reader, &error);
	tally_log_reader_close(reader);
	return conclude(&c, status, &error);
}

static int
run(int argc, char **argv)
{
	g_autoptr(GPtrArray) logs = g_ptr_array_new();
	g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
	struct request r = { .logs = logs };
	int status = tally_args_read(&tally_command_check, argc, argv, &r);
	if (status == TALLY_EXIT_OK && !tally_folder_choose_all("check", logs, owned))
		status = TALLY_EXIT_USAGE;
	if (status != TALLY_EXIT_OK)
		return status;
	for (guint i = 0; i < logs->len; i++) {
		/* MAX() evaluates what is larger twice. */
		int one = check_log(g_ptr_array_index(logs, i), r.lines_only);
		status = MAX(status, one);
	}
	return status;
}

static const struct tally_arg operands =
	TALLY_ARG_LIST(NULL, 0, "LOG", struct request, logs, NULL);

const struct tally_command tally_command_check = {
	.name = "check",
	.summary = "Check a log against the schema",
	.run = run,
	.help = help,
	.options = options,
	.n_options = G_N_ELEMENTS(options),
	.operands = &operands,
};
