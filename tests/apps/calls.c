/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* REG_RIP */
#endif
#include "tests/apps/calls.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define BLOCKS 8
#define BLOCK_BYTES (64 * 1024)
#define NO_WORLD 93
#define SECONDS 20 /* for one call, while other tests run */
#define NAME_BYTES 256

struct report {
	uint64_t item;
	enum { BEGUN, RETURNED, IS_LISTED, IS_NONE, CALLED_NULL, PASSED_OVER } what;
	uint64_t result;
};

static const char *const words[] = {
	[IS_LISTED] = "listed",
	[IS_NONE] = "none",
	[CALLED_NULL] = "called null",
	[PASSED_OVER] = "skipped",
};

static unsigned char blocks[BLOCKS][BLOCK_BYTES];
/* What each item did in the first run. */
static enum { FINE, DEADLY, CALLS_NULL } *skipped;
static sigjmp_buf before_call;

void *
calls_block(void)
{
	static unsigned next;
	unsigned char *block = blocks[next++ % BLOCKS];
	memset(block, 0, BLOCK_BYTES);
	return block;
}

void
calls_no_world(void)
{
	_exit(NO_WORLD);
}

static void
read_skipped(const struct calls_plan *plan, const char *path)
{
	skipped = calloc(plan->n, sizeof(*skipped));
	FILE *file = fopen(path, "r");
	char line[NAME_BYTES], name[NAME_BYTES];
	if (!skipped || !file) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(2);
	}
	/* The file is in the plan's order, "died" or "null" before each name. */
	size_t i = 0;
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		char *wanted = strchr(line, ' ');
		for (bool found = false; wanted && !found && i < plan->n; i++) {
			plan->name(i, name, sizeof(name));
			found = strcmp(wanted + 1, name) == 0;
			if (found)
				skipped[i] = line[0] == 'n' ? CALLS_NULL : DEADLY;
		}
	}
	fclose(file);
}

/* A jump to NULL has done nothing yet: the child may continue. Anything else ends it. */
static void
caught(int number, siginfo_t *info, void *context)
{
	(void)number;
	uintptr_t at = 1;
#ifdef __x86_64__
	at = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#endif
	if (!at && !info->si_addr)
		siglongjmp(before_call, 1);
	signal(SIGSEGV, SIG_DFL);
}

static void
catch_null(void)
{
	static unsigned char stack[65536];
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_sigaction = caught,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK };
	sigaltstack(&other, NULL);
	sigaction(SIGSEGV, &action, NULL);
}

static void
say(int pipe, size_t item, int what, uint64_t result)
{
	struct report report = { .item = item, .what = what, .result = result };
	if (write(pipe, &report, sizeof(report)) != (ssize_t)sizeof(report))
		_exit(1);
}

/* Returns whether a function was found and its call returned. */
static bool
call_one(const struct calls_plan *plan, size_t item, int pipe)
{
	uint64_t result = 0;
	alarm(SECONDS);
	say(pipe, item, BEGUN, 0);
	if (sigsetjmp(before_call, 1)) {
		say(pipe, item, CALLED_NULL, 0);
		return false;
	}
	enum calls_found found = plan->call(item, &result);
	int what = found == CALLS_CALLED   ? RETURNED
		   : found == CALLS_LISTED ? IS_LISTED
					   : IS_NONE;
	say(pipe, item, what, result);
	return found == CALLS_CALLED;
}

static void __attribute__((noreturn))
child(const struct calls_plan *plan, size_t first, int pipe)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct rlimit no_core = { 0 };
	setrlimit(RLIMIT_CORE, &no_core);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	alarm(SECONDS);
	plan->start();
	catch_null();
	for (size_t i = first; i < plan->n; i++) {
		if (skipped && skipped[i] == DEADLY)
			break;
		if (skipped && skipped[i] == CALLS_NULL)
			say(pipe, i, PASSED_OVER, 0);
		else if (call_one(plan, i, pipe) && plan->is_last(i))
			break;
	}
	_exit(0);
}

static void
show(const char *name, const struct report *report)
{
	if (report->what == RETURNED)
		printf("%s returned %" PRIu64 "\n", name, report->result);
	else
		printf("%s %s\n", name, words[report->what]);
}

/* Runs one child, starting at an item; returns the item that the next child starts at. */
static size_t
run_child(const struct calls_plan *plan, size_t first)
{
	int ends[2];
	char name[NAME_BYTES];
	if (pipe(ends) != 0)
		exit(2);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		child(plan, first, ends[1]);
	}
	close(ends[1]);
	struct report report;
	size_t next = first;
	bool inside = false;
	while (read(ends[0], &report, sizeof(report)) == (ssize_t)sizeof(report)) {
		inside = report.what == BEGUN;
		next = (size_t)report.item + 1;
		plan->name((size_t)report.item, name, sizeof(name));
		if (!inside)
			show(name, &report);
	}
	close(ends[0]);
	int status = 0;
	waitpid(pid, &status, 0);
	if (next == first && WIFEXITED(status) && WEXITSTATUS(status) == NO_WORLD)
		exit(77);
	if (inside && WIFSIGNALED(status))
		printf("%s died %d\n", name, WTERMSIG(status));
	else if (inside)
		printf("%s exited %d\n", name, WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		printf("between died %d\n", WTERMSIG(status));
	return next;
}

int
calls_run(const struct calls_plan *plan, const char *skip)
{
	if (skip)
		read_skipped(plan, skip);
	for (size_t i = 0; i < plan->n;) {
		if (skipped && skipped[i] == DEADLY) {
			char name[NAME_BYTES];
			plan->name(i++, name, sizeof(name));
			printf("%s skipped\n", name);
			continue;
		}
		size_t next = run_child(plan, i);
		if (next == i)
			return 1; /* the world was made, but nothing was called */
		i = next;
	}
	return 0;
}
