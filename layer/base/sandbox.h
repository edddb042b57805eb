/* SPDX-License-Identifier: MIT */
/* layer/base/sandbox.h - whether an unusual system call could end the program.
 *
 * A sandbox like Chromium's kills a process at a call that its filter does not know: the clock of
 * another thread, perf_event_open(), sigpending(), process_vm_readv() among them, and getrusage().
 * Files, sockets and memory it refuses with an error.
 */
#ifndef PASSTALLY_LAYER_BASE_SANDBOX_H
#define PASSTALLY_LAYER_BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the calling thread is under a filter of system calls, a container's mild one included.
 * It may come into force at any time, so ask before each such call; this reads a file. */
bool tally_is_filtered(void);
/* The same for who needs more of that file, /proc/thread-self/status: its beginning, and a NUL. */
bool tally_status_is_filtered(char *status, size_t size);
#define TALLY_STATUS_SIZE 4096
/* Whether the filter also lets no file be opened, as browsers' do: getrusage() ends the program in
 * such a one, and in no container. It asks for a file that cannot be. */
bool tally_is_shut_in(void);
/* Whether either question has found the process shut in, which costs nothing: for what is called in
 * each frame. The collector's thread asks ten times a second. */
bool tally_was_shut_in(void);

#endif
