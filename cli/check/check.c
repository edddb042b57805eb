#include "cli/shared/cli.h"
#include "cli/check/conserve.h"
#include "cli/log/input.h"
#include "cli/check/recount.h"
#include "cli/check/schema_check.h"
#include "cli/check/schema_text.h"
#include "cli/shared/text.h"
#include "json/record_json.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Past this many a log is bad enough; the rest is counted. */
#define MOST_TOLD 20

enum { OPT_HELP = 0, OPT_LINES };

static const struct tally_arg options[] = {
	[OPT_HELP] = { "help", 'h', NULL, "Show this." },
	[OPT_LINES] = { "lines", 0, NULL,
			"Check line by line only, not whether frames and end line agree: for a "
			"log that frames were taken out of." },
};

/* With --lines. */
static bool lines_only;

static void
help(void)
{
	puts("Usage: passtally check LOG...\n\n"
	     "Checks that each line of a log is what the schema says (passtally schema), and\n"
	     "that the lines come in a legal order. LOG may be compressed with zstd; - is\n"
	     "standard input. Of what is wrong the first 20 places are told, as\n"
	     "LOG:LINE:COLUMN: POINTER: what was expected; POINTER leads to the value inside the\n"
	     "line. Of counters that are read in snapshots the values of passes, unattributed and\n"
	     "unlogged must add up to the growth that the end line tells; its statistics must be\n"
	     "what the frames come to.\n");
	tally_args_help(options, G_N_ELEMENTS(options));
	puts("\nA log whose last line is cut, as after kill -9, is accepted with a warning: every\n"
	     "complete line must be right. Lines of a type that this version does not know are\n"
	     "passed over.\n\n"
	     "Exit status: 0; 2 usage; 3 a bad log; 125 other errors.");
}

/* What the reader, which knows the order of lines, has to say of the whole log. */
struct verdict {
	enum tally_read_status status;
	struct tally_read_error error;
	uint64_t lines, frames, passes;
	GString *sums; /* lines on counters whose values do not add up */
	uint64_t n_sums; /* how many there are */
};

struct report {
	const char *path; /* as the user named it */
	uint64_t line;
	uint64_t told, found;
};

static void
show_progress(struct tally_progress *progress, const char *path, const char *what, uint64_t done,
	      uint64_t total)
{
	if (!tally_progress_due(progress))
		return;
	if (total)
		tally_progress_show(progress, "%s %s: %u %%", what, path,
				    (unsigned)(100.0 * (double)done / (double)total));
	else
		tally_progress_show(progress, "%s %s: %.1f MB", what, path, (double)done / 1e6);
}

static void
note_sum(void *data, uint32_t i, const char *message)
{
	struct verdict *v = data;
	if (v->n_sums++ < MOST_TOLD)
		g_string_append_printf(v->sums, "%" G_GUINT64_FORMAT ":1: /growth/%u: %s\n",
				       v->lines, i, message);
}

static void
note_statistic(void *data, uint32_t i, const char *message)
{
	struct verdict *v = data;
	if (v->n_sums++ < MOST_TOLD)
		g_string_append_printf(v->sums, "%" G_GUINT64_FORMAT ":1: /statistics/%u: %s\n",
				       v->lines, i, message);
}

static void
read_log(const char *path, const char *shown, struct tally_progress *progress, struct verdict *v)
{
	struct tally_log_reader *reader = tally_log_input_open(path, &v->status, &v->error);
	if (!reader)
		return;
	struct tally_conserve *conserve = tally_conserve_create();
	struct tally_recount *recount = tally_recount_create();
	struct tally_log_line line;
	while ((v->status = tally_log_reader_next(reader, &line, &v->error)) == TALLY_READ_OK) {
		v->lines = line.number;
		if (line.type == TALLY_LINE_FRAME) {
			v->frames++;
			v->passes += line.frame.n_passes;
			tally_conserve_add_frame(conserve, &line.frame);
			tally_recount_add_frame(recount, &line.frame);
		}
		if (line.type == TALLY_LINE_DEVICE)
			tally_recount_add_device(recount, &line.device);
		if (line.type == TALLY_LINE_END && !lines_only) {
			tally_conserve_check(conserve, &line.end, note_sum, v);
			tally_recount_check(recount, &line.end, note_statistic, v);
		}
		uint64_t done, total;
		tally_log_reader_progress(reader, &done, &total);
		show_progress(progress, shown, "reading", done, total);
	}
	tally_conserve_destroy(conserve);
	tally_recount_destroy(recount);
	tally_log_reader_close(reader);
}

