/* SPDX-License-Identifier: MIT */
/* layer/base/thread.h - starts our threads in the game's process.
 *
 * Any thread may call it. The thread is detached, receives none of the game's signals and has a
 * small stack. The call does not wait for it to run.
 */
#ifndef PASSTALLY_LAYER_BASE_THREAD_H
#define PASSTALLY_LAYER_BASE_THREAD_H

#include <stdbool.h>

/* False: no thread could be created. */
bool tally_thread_start(void *(*run)(void *), void *data);

#endif
