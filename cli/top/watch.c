/* SPDX-License-Identifier: MIT */
#include "cli/top/top.h"

#include "cli/log/folder.h"
#include "cli/log/input.h"
#include "cli/shared/cli.h"
#include "cli/shared/each.h"
#include "cli/top/prometheus.h"
#include "cli/shared/text.h"
#include "cli/top/screen.h"
#include "cli/top/view.h"
#include "json/record_read.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_US 40000 /* time limit for reading before keys are handled */
#define IDLE_US 1000000 /* interval between tables, and between looks at the process */
#define STALE_US 2000000 /* time without a new line after which the game is not "running" */

struct watch {
	const struct tally_top_options *options;
	struct tally_log_reader *reader;
	struct tally_top_window window;
	struct tally_top_look look;
	bool busy; /* there is more to read */
	bool read_up; /* everything that existed at the start was read */
	bool grew; /* further lines came after that */
	bool held;
	char *bad; /* "PATH:LINE:COLUMN: message": nothing is read after this; NULL = none */
	bool was_alive; /* the log's process was alive at some check */
	bool over; /* that process has ended */
	int64_t changed_us, looked_us, drawn_us;
};

/* ---- signals ---- */

static const int caught[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define N_CAUGHT (sizeof(caught) / sizeof(caught[0]))
static volatile sig_atomic_t stopped;
static int wake[2] = { -1, -1 };

static void
stop(int sig)
{
	int saved = errno;
	stopped = sig;
	if (write(wake[1], "", 1) < 0)
		errno = 0; /* the pipe is full: it will wake us anyway */
	errno = saved;
}

static void
take_signals(void)
{
	if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) < 0)
		wake[0] = wake[1] = -1; /* then a signal is noticed at the next timeout */
	for (size_t i = 0; i < N_CAUGHT; i++) {
		struct sigaction action = { .sa_handler = stop }, before;
		sigaction(caught[i], NULL, &before);
		if (before.sa_handler != SIG_IGN)
			sigaction(caught[i], &action, NULL);
	}
}

/* ---- reading ---- */

