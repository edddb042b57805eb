/* layer/thread.h - how we start a thread in someone else's process.
 *
 * Any thread may call it. The thread is detached, takes none of the game's signals and has a small
 * stack. Does not wait for it to run.
 */
#ifndef PASSTALLY_LAYER_THREAD_H
#define PASSTALLY_LAYER_THREAD_H

#include <stdbool.h>

/* False: no thread could be had. */
bool tally_thread_start(void *(*run)(void *), void *data);

#endif
