/* cli/top/find.h - which log does a running game write?
 *
 * A game with a control socket (`passtally run` gives each one) is asked; others are looked
 * for in the default place of logs, by the process their header names. One thread; asking
 * waits at most 3 s a game.
 */
#ifndef PASSTALLY_CLI_TOP_FIND_H
#define PASSTALLY_CLI_TOP_FIND_H

/* The log of process `pid`, or (0) the newest log of a game that runs. The caller frees it
 * with g_free(); NULL after printing an error. */
char *tally_top_find_log(long pid);

#endif