static void
complain(void *data, const struct tally_violation *v)
{
	struct report *r = data;
	r->found++;
	if (r->told == MOST_TOLD)
		return;
	r->told++;
	fprintf(stderr, "%s:%" G_GUINT64_FORMAT ":%u: %s: %s\n", r->path, r->line, v->column,
		*v->pointer ? v->pointer : "the line", v->message);
}

/* A type that a later version may add: the reader passes it over, and so does the schema. */
static bool
is_known_type(const struct tally_json_tree *tree)
{
	static const char *const words[] = {
		"header", "device", "pass_info", "frame", "note", "end"
	};
	const struct tally_json_node *type = tally_json_member(tree, tree->nodes, "type", 4);
	if (!type || type->type != TALLY_JSON_STRING)
		return true; /* then the schema has something to say */
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (strlen(words[i]) == type->text.len &&
		    memcmp(words[i], type->text.s, type->text.len) == 0)
			return true;
	return false;
}

/* All whole lines that are JSON, up to `last`: what is not JSON the reader has told. */
static void
check_lines(int fd, const struct tally_schema *schema, uint64_t last, struct report *r,
	    struct tally_progress *progress)
{
	struct tally_lines lines;
	struct tally_json_tree tree = { 0 };
	struct tally_lines_source source;
	tally_log_input_source(&source, fd, false);
	tally_lines_init_source(&lines, &source);
	char *line;
	size_t len;
	bool whole;
	while (r->line < last && tally_lines_next(&lines, &line, &len, &whole) == TALLY_LINES_OK &&
	       whole) {
		r->line++;
		uint64_t done, total;
		tally_lines_progress(&lines, &done, &total);
		show_progress(progress, r->path, "checking", done, total);
		if (tally_json_tree_parse(&tree, line, len) && is_known_type(&tree))
			tally_schema_check(schema, &tree, complain, r);
	}
	tally_json_tree_finish(&tree);
	tally_lines_finish(&lines);
}

