#include "cli/export/export.h"

#include "cli/shared/cli.h"
#include "cli/log/input.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPT_PERFETTO, OPT_CHROME, OPT_CSV, OPT_HELP, N_FORMATS = OPT_CSV + 1 };

static const struct tally_arg options[] = {
	[OPT_PERFETTO] = { "perfetto", 0, "OUT",
			   "Write a trace of Perfetto's own kind: opens in ui.perfetto.dev." },
	[OPT_CHROME] = { "chrome", 0, "OUT",
			 "Write Trace Event JSON: opens in chrome://tracing and Perfetto." },
	[OPT_CSV] = { "csv", 0, "OUT",
		      "Write a table: one row a frame, pass and value, with unit and validity." },
	[OPT_HELP] = { "help", 'h', NULL, "Show this." },
};

static const struct tally_export_format *const formats[N_FORMATS] = {
	[OPT_PERFETTO] = &tally_export_perfetto,
	[OPT_CHROME] = &tally_export_chrome,
	[OPT_CSV] = &tally_export_csv,
};

struct target {
	const struct tally_export_format *format;
	const char *path; /* NULL = not asked for; "-" = standard output */
	char *part; /* where it grows; NULL = at `path` itself, which is no plain file */
	FILE *file;
	int error; /* errno of a failed write */
	struct tally_export *export;
};

struct request {
	struct target targets[N_FORMATS];
	const char *log;
};

static void
help(void)
{
	puts("Usage: passtally export --perfetto OUT [options] LOG\n\n"
	     "Turns a log into a timeline or a table for other programs. LOG is a file that\n"
	     "passtally wrote; - is standard input, and as OUT standard output. Several formats\n"
	     "can be had at once.\n");
	tally_args_help(options, G_N_ELEMENTS(options));
	puts("\nTimelines have a track for each queue (Vulkan) or context (OpenGL) with what the\n"
	     "GPU ran, frames with their passes and, of a run with --granularity draw, their\n"
	     "commands; beside it what the CPU submitted when. Counters and metrics are tracks as\n"
	     "well, at 0 where nothing was measured, and stand with each pass. Times are\n"
	     "CLOCK_MONOTONIC; those of a GPU clock that could not be matched with it are on\n"
	     "tracks that say so. A pass whose time is not known is listed where it was "
	     "submitted,\n"
	     "but not drawn on the GPU's track. docs/export.md describes tracks and columns.\n\n"
	     "A log whose last line is cut, as after kill -9, is exported up to there with a\n"
	     "warning. Exit status: 0; 2 usage; 3 a bad log, told as LOG:LINE:COLUMN: message; "
	     "125\n"
	     "other errors. After an error no OUT is left behind.");
}

/* TALLY_EXIT_OK to go on; -1 when help was shown. */
static int
parse(struct request *r, int argc, char **argv)
{
	struct tally_args args;
	tally_args_init(&args, argc, argv, options, G_N_ELEMENTS(options));
	const char *value;
	int option;
	unsigned n = 0;
	while ((option = tally_args_next(&args, &value)) != TALLY_ARG_END) {
		if (option == TALLY_ARG_ERROR)
			return TALLY_EXIT_USAGE;
		if (option == OPT_HELP) {
			help();
			return -1;
		}
		if (option == TALLY_ARG_POSITIONAL) {
			if (r->log) {
				tally_cli_complain("export", "one log at a time: %s and %s are two",
						   r->log, value);
				return TALLY_EXIT_USAGE;
			}
			r->log = value;
		} else {
			r->targets[option].path = value;
		}
	}
	for (unsigned i = 0; i < N_FORMATS; i++) {
		const char *path = r->targets[i].path;
		n += path != NULL;
		for (unsigned k = 0; k < i; k++) {
			if (path && g_strcmp0(path, r->targets[k].path) == 0) {
				tally_cli_complain("export",
						   "--%s and --%s both go to %s: name two",
						   options[k].name, options[i].name, path);
				return TALLY_EXIT_USAGE;
			}
		}
	}
	if (n == 0)
		tally_cli_complain("export",
				   "no format named: --perfetto OUT, --chrome OUT or --csv OUT");
	else if (!r->log)
		tally_cli_complain("export",
				   "no log named: passtally export --perfetto OUT LOG, and OUT "
				   "comes first");
	else
		return TALLY_EXIT_OK;
	return TALLY_EXIT_USAGE;
}

