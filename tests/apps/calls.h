/* SPDX-License-Identifier: MIT */
/* tests/apps/calls.h - call many functions, one after the other, in child processes that the
 * calls may kill.
 *
 * A child makes its world (an instance and a device, or a context) and calls until it dies, has
 * finished or has made a call that leaves the world unusable; the next child begins after that
 * item. An item that is to be skipped ends a child as well, so that the children of a second
 * run begin where those of the first run did: every function is called in the same state in
 * both. The functions named here are the test's own; none of them is thread-safe.
 */
#ifndef PASSTALLY_TESTS_CALLS_H
#define PASSTALLY_TESTS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum calls_found {
	CALLS_NONE,    /* there is no such function */
	CALLS_CALLED,
	CALLS_LISTED,  /* it exists, but is not to be called here */
};

struct calls_plan {
	size_t n; /* items, numbered from 0 */
	/* Runs in the child before its first item; exits where the world cannot be made. */
	void (*start)(void);
	/* Runs in the child: looks the item up, calls it and stores what it returned. */
	enum calls_found (*call)(size_t item, uint64_t *result);
	/* Writes the item's name in the output into `out`. */
	void (*name)(size_t item, char *out, size_t size);
	/* Whether no other item may follow it in the same child. */
	bool (*is_last)(size_t item);
};

/* Prints "NAME none", "NAME listed", "NAME returned VALUE", "NAME called null" (on x86-64),
 * "NAME died SIGNAL", "NAME exited STATUS", or "NAME skipped" for what the file `skip` lists
 * (NULL: nothing) as "died NAME" and "null NAME" in the output of an earlier run. Returns 0
 * when all items were processed, 77 where a child could not make its world. */
int calls_run(const struct calls_plan *plan, const char *skip);

/* For start(): reports that the world cannot be made here. */
void calls_no_world(void) __attribute__((noreturn));

/* Returns zeroed memory for whatever a function reads or writes through a pointer; what the
 * previous call wrote is cleared. */
void *calls_block(void);

#endif
