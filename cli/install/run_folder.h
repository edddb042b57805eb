/* SPDX-License-Identifier: MIT */
/* cli/install/run_folder.h - the private folder of a run: the status file of its capture, and
 * links.
 *
 * It is passtally-XXXXXX in the temporary folder, mode 0700. A run that SIGKILL ended leaves it.
 * Nothing here blocks. Errors are printed. One thread.
 */
#ifndef PASSTALLY_CLI_RUN_FOLDER_H
#define PASSTALLY_CLI_RUN_FOLDER_H

#include <stdbool.h>

/* Names of the links: to the libraries' folder, and to that of the Vulkan manifest. */
#define TALLY_RUN_LIBRARY "lib"
#define TALLY_RUN_LAYER "layer"
/* The log of a program that the command runs for itself. */
#define TALLY_RUN_LOG "log.jsonl"

struct tally_run_folder {
	char *path;
	char *status; /* the file that PASSTALLY_STATUS names */
};

/* `command` names the one that complains. */
bool tally_run_folder_create(struct tally_run_folder *folder, const char *command);
/* Removes the folder, and what the functions here made in it. May be called more than once. */
void tally_run_folder_remove(struct tally_run_folder *folder);
/* The path of a new link, which the caller frees; NULL after an error. */
char *tally_run_folder_link(const struct tally_run_folder *folder, const char *name,
			    const char *to);

#endif
