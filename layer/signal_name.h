/* layer/signal_name.h - the signals that a person may name for --start-on and --stop-on.
 *
 * Any thread; pure functions, nothing blocks or allocates. Signals that a fault or the system
 * raises, that can not be caught, or that libc keeps for itself are none of them.
 */
#ifndef PASSTALLY_LAYER_SIGNAL_NAME_H
#define PASSTALLY_LAYER_SIGNAL_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* "USR2", "SIGUSR2", "RTMIN", "RTMIN+3", "12". */
bool tally_signal_parse(const char *text, int *number);
/* The word that means it; returns its length, as snprintf does. */
size_t tally_signal_word(int number, char *out, size_t size);

#endif
