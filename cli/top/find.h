/* SPDX-License-Identifier: MIT */
/* cli/top/find.h - finds the log that a running game writes.
 *
 * A game with a control socket (`passtally run` gives each one) is queried; for other games,
 * the default folder of logs is searched for a log whose header names the process. One
 * thread; a query waits at most 3 s per game.
 */
#ifndef PASSTALLY_CLI_TOP_FIND_H
#define PASSTALLY_CLI_TOP_FIND_H

/* The log of process `pid`, or (0) the newest log of a running game. The caller frees it
 * with g_free(); NULL after printing an error. */
char *tally_top_find_log(long pid);

#endif