static bool
complain_about(const char *path, const char *what)
{
	tally_cli_complain("export", "%s: %s", path, what);
	return false;
}

/* Files that are not whole yet, for the signal that ends us. */
static char *volatile unfinished[N_FORMATS];

static void
on_signal(int number)
{
	for (unsigned i = 0; i < N_FORMATS; i++)
		if (unfinished[i])
			unlink(unfinished[i]);
	raise(number); /* by its default now: SA_RESETHAND */
}

static void
take_signals(void)
{
	static const int numbers[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction ours = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		struct sigaction before;
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
			sigaction(numbers[i], &ours, NULL);
	}
}

/* `passtally export --csv LOG OUT` means well, and would cost a log. */
static bool
is_log(const char *path)
{
	static const char start[] = "{\"type\":\"header\"", zstd[] = "\x28\xb5\x2f\xfd";
	char bytes[sizeof(start) - 1];
	FILE *file = fopen(path, "rbe");
	if (!file)
		return false;
	bool found = fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes) &&
		     (memcmp(bytes, start, sizeof(bytes)) == 0 ||
		      memcmp(bytes, zstd, sizeof(zstd) - 1) == 0);
	fclose(file);
	return found;
}

static bool
open_target(struct target *t, char *volatile *part)
{
	struct stat s;
	if (strcmp(t->path, "-") == 0) {
		t->file = stdout;
		if (t->format->binary && isatty(STDOUT_FILENO))
			return complain_about("-", "a trace is not for a terminal: name a file");
		return true;
	}
	bool exists = stat(t->path, &s) == 0;
	if (exists && S_ISDIR(s.st_mode))
		return complain_about(t->path, "is a folder: name a file in it");
	if (exists && !S_ISREG(s.st_mode)) { /* /dev/null, a pipe: nothing to put in its place */
		t->file = fopen(t->path, "wbe");
		return t->file || complain_about(t->path, g_strerror(errno));
	}
	if (exists && is_log(t->path))
		return complain_about(t->path, "is a log; name what to write first: passtally "
					       "export --perfetto OUT LOG");
	/* Whole or not at all: it grows beside its place. */
	t->part = g_strdup_printf("%s.XXXXXX", t->path);
	int fd = g_mkstemp_full(t->part, O_WRONLY | O_CLOEXEC, 0666);
	if (fd < 0) {
		int error = errno;
		g_free(g_steal_pointer(&t->part));
		return complain_about(t->path, g_strerror(error));
	}
	*part = t->part;
	t->file = fdopen(fd, "wb");
	if (!t->file)
		return complain_about(t->path, g_strerror(errno));
	return true;
}

/* What was written to the target is there, or a complaint is. `good` false: take it away. */
static bool
close_target(struct target *t, char *volatile *part, bool good)
{
	if (t->file == stdout)
		return good; /* tally_cli_finish() judges it */
	bool written = t->file && !ferror(t->file) && fflush(t->file) == 0;
	int error = t->error ? t->error : errno;
	if (t->file && fclose(t->file) != 0 && written) {
		written = false;
		error = errno;
	}
	if (good && written && t->part && g_rename(t->part, t->path) != 0) {
		written = false;
		error = errno;
	}
	if (good && t->path && !written)
		complain_about(t->path, g_strerror(error));
	if (t->part && !(good && written))
		g_unlink(t->part);
	*part = NULL;
	g_free(t->part);
	return good && (written || !t->path);
}

static void
show_progress(struct tally_progress *progress, const char *path,
	      const struct tally_log_reader *reader)
{
	uint64_t done, total;
	if (!tally_progress_due(progress))
		return;
	tally_log_reader_progress(reader, &done, &total);
	if (total)
		tally_progress_show(progress, "exporting %s: %u %%", path,
				    (unsigned)(100.0 * (double)done / (double)total));
	else
		tally_progress_show(progress, "exporting %s: %.1f MB", path, (double)done / 1e6);
}

