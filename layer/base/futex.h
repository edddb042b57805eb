/* SPDX-License-Identifier: MIT */
/* layer/base/futex.h - sleep until a word changes, and wake the threads that sleep on it.
 *
 * Works within one process. Waking never blocks and keeps errno; waiting may end early for no
 * reason, so callers check the word again.
 */
#ifndef PASSTALLY_LAYER_BASE_FUTEX_H
#define PASSTALLY_LAYER_BASE_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

#define TALLY_FOREVER UINT64_MAX

/* Sleeps while *word is `value`, for at most `timeout_ns`. */
void tally_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);
void tally_futex_wake_all(_Atomic uint32_t *word);

#endif
