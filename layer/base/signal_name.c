/* SPDX-License-Identifier: MIT */
#include "layer/base/signal_name.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool
is_free(int number)
{
	static const int taken[] = { SIGKILL, SIGSTOP, SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
				     SIGTRAP, SIGSYS,  SIGABRT, SIGPIPE, SIGCHLD };
	for (size_t i = 0; i < COUNT(taken); i++) {
		if (number == taken[i])
			return false;
	}
	/* The signals between the classic ones and SIGRTMIN are libc's own. */
	return number >= 1 && number <= SIGRTMAX && (number < 32 || number >= SIGRTMIN);
}

/* Parses one or two digits and nothing else; -1: anything else. */
static int
read_number(const char *text)
{
	size_t n = strspn(text, "0123456789");
	if (n == 0 || n > 2 || text[n])
		return -1;
	return n == 1 ? text[0] - '0' : (text[0] - '0') * 10 + text[1] - '0';
}

bool
tally_signal_parse(const char *text, int *number)
{
	static const char realtime[] = "RTMIN";
	static const size_t len = sizeof(realtime) - 1;
	if (strncmp(text, "SIG", 3) == 0)
		text += 3;
	int n = read_number(text);
	if (strcmp(text, "USR1") == 0)
		n = SIGUSR1;
	else if (strcmp(text, "USR2") == 0)
		n = SIGUSR2;
	else if (strcmp(text, realtime) == 0)
		n = SIGRTMIN;
	else if (strncmp(text, realtime, len) == 0 && text[len] == '+')
		n = read_number(text + len + 1) < 0
			    ? -1
			    : SIGRTMIN + read_number(text + len + 1);
	if (!is_free(n))
		return false;
	*number = n;
	return true;
}

size_t
tally_signal_word(int number, char *out, size_t size)
{
	int n;
	if (number == SIGUSR1 || number == SIGUSR2)
		n = snprintf(out, size, "USR%d", number == SIGUSR1 ? 1 : 2);
	else if (number >= SIGRTMIN)
		n = snprintf(out, size, "RTMIN+%d", number - SIGRTMIN);
	else
		n = snprintf(out, size, "%d", number);
	return n > 0 ? (size_t)n : 0;
}
