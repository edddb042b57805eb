/* SPDX-License-Identifier: MIT */
/* cli/run/leftovers.h - the private folders of runs that were killed.
 *
 * A run locks its folder, passtally-XXXXXX in the temporary folder, for as long as it lives; one
 * that SIGKILL ended leaves the folder without the lock. One thread; nothing here blocks.
 */
#ifndef PASSTALLY_CLI_RUN_LEFTOVERS_H
#define PASSTALLY_CLI_RUN_LEFTOVERS_H

/* The file in the folder that PASSTALLY_STATUS names. */
#define TALLY_RUN_STATUS "status"

/* Locks a folder that was just made, until this process ends; programs that it starts do not
 * inherit the lock. */
void tally_run_leftovers_lock(const char *folder);
/* Removes such folders of this user that nobody has locked, are older than a minute (they may be
 * about to be locked) and hold the status file alone: a program that outlived its run may still
 * need the links beside it. */
void tally_run_leftovers_remove(void);

#endif
