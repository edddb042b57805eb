/* SPDX-License-Identifier: MIT */
/* tests/apps/calls.h - call many functions, one after the other, in children that may die of it.
 *
 * A child makes its world (an instance and a device, or a context) and calls until it dies, is done
 * or has called what leaves the world useless; the next child begins after that. What is to be
 * skipped ends a child as well, so that the children of a second run begin where the first's did:
 * every function is called in the same state in both. The functions named here are the test's own;
 * none of them is safe in threads.
 */
#ifndef PASSTALLY_TESTS_CALLS_H
#define PASSTALLY_TESTS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum calls_found {
	CALLS_NONE,    /* there is no such function */
	CALLS_CALLED,
	CALLS_LISTED,  /* there is one, and it is not to be called here */
};

struct calls_plan {
	size_t n; /* items, numbered from 0 */
	/* In the child, before its first item; exits where there is nothing to call with. */
	void (*start)(void);
	/* In the child: look the item up and call it; what it returned. */
	enum calls_found (*call)(size_t item, uint64_t *result);
	/* How it is named in the output, into `out`. */
	void (*name)(size_t item, char *out, size_t size);
	/* Nothing may follow it in the same child. */
	bool (*is_last)(size_t item);
};

/* Prints "NAME none", "NAME listed", "NAME returned VALUE", "NAME called null" (on x86-64),
 * "NAME died SIGNAL", "NAME exited STATUS", or "NAME skipped" for what the file `skip` lists
 * (NULL: nothing) as "died NAME" and "null NAME" of a run before. 0 when all items were gone
 * through, 77 where a child could not make its world. */
int calls_run(const struct calls_plan *plan, const char *skip);

/* In start(): the world cannot be made here. */
void calls_no_world(void) __attribute__((noreturn));

/* Zeroed memory for whatever a function reads or writes through a pointer; what was written last
 * is forgotten. */
void *calls_block(void);

#endif
