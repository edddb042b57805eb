/* SPDX-License-Identifier: MIT */
#include "cli/log/device_summary.h"
#include "cli/log/series.h"

#include "cli/log/folder.h"
#include "cli/log/given_names.h"
#include "cli/report/below.h"
#include "cli/report/html.h"
#include "cli/report/json.h"
#include "cli/report/match.h"
#include "cli/report/page_place.h"
#include "cli/report/summary.h"
#include "cli/report/table.h"
#include "cli/report/why.h"
#include "cli/shared/each.h"
#include "cli/shared/pager.h"
#include "cli/shared/text.h"

#include <stdio.h>
#include <string.h>

struct report_request {
	bool json, csv, wide, no_pager, skip_bad;
	bool printed; /* a log before this one had a report */
	bool folds; /* sorted by cost or in order: small rows may share a line */
	const char *html; /* NULL = no HTML page */
	const char *sort;
	const char *columns; /* NULL = the default columns */
	const char *pass; /* NULL = all passes */
	const struct tally_grouping *by;
	int64_t device; /* -1 = the devices on top */
	uint64_t warmup;
	GPtrArray *logs;
	bool page; /* --html, with or without OUT */
	GPtrArray *owned; /* paths of logs that were searched for */
	char *beside; /* where the page goes if no OUT is given */
	struct tally_out out; /* for JSON and CSV */
	struct tally_pager pager; /* for the table */
	char *csv_head; /* the CSV head printed last */
};

static bool
take_by(const char *command, const struct tally_arg *arg, void *to, const char *value)
{
	struct report_request *r = to;
	r->by = tally_grouping_find(value);
	return r->by || TALLY_FAIL(false, command,
				   "--%s %s: must be pass, frame, label, workload "
				   "or pipeline",
				   arg->name, value);
}

static bool
take_page(const char *command, const struct tally_arg *arg, void *to, const char *path)
{
	struct report_request *r = to;
	(void)command, (void)arg;
	r->page = true;
	r->html = path;
	return true;
}

static const struct tally_arg options[] = {
	TALLY_ARG("json", tally_arg_flag, struct report_request, json),
	TALLY_ARG("csv", tally_arg_flag, struct report_request, csv),
	TALLY_ARG_TAKE("html", take_page),
	TALLY_ARG("sort", tally_arg_text, struct report_request, sort),
	TALLY_ARG("columns", tally_arg_text, struct report_request, columns),
	TALLY_ARG_TAKE("by", take_by),
	TALLY_ARG("pass", tally_arg_text, struct report_request, pass),
	TALLY_ARG_WHOLE("device", struct report_request, device, 0, UINT32_MAX),
	TALLY_ARG("warmup", tally_warmup_take, struct report_request, warmup),
	TALLY_ARG_TAKE("names", tally_given_names_take),
	TALLY_ARG("skip-bad", tally_arg_flag, struct report_request, skip_bad),
	TALLY_ARG("wide", tally_arg_flag, struct report_request, wide),
	TALLY_ARG("no-pager", tally_arg_flag, struct report_request, no_pager),
};

static const struct tally_arg operands =
	TALLY_ARG("LOG", tally_arg_list, struct report_request, logs);

/* Which logs, and where the page goes: next to the last of them. A log that was given to --html
 * alone is the one to show. */
static bool
choose_logs(struct report_request *r)
{
	if (r->html && r->logs->len == 0 && tally_page_is_log(r->html)) {
		g_ptr_array_add(r->logs, (gpointer)r->html);
		r->html = NULL;
	}
	if (!tally_folder_choose_all("report", r->logs, r->owned))
		return false;
	if (!r->page || r->html)
		return true;
	r->beside = tally_page_path(r->logs->pdata[r->logs->len - 1]);
	r->html = r->beside;
	return r->html != NULL;
}