/* A file that can be read twice: the log itself, or a copy of a pipe. -1 after a complaint. */
static int
open_twice_readable(const char *path)
{
	int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	FILE *copy = fd >= 0 ? tmpfile() : NULL;
	int result = -1, error = errno;
	if (fd >= 0 && S_ISDIR(st.st_mode))
		error = EISDIR;
	else if (copy) {
		char buffer[65536];
		ssize_t n;
		while ((n = read(fd, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR))
			if (n > 0 && fwrite(buffer, 1, (size_t)n, copy) != (size_t)n)
				break;
		error = errno;
		if (n == 0 && fflush(copy) == 0)
			result = fcntl(fileno(copy), F_DUPFD_CLOEXEC, 3);
	}
	if (copy)
		fclose(copy);
	if (fd >= 0)
		close(fd);
	if (result < 0)
		tally_cli_complain("check", "%s: %s", path, g_strerror(error));
	return result;
}

/* What the schema cannot know. */
static void
tell_sums(struct report *r, const struct verdict *v)
{
	r->found += v->n_sums;
	char **lines = g_strsplit(v->sums->str, "\n", -1);
	for (char **line = lines; *line && **line && r->told < MOST_TOLD; line++, r->told++)
		fprintf(stderr, "%s:%s\n", r->path, *line);
	g_strfreev(lines);
}

static int
conclude(const struct report *r, const struct verdict *v)
{
	if (v->status == TALLY_READ_BAD)
		fprintf(stderr, "%s:%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT ": %s\n", r->path,
			v->error.line, v->error.column, v->error.message);
	if (r->found > r->told)
		fprintf(stderr, "%s: %" G_GUINT64_FORMAT " more places are wrong\n", r->path,
			r->found - r->told);
	if (v->status == TALLY_READ_BAD || r->found)
		return TALLY_EXIT_BAD_LOG;
	if (v->status == TALLY_READ_TRUNCATED) {
		printf("%s: ok up to line %" G_GUINT64_FORMAT "; the last line is cut (was the "
		       "program "
		       "killed?), %" G_GUINT64_FORMAT " frames, %" G_GUINT64_FORMAT " passes\n",
		       r->path, v->lines, v->frames, v->passes);
		tally_cli_complain("check", "%s: the last line is cut", r->path);
		return TALLY_EXIT_OK;
	}
	if (v->status != TALLY_READ_END) {
		tally_cli_complain("check", "%s: %s", r->path,
				   v->error.message[0] ? v->error.message : "out of memory");
		return TALLY_EXIT_FAILED;
	}
	printf("%s: ok, %" G_GUINT64_FORMAT " frames, %" G_GUINT64_FORMAT " passes\n", r->path,
	       v->frames, v->passes);
	return TALLY_EXIT_OK;
}

static int
check_log(const char *path, const struct tally_schema *schema)
{
	int fd = open_twice_readable(path);
	if (fd < 0)
		return TALLY_EXIT_FAILED;
	char by_number[40];
	g_snprintf(by_number, sizeof(by_number), "/proc/self/fd/%d", fd);
	char *shown = tally_text_escape(path);
	struct verdict v = { .sums = g_string_new(NULL) };
	struct report r = { .path = shown };
	struct tally_progress progress;
	tally_progress_begin(&progress, 1000);
	read_log(by_number, shown, &progress, &v);
	/* The line the reader stopped at may be JSON all the same: the schema says more of it. */
	uint64_t last = v.status == TALLY_READ_BAD ? v.error.line : v.lines;
	if (lseek(fd, 0, SEEK_SET) == 0)
		check_lines(fd, schema, last, &r, &progress);
	tally_progress_end(&progress);
	close(fd);
	tell_sums(&r, &v);
	g_string_free(v.sums, TRUE);
	int status = conclude(&r, &v);
	g_free(shown);
	return status;
}

static int
run(int argc, char **argv)
{
	struct tally_args args;
	tally_args_init(&args, argc, argv, options, G_N_ELEMENTS(options));
	GPtrArray *logs = g_ptr_array_new();
	const char *value;
	int option, status = -1;
	while (status < 0 && (option = tally_args_next(&args, &value)) != TALLY_ARG_END) {
		if (option == TALLY_ARG_POSITIONAL) {
			g_ptr_array_add(logs, (gpointer)value);
			continue;
		}
		if (option == OPT_LINES) {
			lines_only = true;
			continue;
		}
		if (option == OPT_HELP)
			help();
		status = option == OPT_HELP ? TALLY_EXIT_OK : TALLY_EXIT_USAGE;
	}
	if (status < 0 && logs->len == 0) {
		tally_cli_complain("check", "no log named: passtally check LOG...");
		status = TALLY_EXIT_USAGE;
	}
	if (status < 0) {
		char why[512];
		struct tally_schema *schema = tally_schema_create(
			tally_schema_text, tally_schema_text_len, why, sizeof(why));
		status = schema ? TALLY_EXIT_OK : TALLY_EXIT_FAILED;
		if (!schema)
			tally_cli_complain("check", "%s", why);
		for (guint i = 0; schema && i < logs->len; i++) {
			int one = check_log(g_ptr_array_index(logs, i), schema);
			status = MAX(status, one);
		}
		tally_schema_destroy(schema);
	}
	g_ptr_array_unref(logs);
	return status;
}

const struct tally_command tally_command_check = {
	.name = "check",
	.summary = "Check a log against the schema",
	.run = run,
	.help = help,
};
