/* SPDX-License-Identifier: MIT */
/* A library that ends the process while it is being loaded, before the constructors of preloaded
 * libraries: what exit() must do for the program is still done.
 */
#include <stdio.h>
#include <stdlib.h>

static void
farewell(void)
{
	puts("farewell");
}

static __attribute__((constructor)) void
leave(void)
{
	atexit(farewell);
	printf("in a buffer\n");
	exit(3);
}

__attribute__((visibility("default"))) int early_exit_status(void);

int
early_exit_status(void)
{
	return 1;
}