/* False: a write failed, and there is no use in going on. */
static bool
show_line(struct request *r, const struct tally_log_line *line)
{
	bool good = true;
	for (unsigned i = 0; i < N_FORMATS; i++) {
		struct target *t = &r->targets[i];
		if (!t->export)
			continue;
		errno = 0;
		t->format->line(t->export, line);
		if (ferror(t->file)) {
			t->error = errno;
			good = false;
		}
	}
	return good;
}

/* As the other commands that read logs have it. */
static int
read_failed(const char *path, enum tally_read_status status, const struct tally_read_error *error)
{
	if (status == TALLY_READ_BAD) {
		fprintf(stderr, "%s:%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT ": %s\n", path,
			error->line, error->column, error->message);
		return TALLY_EXIT_BAD_LOG;
	}
	tally_cli_complain("export", "%s: %s", path,
			   error->message[0] ? error->message : "out of memory");
	return TALLY_EXIT_FAILED;
}

/* Every line to every format. */
static int
read_log(struct request *r)
{
	struct tally_read_error error = { 0 };
	enum tally_read_status status = TALLY_READ_OK;
	struct tally_log_reader *reader = tally_log_input_open(r->log, &status, &error);
	if (!reader)
		return read_failed(r->log, status, &error);
	struct tally_progress progress;
	tally_progress_begin(&progress, 1000);
	struct tally_log_line line;
	while ((status = tally_log_reader_next(reader, &line, &error)) == TALLY_READ_OK) {
		if (!show_line(r, &line))
			break;
		show_progress(&progress, r->log, reader);
	}
	tally_progress_end(&progress);
	tally_log_reader_close(reader);
	if (status == TALLY_READ_END || status == TALLY_READ_OK)
		return TALLY_EXIT_OK; /* a failed write is told where the target is closed */
	if (status == TALLY_READ_TRUNCATED) {
		tally_cli_complain("export",
				   "%s: the last line (%" G_GUINT64_FORMAT
				   ") is cut, as when the program was killed; all lines before it "
				   "are exported",
				   r->log, error.line);
		return TALLY_EXIT_OK;
	}
	return read_failed(r->log, status, &error);
}

static void
tell_left(const struct tally_export_left *left)
{
	if (left->passes)
		tally_cli_complain("export",
				   "%" G_GUINT64_FORMAT " passes have no known place on the GPU's "
				   "timeline: they are listed where they were submitted",
				   left->passes);
	if (left->workloads)
		tally_cli_complain("export",
				   "%" G_GUINT64_FORMAT " single commands have no known place on "
				   "the GPU's timeline: --csv has what was counted of them",
				   left->workloads);
}

static int
export_log(struct request *r)
{
	int status = TALLY_EXIT_OK;
	take_signals();
	for (unsigned i = 0; i < N_FORMATS && status == TALLY_EXIT_OK; i++) {
		struct target *t = &r->targets[i];
		t->format = formats[i];
		if (!t->path)
			continue;
		if (open_target(t, &unfinished[i])) {
			setvbuf(t->file, NULL, _IOFBF, 1 << 18);
			t->export = formats[i]->begin(t->file);
		} else {
			status = TALLY_EXIT_USAGE;
		}
	}
	if (status == TALLY_EXIT_OK)
		status = read_log(r);
	struct tally_export_left left = { 0 };
	bool good = status == TALLY_EXIT_OK;
	for (unsigned i = 0; i < N_FORMATS; i++) {
		struct target *t = &r->targets[i];
		if (t->export)
			formats[i]->end(t->export, &left);
		if (!close_target(t, &unfinished[i], good) && good)
			status = TALLY_EXIT_FAILED;
	}
	if (status == TALLY_EXIT_OK)
		tell_left(&left);
	return status;
}

static int
run(int argc, char **argv)
{
	struct request r = { .log = NULL };
	int status = parse(&r, argc, argv);
	if (status == TALLY_EXIT_OK)
		status = export_log(&r);
	return status < 0 ? TALLY_EXIT_OK : status;
}

const struct tally_command tally_command_export = {
	.name = "export",
	.summary = "Turn a log into a timeline or a table for other programs",
	.run = run,
	.help = help,
};
