/* SPDX-License-Identifier: MIT */
#include "layer/session/process.h"

#include "layer/base/clock.h"
#include "layer/base/small_file.h"
#include "layer/config/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define MAX_COMMAND_LINE (64u << 10)

void
tally_process_read(struct tally_process *process)
{
	*process = (struct tally_process){ 0 };
	char *text = malloc(MAX_COMMAND_LINE + 1);
	if (!text)
		return;
	size_t len = tally_small_file_read("/proc/self/cmdline", text, MAX_COMMAND_LINE + 1);
	uint32_t n = 0;
	for (size_t at = 0; at < len; at += strlen(text + at) + 1)
		n++;
	const char **argv = n ? calloc(n, sizeof(*argv)) : NULL;
	if (!argv) {
		free(text);
		return;
	}
	uint32_t i = 0;
	for (size_t at = 0; at < len; at += strlen(text + at) + 1)
		argv[i++] = text + at;
	process->argv = argv;
	process->n_argv = n;
	process->text = text;
}

void
tally_process_finish(struct tally_process *process)
{
	free(process->argv);
	free(process->text);
	*process = (struct tally_process){ 0 };
}

uint64_t
tally_process_start_ns(void)
{
	enum { STARTTIME = 22 }; /* its place in the line, from 1: see proc(5) */
	char text[1024];
	uint64_t now_ns = tally_clock_now_ns(), up_ns = tally_clock_read_ns(CLOCK_BOOTTIME);
	size_t len = tally_small_file_read("/proc/self/stat", text, sizeof(text));
	/* The second word is in brackets and may hold blanks. */
	const char *word = len ? strrchr(text, ')') : NULL;
	for (int i = 2; word && i < STARTTIME; i++) {
		word = strchr(word, ' ');
		word += word != NULL;
	}
	long per_s = sysconf(_SC_CLK_TCK);
	uint64_t ticks = word ? strtoull(word, NULL, 10) : 0;
	uint64_t age_ns = per_s > 0 ? up_ns - ticks * (UINT64_C(1000000000) / (uint64_t)per_s) : 0;
	return ticks && age_ns < up_ns && age_ns < now_ns ? now_ns - age_ns : 0;
}

/* ---- the program ---- */

static bool
is_wine(const char *path)
{
	static const char *const words[] = {
		"wine",        "wine64",        "wine-preloader",   "wine64-preloader",
		"wine-stable", "wine64-stable", "wine-development", "wine64-development"
	};
	const char *base = tally_config_base_name(path);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(base, words[i]) == 0)
			return true;
	}
	return false;
}

size_t
tally_process_named_by(const char *const *argv, size_t n_argv)
{
	size_t i = 0;
	while (i < n_argv && (is_wine(argv[i]) || (i && !argv[i][0])))
		i++;
	/* Wine alone, or with one of its own options. */
	return i < n_argv && argv[i][0] != '-' ? i : 0;
}

/* Wine's loader becomes the program: the command line shows it, while
 * /proc/self/exe stays the same. */
static void
name_exe(char *out, size_t size)
{
	struct tally_process process;
	tally_process_read(&process);
	size_t i = tally_process_named_by(process.argv, process.n_argv);
	if (i < process.n_argv && process.argv[i][0] && !is_wine(process.argv[i]))
		snprintf(out, size, "%s", process.argv[i]);
	tally_process_finish(&process);
}

/* Gets the program's path from /proc; true if that was Wine's loader and
 * was replaced by the .exe. */
static bool
read_program(char *out, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", out, size - 1);
	out[n > 0 ? n : 0] = '\0';
	bool wine = is_wine(out);
	if (wine)
		name_exe(out, size);
	return wine;
}

void
tally_process_program(char *out, size_t size)
{
	read_program(out, size);
}

void
tally_process_called(char *out, size_t size)
{
	static const char by_number[] = "/dev/fd/"; /* fexecve(3) */
	const char *executed = (const char *)(uintptr_t)getauxval(AT_EXECFN);
	if (read_program(out, size) || !executed || !*executed ||
	    strncmp(executed, by_number, strlen(by_number)) == 0)
		return;
	snprintf(out, size, "%s", executed);
}
