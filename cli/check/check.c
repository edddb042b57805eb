/* SPDX-License-Identifier: MIT */
#include "cli/check/conserve.h"
#include "cli/log/folder.h"
#include "cli/log/input.h"
#include "cli/shared/cli.h"
#include "cli/shared/embedded.h"
#include "cli/shared/out.h"
#include "cli/shared/text.h"
#include "json/record_json.h"
#include "query/statistics/moments.h"
#include "query/statistics/run_statistics.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fraction of its own value by which a mean or a deviation may differ. */
#define FEW_PLACES 1e-12
/* Wrong sums printed one by one; any further ones are only counted. */
#define MOST_SHOWN 20

struct request {
	GPtrArray *logs; /* elements: const char * */
	bool lines_only;
};

static const struct tally_arg options[] = {
	TALLY_ARG("lines", tally_arg_flag, struct request, lines_only),
};

struct check {
	const char *path;
	bool lines_only;
	bool digest;
	uint64_t line, frames, passes;
	uint64_t n_sums; /* number of sums that do not add up */
	/* Totals of the lines before the end line. */
	struct tally_conserve *conserve;
	struct tally_run_statistics *statistics;
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

/* A value that is not finite is left out of the line and read back as not a number. */
static bool
near(double stated, double counted)
{
	if (!isfinite(stated) || !isfinite(counted))
		return !isfinite(stated) && !isfinite(counted);
	return fabs(stated - counted) <= FEW_PLACES * fmax(fabs(stated), fabs(counted));
}

static double
sample_of(const struct tally_statistic_record *s)
{
	return s->has_sd_sample ? s->sd_sample : (double)NAN;
}

static bool
same_sums(const struct tally_statistic_record *a, const struct tally_statistic_record *b)
{
	if (a->integral && b->integral)
		return memcmp(&a->sum, &b->sum, sizeof(a->sum)) == 0 &&
		       memcmp(&a->sum_sq, &b->sum_sq, sizeof(a->sum_sq)) == 0;
	/* A log that another program has rewritten may say 3 where we write 3.0. */
	double sum = a->integral ? tally_int192_f64(&a->sum) : a->sum_f64;
	double sum_sq = a->integral ? tally_int192_f64(&a->sum_sq) : a->sum_sq_f64;
	double want = b->integral ? tally_int192_f64(&b->sum) : b->sum_f64;
	double want_sq = b->integral ? tally_int192_f64(&b->sum_sq) : b->sum_sq_f64;
	/* Either both or neither are in the line. */
	bool finite = isfinite(sum) && isfinite(sum_sq);
	if (finite != (isfinite(want) && isfinite(want_sq)))
		return false;
	return !finite || (near(sum, want) && near(sum_sq, want_sq));
}

/* The name of the first member in which they differ, or NULL. */
static const char *
difference(const struct tally_statistic_record *stated,
	   const struct tally_statistic_record *counted)
{
	if (stated->n != counted->n)
		return "n";
	if (!same_sums(stated, counted))
		return "sum or sum_sq";
	if (tally_value_compare(stated->min, counted->min) != 0)
		return "min";
	if (tally_value_compare(stated->max, counted->max) != 0)
		return "max";
	if (!near(stated->mean, counted->mean))
		return "mean";
	if (!near(stated->sd_population, counted->sd_population))
		return "sd_population";
	if (!near(sample_of(stated), sample_of(counted)))
		return "sd_sample";
	return NULL;
}

static guint
hash(gconstpointer p)
{
	const struct tally_statistic_record *s = p;
	return (guint)(s->id ^ s->id >> 32) ^ g_str_hash(s->key) ^ s->device;
}

static gboolean
equal(gconstpointer a, gconstpointer b)
{
	const struct tally_statistic_record *x = a, *y = b;
	return x->id == y->id && x->device == y->device && strcmp(x->key, y->key) == 0;
}

static void
wrong_statistic(struct check *c, uint32_t i, const struct tally_statistic_record *stated,
		const struct tally_statistic_record *counted, const char *what)
{
	g_autofree char *message =
		counted ? g_strdup_printf(
				  "%s of pass %016" G_GINT64_MODIFIER
				  "x on device %u: %s is not what the frames come to "
				  "(n %" G_GUINT64_FORMAT ", mean %.17g; "
				  "they: n %" G_GUINT64_FORMAT ", mean %.17g)",
				  stated->key, stated->id, stated->device, what, stated->n,
				  stated->mean, counted->n, counted->mean)
			: g_strdup_printf("%s of pass %016" G_GINT64_MODIFIER
					  "x on device %u: no frame has a value of it",
					  stated->key, stated->id, stated->device);
	wrong_sum(c, "statistics", i, message);
}

/* The statistics of the frames must be those of the end line: N, sums and extremes exactly, mean
 * and deviations to a few digits of a double. */
static void
recount(struct check *c, const struct tally_end_record *end)
{
	uint32_t n;
	struct tally_statistic_record *list = tally_run_statistics_list(c->statistics, &n);
	g_autoptr(GHashTable) counted = g_hash_table_new(hash, equal);
	for (uint32_t i = 0; i < n; i++)
		g_hash_table_add(counted, &list[i]);
	for (uint32_t i = 0; i < end->n_statistics; i++) {
		const struct tally_statistic_record *stated = &end->statistics[i];
		const struct tally_statistic_record *mine = g_hash_table_lookup(counted, stated);
		const char *what = mine ? difference(stated, mine) : NULL;
		if (what || !mine)
			wrong_statistic(c, i, stated, mine, what);
	}
	free(list);
}

static bool
add_line(void *user, const struct tally_log_line *line)
{
	struct check *c = user;
	c->line = line->number;
	switch (line->type) {
	case TALLY_LINE_DEVICE:
		tally_conserve_add_device(c->conserve, &line->device);
		/* Its keys live as long as the reader. */
		tally_run_statistics_describe(c->statistics, &line->device);
		break;
	case TALLY_LINE_FRAME:
		c->frames++;
		c->passes += line->frame.n_passes;
		if (c->lines_only)
			break;
		tally_conserve_add_frame(c->conserve, &line->frame);
		tally_run_statistics_add(c->statistics, &line->frame);
		break;
	case TALLY_LINE_HEADER:
		c->digest = line->header.digest;
		break;
	case TALLY_LINE_END:
		if (c->digest) {
			c->frames = line->end.frames;
			c->passes = line->end.passes;
		}
		if (c->lines_only || c->digest)
			break;
		tally_conserve_check(c->conserve, &line->end, wrong_growth, c);
		recount(c, &line->end);
		break;
	default:
		break;
	}
	return true;
}

static enum tally_read_status
read_lines(struct check *c, struct tally_log_reader *reader, struct tally_read_error *error)
{
	c->conserve = tally_conserve_create();
	c->statistics = tally_run_statistics_create(false);
	const struct tally_log_taker taker = { add_line, c, "checking", c->path, true };
	enum tally_read_status status = tally_log_read_lines(reader, &taker, NULL, error);
	tally_conserve_destroy(c->conserve);
	tally_run_statistics_destroy(c->statistics);
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
		tally_text_print_line(stderr, "%s: %" G_GUINT64_FORMAT " more sum%s wrong", c->path,
				      c->n_sums - MOST_SHOWN, TALLY_ARE(c->n_sums - MOST_SHOWN));
	if (exit_status != TALLY_EXIT_OK || c->n_sums)
		return exit_status == TALLY_EXIT_OK ? TALLY_EXIT_BAD_LOG : exit_status;
	char counts[80];
	g_snprintf(counts, sizeof(counts),
		   "%" G_GUINT64_FORMAT " frame%s, %" G_GUINT64_FORMAT " pass%s", c->frames,
		   TALLY_S(c->frames), c->passes, TALLY_ES(c->passes));
	if (status == TALLY_READ_TRUNCATED) {
		tally_text_print_line(stdout,
				      "%s: ok up to line %" G_GUINT64_FORMAT
				      "; the last line is "
				      "cut (was the program killed?), %s",
				      c->path, c->line, counts);
		tally_cli_complain("check", "%s: the last line is cut", c->path);
	} else {
		tally_text_print_line(stdout, "%s: ok, %s%s", c->path,
				      c->digest ? "the digest of " : "", counts);
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
		/* MAX() evaluates the larger argument twice. */
		int one = check_log(g_ptr_array_index(logs, i), r.lines_only);
		status = MAX(status, one);
	}
	return status;
}

static const struct tally_arg operands =
	TALLY_ARG("LOG", tally_arg_list, struct request, logs);

const struct tally_command tally_command_check =
	TALLY_COMMAND(check, run, options, &operands);

/* ---- passtally schema ---- */


static int
run_schema(int argc, char **argv)
{
	struct tally_out o;
	int status = tally_args_read(&tally_command_schema, argc, argv, NULL);
	if (status != TALLY_EXIT_OK)
		return status;
	tally_out_init(&o, stdout);
	tally_out_put(&o, tally_schema_text);
	tally_out_flush(&o);
	return TALLY_EXIT_OK;
}

const struct tally_command tally_command_schema = {
	.name = "schema", .run = run_schema, .help = tally_help_schema
};