/* Which options cannot be combined; NULL = all can. */
static const char *
conflict_of(const struct report_request *r)
{
	if (r->json && r->csv)
		return "--json and --csv exclude each other";
	if (r->page && (r->json || r->csv || r->sort || r->columns || r->pass || r->device >= 0 ||
			r->wide || r->skip_bad || r->by != &tally_by_pass))
		return "--html shows everything: only --warmup goes with it";
	return NULL;
}

static int
parse(struct report_request *r, int argc, char **argv)
{
	int status = tally_args_read(&tally_command_report, argc, argv, r);
	if (status != TALLY_EXIT_OK)
		return status;
	const char *conflict = conflict_of(r);
	if (conflict)
		tally_cli_complain("report", "%s", conflict);
	return !conflict && choose_logs(r) ? TALLY_EXIT_OK : TALLY_EXIT_USAGE;
}

static bool
device_exists(const struct report_request *r, const struct tally_aggregate *a)
{
	if (r->device < 0 || tally_aggregate_device(a, (uint32_t)r->device))
		return true;
	g_autoptr(GString) list = g_string_new(NULL);
	TALLY_EACH (const struct tally_device_summary, d, a->devices)
		g_string_append_printf(list, "%s%u", list->len ? ", " : "", d->device);
	return TALLY_FAIL(false, "report", "--device %" G_GINT64_FORMAT ": %s has %s%s", r->device,
			  a->path, list->len ? "only device " : "no device", list->str);
}

/* What `--wide` shows: the device if there are several, and the time of a frame first. */
static void
arrange_wide(GArray *columns, const GPtrArray *rows)
{
	for (guint i = 1; i < columns->len; i++) {
		struct tally_column c = g_array_index(columns, struct tally_column, i);
		if (c.what == TALLY_COLUMN_DEVICE)
			g_array_index(columns, struct tally_column, i).in_table =
				tally_rows_mix_devices(rows);
		if (c.what != TALLY_COLUMN_PER_FRAME)
			continue;
		g_array_remove_index(columns, i);
		g_array_insert_val(columns, 1, c);
	}
}

/* Reports how many columns of counters and metrics the table does not have. */
static void
print_hidden(FILE *to, const struct tally_aggregate *a)
{
	guint n = 0;
	for (uint32_t i = TALLY_N_FIXED_SERIES; i < tally_n_series(a); i++)
		n += tally_series_in_use(a, i);
	if (n)
		tally_text_print(to, "%u counter%s or metric%s more: --wide, or --columns LIST\n",
				 n, TALLY_S(n), TALLY_S(n));
}

/* Reports which of the first rows contain debug groups, and how to separate them. */
static void
print_groups(FILE *to, const struct tally_aggregate *a, const GPtrArray *rows)
{
	size_t width = tally_text_terminal_columns();
	enum { MOST_LINES = 2 };
	unsigned n = 0;
	for (guint i = 0; i < rows->len && n < MOST_LINES; i++) {
		const struct tally_pass_row *row = tally_as_pass(g_ptr_array_index(rows, i));
		if (!row || !row->groups ||
		    !tally_device_times_draws(tally_aggregate_device(a, row->group.device)))
			continue; /* separated they would have no time */
		tally_text_print_wrapped(to, tally_phrase("%s holds labeled groups (%s): run with "
							  "--split group to separate them",
							  row->group.name, row->groups),
					 2, width ? width : 80);
		n++;
	}
}

/* What --pictures wrote beside the log. */
static void
print_pictures(FILE *to, const struct tally_aggregate *a)
{
	const char *option = tally_log_option(&a->identity, "pictures", "");
	g_autofree char *folder = g_path_get_dirname(a->path), *first = NULL;
	guint n = 0;
	TALLY_EACH_OF (const struct tally_pictured_pass, p, a->pictured) {
		g_autoptr(GPtrArray) files = tally_picture_files(a->path, p->number);
		if (files->len && !first)
			first = g_path_get_basename(files->pdata[0]);
		n += files->len;
	}
	if (n)
		tally_text_print_line(to,
				      "%u picture%s in %s, from %s on; --pass NAME says "
				      "which are of a pass",
				      n, TALLY_S(n), folder, first);
	else if (option)
		tally_text_print_line(to,
				      "no pictures: --pictures %s was not reached, or a note "
				      "says why; --pictures=frame:N takes an earlier frame, "
				      "passtally trigger picture the next while it runs",
				      option);
}