/* Opens the log for the reader. -1 after printing an error. */
static int
open_log(struct watch *x, const char *path)
{
	/* FIFOs and devices are refused: reading could block, or consume data meant for
	 * another process. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		tally_cli_complain("top", "%s: cannot be opened: %s", path, g_strerror(errno));
	else if (!S_ISREG(st.st_mode))
		tally_cli_complain("top", "%s: is no regular file: only those are followed", path);
	else
		x->reader = tally_log_input_follow(fd);
	if (fd >= 0 && !x->reader)
		close(fd);
	return x->reader ? fd : -1;
}

/* A line is read when its newline has arrived; the file that was opened is read on, whatever
 * becomes of its name. Until the time limit. */
static void
read_lines(struct watch *x, int64_t until_us)
{
	struct tally_log_line line;
	struct tally_read_error error;
	x->busy = false;
	for (unsigned n = 0; !x->bad && !x->busy; n++) {
		enum tally_read_status status = tally_log_reader_next(x->reader, &line, &error);
		if (status == TALLY_READ_OK && line.type == TALLY_LINE_HEADER &&
		    line.header.digest) {
			status = TALLY_READ_BAD;
			error = (struct tally_read_error){ 1, 1, TALLY_LOG_IS_DIGEST };
		}
		if (status != TALLY_READ_OK && status != TALLY_READ_END) {
			g_autofree char *shown = tally_text_escape(x->options->path);
			x->bad = g_strdup_printf("%s:%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT
						 ": %s", shown, error.line, error.column,
						 error.message);
		}
		if (status != TALLY_READ_OK)
			break;
		tally_aggregate_add(&x->window.log, &line);
		x->grew |= x->read_up;
		x->changed_us = g_get_monotonic_time();
		x->busy = n % 16 == 15 && x->changed_us >= until_us;
	}
	x->read_up |= !x->busy;
}

/* ---- state of the game ---- */

/* One check per second is enough. */
static void
look_after_game(struct watch *x)
{
	int64_t now = g_get_monotonic_time();
	if (now - x->looked_us < IDLE_US && x->looked_us)
		return;
	x->looked_us = now;
	if (tally_process_lives(x->window.log.header.pid))
		x->was_alive = true;
	else
		x->over = x->was_alive;
}

/* Why a game that runs is not captured; NULL: it is. */
static char *
idle_text(const struct watch *x)
{
	static const char changes[] = "trigger: capture ";
	const struct tally_aggregate *log = &x->window.log;
	for (guint i = log->notes->len; i-- > 0;) {
		const char *note = g_ptr_array_index(log->notes, i);
		if (g_str_has_prefix(note, changes))
			return note[strlen(changes)] == 'p'
				       ? g_strdup("paused: passtally trigger start continues")
				       : NULL;
	}
	const char *start = tally_log_option(&log->identity, "start-on", "none");
	return x->window.frames || !start || !*start
		       ? NULL
		       : g_strdup_printf("waits for --start-on %s, or passtally trigger start",
					 start);
}

static char *
state_text(const struct watch *x, enum tally_top_style *style)
{
	const struct tally_aggregate *log = &x->window.log;
	double idle = (double)(g_get_monotonic_time() - x->changed_us) / 1e6;
	*style = TALLY_TOP_WARNING;
	if (x->held)
		return g_strdup("paused: space continues");
	if (x->bad)
		return g_strdup("stopped: a bad line in the log");
	if (!x->read_up)
		return g_strdup("reading the log");
	if (log->has_end)
		return g_strdup_printf("ended: %s", log->end_reason ? log->end_reason : "?");
	if (x->over)
		return g_strdup("the game ended without an end line");
	if (!log->program)
		return g_strdup("waiting for the first line");
	/* The process was killed before the first check, or runs on another machine or in a
	 * container. */
	if (!x->was_alive && !x->grew)
		return g_strdup("no end line, and its process is not here");
	g_autofree char *box = g_strconcat(x->options->path, ".now", NULL);
	if (g_file_test(box, G_FILE_TEST_EXISTS))
		return g_strdup("running with --black-box: its frames are not here");
	char *idles = idle_text(x);
	if (idles)
		return idles;
	if (idle * 1e6 >= STALE_US)
		return g_strdup_printf("nothing new for %.0f s", idle);
	*style = TALLY_TOP_GOOD;
	return g_strdup("running");
}

static char *
problem_text(const struct watch *x)
{
	if (x->bad)
		return g_strdup(x->bad);
	const struct tally_top_device *d =
		tally_top_shown_device(&x->window, x->look.device);
	if (x->window.frames && x->look.device >= 0 && (!d || d->device != x->look.device))
		return g_strdup_printf("no device %" G_GINT64_FORMAT " has frames (yet)",
				       x->look.device);
	return NULL;
}

/* What is shown now, in rows that the caller frees. */
static GPtrArray *
compose(struct watch *x)
{
	g_autofree char *state = state_text(x, &x->look.state_style);
	x->look.state = state;
	g_free(x->look.problem);
	x->look.problem = problem_text(x);
	return tally_top_compose(&x->window, &x->look);
}

/* ---- full-screen view ---- */

static void
draw(struct watch *x)
{
	tally_top_screen_size(&x->look.width, &x->look.height);
	g_autoptr(GPtrArray) rows = compose(x);
	tally_top_screen_show(rows);
	x->drawn_us = g_get_monotonic_time();
}

/* ---- keys ---- */

static void
move_sort(struct watch *x, int columns)
{
	tally_top_move_sort(&x->window, &x->look, columns);
	x->look.scroll = 0;
}

static void
scroll(struct watch *x, int lines)
{
	/* A scroll position beyond the end is corrected when drawing. */
	int64_t at = (int64_t)x->look.scroll + lines;
	x->look.scroll = at < 0 ? 0 : (unsigned)MIN(at, 1000000);
}

static void
scroll_pages(struct watch *x, int pages)
{
	int page = (int)x->look.height > 8 ? (int)x->look.height - 7 : 1;
	scroll(x, pages * page);
}

/* Returns false to leave the view. */
static bool
take_key(struct watch *x, int key)
{
	static const struct {
		const char *keys;
		void (*act)(struct watch *x, int n);
		int n;
	} acts[] = {
		{ "k", scroll, -1 },
		{ "j", scroll, 1 },
		{ TALLY_TOP_KEY_PAGE_UP, scroll_pages, -1 },
		{ TALLY_TOP_KEY_PAGE_DOWN, scroll_pages, 1 },
		{ TALLY_TOP_KEY_HOME, scroll, -1000000 },
		{ TALLY_TOP_KEY_END, scroll, 1000000 },
		{ "<,", move_sort, -1 },
		{ ">.", move_sort, 1 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(acts); i++)
		if (strchr(acts[i].keys, key))
			acts[i].act(x, acts[i].n);
	x->held ^= key == ' ';
	if (key == 'd')
		tally_top_next_device(&x->window, &x->look);
	return key != 'q' && key != 'Q';
}

/* Waits for a key, a signal, or the time of the next redraw. */
static void
wait_for_something(struct watch *x)
{
	int64_t wait_us = IDLE_US - (g_get_monotonic_time() - x->drawn_us);
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = wake[0], .events = POLLIN },
	};
	bool reads_on = x->busy && !x->held;
	poll(fds, G_N_ELEMENTS(fds), reads_on ? 0 : (int)(MAX(wait_us, 0) / 1000) + 1);
}

