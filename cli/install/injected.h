/* SPDX-License-Identifier: MIT */
/* cli/install/injected.h - where the library to inject is, and how to name it in LD_PRELOAD.
 *
 * The library is found relative to the running command: in the same build tree, or, when
 * installed, in the library folder of the same prefix.
 */
#ifndef PASSTALLY_CLI_INSTALL_INJECTED_H
#define PASSTALLY_CLI_INSTALL_INJECTED_H

#include <glib.h>

struct tally_injected {
	char *path; /* absolute; NULL = not found */
	/* as LD_PRELOAD needs it: `path`, or a path with $LIB where that covers more
	 * architectures; NULL if ld.so could not read such a path */
	char *preload;
	GPtrArray *tried; /* elements: char *, the paths that were searched */
	GPtrArray *others; /* elements: char *, the same library for other architectures */
};

void tally_injected_find(struct tally_injected *injected);
void tally_injected_finish(struct tally_injected *injected);

/* Path of the running executable; the caller frees it. */
char *tally_own_path(void);
/* The folder of the executable, and the prefix of the command: without as many folders at the end
 * as PASSTALLY_BINDIR has. The caller frees both. */
char *tally_own_folder(char **prefix);
/* Path of one of our libraries installed under `prefix`, NULL if there is none; the caller
 * frees it. */
char *tally_installed_library(const char *prefix, const char *name);

/* Path of a program of scenes/; NULL if this build has none of that name. The caller frees it. */
char *tally_scenes_program(const char *name);

#endif