static void
print_pictures_of(FILE *to, const struct tally_aggregate *a, const GPtrArray *rows)
{
	TALLY_EACH_OF (const struct tally_pictured_pass, p, a->pictured) {
		const struct tally_group *g = tally_aggregate_find_pass(a, p->device, p->id);
		if (!g || !g_ptr_array_find((GPtrArray *)rows, g, NULL))
			continue;
		g_autoptr(GPtrArray) files = tally_picture_files(a->path, p->number);
		TALLY_EACH (const char, file, files) {
			g_autofree char *name = g_path_get_basename(file);
			tally_text_print_line(to,
					      "picture of %s in frame %" G_GUINT64_FORMAT ": %s",
					      g->name, p->frame, name);
		}
	}
}

static void
print_table(const struct report_request *r, const struct tally_aggregate *a,
	    const struct tally_answer *answer, GArray *columns, const GPtrArray *rows)
{
	FILE *to = r->pager.out;
	bool few = !r->wide && !r->columns;
	/* Where no frame ended, each pass of the run is a row. */
	bool wide = r->wide && (answer->devices->len || !a->by->passes);
	bool all = wide || (!a->by->frames && (r->pass || !r->folds));
	struct tally_table_style style = { tally_text_terminal_columns(), few,
					   tally_text_has_color(), all };
	if (rows->len == 0)
		return;
	putc('\n', to);
	if (few && !style.width)
		style.width = 80;
	if (few)
		tally_columns_choose_default(columns, a, rows);
	else if (!r->columns)
		arrange_wide(columns, rows);
	tally_report_print_table(to, a, columns, rows, &style);
	if (!all && a->by->frames && rows->len > TALLY_MOST_FRAMES)
		tally_text_print(to, "%u frames more: --wide\n", rows->len - TALLY_MOST_FRAMES);
	if (few)
		print_hidden(to, a);
	if (!a->by->frames)
		tally_report_print_below(to, a, answer, rows, r->pass);
	else if (r->pass)
		tally_text_print_wrapped(to, tally_phrase("GPU time, passes and counts are of "
							  "--pass %s alone", r->pass),
					 2, 80);
	if (r->pass && !a->by->frames)
		print_pictures_of(to, a, rows);
}

static void
print_text(const struct report_request *r, const struct tally_aggregate *a,
	   const struct tally_answer *answer, GArray *columns, const GPtrArray *rows)
{
	FILE *to = r->pager.out;
	const char *name = tally_folder_holds(a->path) ? strrchr(a->path, '/') + 1 : a->path;
	tally_text_print_line(to, "%s: %s", name, a->program ? a->program : "?");
	print_groups(to, a, rows);
	if (!a->has_end && !a->truncated)
		tally_text_print(to, "the log has no end line: the program was killed, crashed, or "
				     "is still running\n  if it ended, its last 0.1 s or "
				     "more are missing\n");
	/* A pass that was asked for comes before the run. */
	if (r->pass) {
		tally_why_print(to, a, answer, rows);
		print_table(r, a, answer, columns, rows);
		putc('\n', to);
	}
	tally_summary_print(to, a, answer, r->device, r->wide);
	tally_summary_print_identity(to, a);
	print_pictures(to, a);
	if (!r->pass)
		print_table(r, a, answer, columns, rows);
	if (r->wide)
		tally_summary_print_hitches(to, answer);
	if (a->notes->len) {
		putc('\n', to);
		tally_summary_print_notes(to, a, NULL);
	}
}

static void
put_column(struct tally_out *o, const struct tally_aggregate *a, const struct tally_group *g,
	   const struct tally_column *c)
{
	struct tally_value v;
	tally_out_char(o, ',');
	if (c->type == TALLY_COLUMN_TEXT)
		tally_out_cell(o, tally_column_text(g, c));
	else if (tally_column_value(a, g, c, &v))
		tally_out_cell_value(o, v);
}

