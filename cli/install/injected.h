/* cli/install/injected.h - where the library to inject is, and how to name it in LD_PRELOAD.
 *
 * Found relative to the running command: beside it in a build tree, in the library folder of the
 * same prefix when installed. One thread.
 */
#ifndef PASSTALLY_CLI_INJECTED_H
#define PASSTALLY_CLI_INJECTED_H

#include <glib.h>
#include <stdbool.h>

struct tally_injected {
	char *path; /* absolute; NULL = not found */
	char *preload; /* as LD_PRELOAD needs it: `path`, or with $LIB where that serves more
			* architectures; NULL when ld.so could not read such a path */
	GPtrArray *tried; /* of char *: where it was looked for */
	GPtrArray *others; /* of char *: the same library for other architectures */
};

void tally_injected_find(struct tally_injected *injected);
void tally_injected_finish(struct tally_injected *injected);

/* Path of the running executable; the caller's. */
char *tally_own_path(void);
/* The prefix that the command runs from, when `folder` is the executable's; the caller's. */
char *tally_own_prefix(const char *folder);
/* Where one of our libraries is installed below `prefix`, NULL when nowhere; the caller's. */
char *tally_installed_library(const char *prefix, const char *name);

#endif
