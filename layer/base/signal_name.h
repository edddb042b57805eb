/* SPDX-License-Identifier: MIT */
/* layer/base/signal_name.h - the signals that a user may name for --start-on and --stop-on.
 *
 * Any thread; pure functions, nothing blocks or allocates. These exclude signals that a fault
 * or the system raises, that cannot be caught, or that libc keeps for itself.
 */
#ifndef PASSTALLY_LAYER_BASE_SIGNAL_NAME_H
#define PASSTALLY_LAYER_BASE_SIGNAL_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* "USR2", "SIGUSR2", "RTMIN", "RTMIN+3", "12". */
bool tally_signal_parse(const char *text, int *number);
/* Prints the name of the signal; returns its length, as snprintf does. */
size_t tally_signal_word(int number, char *out, size_t size);

#endif