/* The head comes again where another log has other counters. */
static void
print_csv(struct report_request *r, const struct tally_aggregate *a, const GArray *columns,
	  const GPtrArray *rows)
{
	GString *head = g_string_new("log");
	TALLY_EACH_OF (const struct tally_column, column, columns) {
		g_autofree char *cell = tally_out_cell_text(column->key);
		g_string_append_printf(head, ",%s", cell);
	}
	g_string_append_c(head, '\n');
	if (g_strcmp0(head->str, r->csv_head) != 0)
		tally_out_put(&r->out, head->str);
	g_free(r->csv_head);
	r->csv_head = g_string_free(head, FALSE);
	TALLY_EACH (const struct tally_group, g, rows) {
		tally_out_cell(&r->out, a->path);
		TALLY_EACH_OF (const struct tally_column, column, columns)
			put_column(&r->out, a, g, column);
		tally_out_char(&r->out, '\n');
	}
}

static void
tell_skipped(const struct tally_aggregate *a)
{
	const struct tally_skipped_lines *s = &a->skipped;
	if (!s->n)
		return;
	g_autoptr(GString) list = g_string_new(NULL);
	for (size_t i = 0; i < s->n && i < G_N_ELEMENTS(s->numbers); i++)
		g_string_append_printf(list, "%s%" G_GUINT64_FORMAT, i ? ", " : " ", s->numbers[i]);
	tally_cli_complain("report", "%s: %" G_GUINT64_FORMAT " bad line%s skipped: line%s%s%s",
			   a->path, s->n, TALLY_S(s->n), TALLY_S(s->n), list->str,
			   s->n > G_N_ELEMENTS(s->numbers) ? ", ..." : "");
}

static int
print_rows(struct report_request *r, struct tally_aggregate *a, struct tally_answer *answer,
	   GArray *columns, GPtrArray *rows)
{
	if (rows->len && !a->by->only && !tally_rows_choose_pass(rows, r->pass, a->path))
		return TALLY_EXIT_USAGE;
	if (r->json) {
		tally_out_break(&r->out, "\n");
		tally_json_print_report(&r->out, a, answer, rows);
	} else if (r->csv) {
		print_csv(r, a, columns, rows);
	} else {
		if (r->printed)
			putc('\n', r->pager.out);
		print_text(r, a, answer, columns, rows);
	}
	r->printed = true;
	return TALLY_EXIT_OK;
}

static int
report_aggregate(struct report_request *r, struct tally_aggregate *a, struct tally_answer *answer)
{
	g_autoptr(GArray) columns = tally_columns_create(a);
	/* The table begins with the longest frames. */
	bool longest = !r->sort && a->by->frames && !r->csv && !r->json && !r->wide;
	const char *key = !longest ? r->sort : a->by->only ? "gpu_ns" : "cpu_ns";
	const struct tally_column *found = key ? tally_columns_find(columns, "report", "sort", key)
					       : NULL;
	struct tally_column sort = { 0 };
	if (key && !found)
		return TALLY_EXIT_USAGE;
	if (found)
		sort = *found;
	if ((r->columns && !tally_columns_choose(columns, "report", r->columns)) ||
	    !device_exists(r, a))
		return TALLY_EXIT_USAGE;
	r->folds = !key || sort.what == TALLY_COLUMN_ORDER || sort.type == TALLY_COLUMN_TIME ||
		   sort.type == TALLY_COLUMN_SHARE;
	g_autoptr(GPtrArray) rows = tally_rows_create(a, r->device, key ? &sort : NULL, !r->csv);
	if (a->by->none && rows->len == 0)
		tally_cli_complain("report", "%s %s", a->path, a->by->none);
	return print_rows(r, a, answer, columns, rows);
}