static void
watch_on_screen(struct watch *x)
{
	x->look.keys = true;
	bool stay = true;
	while (stay && !stopped) {
		if (!x->held)
			read_lines(x, g_get_monotonic_time() + READ_US);
		look_after_game(x);
		int64_t now = g_get_monotonic_time();
		bool pressed = false;
		int key;
		while (stay && (key = tally_top_screen_key()) != 0) {
			stay = take_key(x, key);
			pressed = true;
		}
		if (stay && (pressed || now - x->drawn_us >= IDLE_US))
			draw(x);
		if (stay && !stopped)
			wait_for_something(x);
	}
}

/* ---- plain tables ---- */

static int
print_table(struct watch *x, bool first)
{
	size_t columns = tally_text_terminal_columns();
	x->look.width = columns ? (unsigned)columns : 80;
	g_autoptr(GPtrArray) rows = compose(x);
	if (x->options->once && x->look.problem && !x->bad)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "top", "%s", x->look.problem);
	if (!first)
		putchar('\n');
	TALLY_EACH (const GString, row, rows) {
		g_autofree char *text = g_strchomp(tally_top_row_text(row));
		tally_text_print_line(stdout, "%s", text);
	}
	fflush(stdout);
	return TALLY_EXIT_OK;
}

/* Prints a table of the lines read so far. -1: there is more to come. */
static int
print_one(struct watch *x, bool first)
{
	const char *prometheus = x->options->prometheus;
	if (x->bad && x->window.frames == 0)
		return TALLY_FAIL(TALLY_EXIT_BAD_LOG, "top", "%s", x->bad);
	if (x->options->once && !x->window.log.program && !x->bad)
		return TALLY_FAIL(TALLY_EXIT_NOTHING, "top", "%s has no whole line yet",
				  x->options->path);
	int status = !prometheus ? print_table(x, first)
		     : tally_top_write_prometheus(&x->window, prometheus) ? TALLY_EXIT_OK
									  : TALLY_EXIT_FAILED;
	if (status != TALLY_EXIT_OK)
		return status;
	if (x->bad)
		return TALLY_FAIL(TALLY_EXIT_BAD_LOG, "top", "%s", x->bad);
	bool done = x->options->once || x->window.log.has_end || x->over;
	return done || stopped || ferror(stdout) ? TALLY_EXIT_OK : -1;
}

/* Prints one table per second, or just one. */
static int
watch_plainly(struct watch *x)
{
	int status = -1;
	for (bool first = true; status < 0; first = false) {
		do
			read_lines(x, g_get_monotonic_time() + IDLE_US);
		while (x->busy && (x->options->once || first) && !stopped);
		look_after_game(x);
		status = print_one(x, first);
		struct pollfd fd = { .fd = wake[0], .events = POLLIN };
		if (status < 0)
			poll(&fd, 1, IDLE_US / 1000);
		if (status < 0 && stopped)
			return TALLY_EXIT_OK;
	}
	return status;
}

int
tally_top_watch(const struct tally_top_options *options)
{
	struct watch x = {
		.options = options,
		.changed_us = g_get_monotonic_time(),
		.look = {
			.utf8 = tally_text_is_utf8(),
			.sort = options->sort ? options->sort : "share",
			.device = options->device,
		},
	};
	int fd = open_log(&x, options->path), status = TALLY_EXIT_OK;
	if (fd < 0)
		return TALLY_EXIT_USAGE;
	tally_top_window_init(&x.window, options->path, options->seconds);
	take_signals();
	if (!options->once && !options->prometheus &&
	    tally_top_screen_open(tally_text_has_color())) {
		watch_on_screen(&x);
		tally_top_screen_close();
	} else {
		status = watch_plainly(&x);
		const char *file = options->once ? NULL : options->prometheus;
		if (file && strcmp(file, "-") != 0)
			remove(file); /* what it says is over */
	}
	g_free(x.look.problem);
	g_free(x.bad);
	tally_log_reader_close(x.reader);
	close(fd);
	tally_top_window_finish(&x.window);
	return status;
}
