/* SPDX-License-Identifier: MIT */
#include "cli/run/live.h"

#include "cli/run/launch.h"
#include "cli/shared/cli.h"
#include "cli/shared/text.h"
#include "cli/top/top.h"
#include "cli/top/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOWHERE "/dev/null"

bool
tally_run_live_check(void)
{
	if (tally_top_screen_check())
		return true;
	return TALLY_FAIL(false, "run",
			  "--live cannot show anything here: standard input or output is not a "
			  "terminal, or TERM names none that can be drawn on. Leave it "
			  "out, and look with passtally top in another terminal");
}

char *
tally_run_live_make_output(const char *log_path)
{
	char *path = g_strconcat(log_path, ".out", NULL);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
		      0600);
	if (fd >= 0) {
		close(fd);
		return path;
	}
	g_autofree char *shown = tally_text_escape(path);
	tally_cli_complain("run", "the program's output is lost, because %s cannot be created: %s",
			   shown, g_strerror(errno));
	g_free(path);
	return g_strdup(NOWHERE);
}

void
tally_run_live_show(const struct tally_launch *launch, const void *data)
{
	enum { DYING_US = 100000, WAIT_US = 20000 }; /* dying: of Ctrl-C, which ends both */
	const struct tally_run_view *view = data;
	const struct tally_top_options options = {
		.path = view->log,
		.seconds = TALLY_TOP_SECONDS,
		.device = -1,
	};
	while (access(view->log, R_OK) < 0 && kill(launch->pid, 0) == 0)
		g_usleep(WAIT_US);
	if (access(view->log, R_OK) == 0) /* it rendered something */
		tally_top_watch(&options);
	g_usleep(DYING_US);
	if (!view->quiet && kill(launch->pid, 0) == 0)
		tally_cli_say("the view is closed; the program keeps running");
}

void
tally_run_live_print_output(const char *path, bool quiet)
{
	struct stat st;
	if (strcmp(path, NOWHERE) == 0 || lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	if (st.st_size == 0) {
		g_unlink(path);
		return;
	}
	g_autofree char *shown = tally_text_escape(path);
	if (!quiet)
		tally_cli_say("what the program wrote to the terminal is in %s", shown);
}
