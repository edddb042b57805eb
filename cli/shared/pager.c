/* SPDX-License-Identifier: MIT */
#include "cli/shared/pager.h"

#include <glib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The command, or NULL. */
static const char *
find_pager(void)
{
	const char *term = g_getenv("TERM"), *pager = g_getenv("PAGER");
	if (!isatty(STDOUT_FILENO) || !term || strcmp(term, "dumb") == 0)
		return NULL;
	if (!pager)
		return "less";
	return *pager && strcmp(pager, "cat") != 0 ? pager : NULL;
}

/* Whether the text has more lines than the screen; a screen of unknown size has room. */
static bool
is_long(const char *text)
{
	struct winsize size;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0)
		return false;
	unsigned lines = 0;
	for (; (text = strchr(text, '\n')) && lines < size.ws_row; text++)
		lines++;
	return lines >= size.ws_row;
}

void
tally_pager_begin(struct tally_pager *pager, bool wanted)
{
	*pager = (struct tally_pager){ .out = stdout };
	FILE *memory = wanted && find_pager() ? open_memstream(&pager->text, &pager->size) : NULL;
	if (memory)
		pager->out = memory;
}

/* Returns false if there is no such command. */
static bool
show(const char *command, const char *text, size_t size)
{
	g_setenv("LESS", "FRX", FALSE);
	fflush(stdout);
	FILE *pipe = popen(command, "we");
	if (!pipe)
		return false;
	/* The keys that end a program are the pager's while it runs. */
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	void (*quit)(int) = signal(SIGQUIT, SIG_IGN);
	fwrite(text, 1, size, pipe);
	int status = pclose(pipe);
	signal(SIGINT, interrupt);
	signal(SIGQUIT, quit);
	return !WIFEXITED(status) || (WEXITSTATUS(status) != 126 && WEXITSTATUS(status) != 127);
}

void
tally_pager_end(struct tally_pager *pager)
{
	if (pager->out == stdout)
		return;
	bool whole = fclose(pager->out) == 0;
	pager->out = stdout;
	if (!whole || !is_long(pager->text) || !show(find_pager(), pager->text, pager->size))
		fwrite(pager->text, 1, pager->size, stdout);
	free(pager->text);
	pager->text = NULL;
}