/* The passes that --pass names, before their frames are read. */
static int
find_ids(const struct report_request *r, const char *path, GHashTable *ids)
{
	struct tally_aggregate a = { 0 };
	int status;
	if (strcmp(path, "-") == 0)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "report",
				  "--by frame --pass reads a log twice, and - only once");
	status = tally_aggregate_read_watched(&a, NULL, path, &tally_by_pass,
					      r->warmup, NULL, r->skip_bad);
	g_autoptr(GPtrArray) rows = tally_rows_create(&a, r->device, NULL, true);
	if (status == TALLY_EXIT_OK && rows->len &&
	    !tally_rows_choose_pass(rows, r->pass, path))
		status = TALLY_EXIT_USAGE;
	TALLY_EACH (const struct tally_group, g, rows)
		g_hash_table_add(ids, g_memdup2(&g->id, sizeof(g->id)));
	tally_aggregate_finish(&a);
	return status;
}

static int
report_log(struct report_request *r, const char *path)
{
	g_autoptr(GHashTable) ids = g_hash_table_new_full(g_int64_hash, g_int64_equal,
							  g_free, NULL);
	struct tally_aggregate a = { 0 };
	struct tally_grouping by = *r->by;
	by.only = r->pass && by.frames ? ids : NULL;
	int status = by.only ? find_ids(r, path, ids) : TALLY_EXIT_OK;
	if (status != TALLY_EXIT_OK)
		return status;
	struct tally_answer *answer = tally_answer_create(&a);
	status = tally_aggregate_read_watched(&a, "report", path,
					      by.only ? &by : r->by, r->warmup,
					      tally_answer_watch(answer), r->skip_bad);
	tally_answer_conclude(answer);
	tell_skipped(&a);
	if (status == TALLY_EXIT_BAD_LOG && a.devices->len && !r->skip_bad)
		tally_cli_complain("report", "--skip-bad leaves out bad lines");
	if (status == TALLY_EXIT_OK)
		status = report_aggregate(r, &a, answer);
	tally_answer_destroy(answer);
	tally_aggregate_finish(&a);
	return status;
}

static int
report(struct report_request *r)
{
	struct tally_out *o = &r->out;
	int worst = TALLY_EXIT_OK;
	tally_out_init(o, stdout);
	tally_pager_begin(&r->pager, !r->json && !r->csv && !r->no_pager);
	if (r->json) {
		tally_out_object(o, NULL);
		tally_out_text(o, "schema", "passtally-report/1");
		tally_out_text(o, "by", r->by->word);
		if (r->warmup == TALLY_WARMUP_AUTO)
			tally_out_text(o, "warmup", "auto");
		else
			tally_out_u64(o, "warmup", r->warmup);
		tally_out_array(o, "reports");
	}
	for (guint i = 0; i < r->logs->len; i++) {
		int status = report_log(r, g_ptr_array_index(r->logs, i));
		worst = MAX(worst, status);
	}
	if (r->json) {
		tally_out_break(o, "\n");
		tally_out_end_array(o);
		tally_out_end_object(o);
		tally_out_char(o, '\n');
	}
	tally_out_flush(o);
	tally_pager_end(&r->pager);
	return worst;
}

static int
run(int argc, char **argv)
{
	g_autoptr(GPtrArray) logs = g_ptr_array_new();
	g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
	struct report_request r = {
		.by = &tally_by_pass,
		.device = -1,
		.warmup = TALLY_WARMUP_AUTO,
		.logs = logs,
		.owned = owned,
	};
	int status = parse(&r, argc, argv);
	if (status == TALLY_EXIT_OK && r.html)
		status = tally_report_html(r.html, (const char *const *)r.logs->pdata, r.logs->len,
					   r.warmup);
	else if (status == TALLY_EXIT_OK)
		status = report(&r);
	if (status == TALLY_EXIT_OK && r.beside)
		tally_page_open(r.beside);
	g_free(r.beside);
	g_free(r.csv_head);
	return status;
}

const struct tally_command tally_command_report =
	TALLY_COMMAND(report, run, options, &operands);
