/* layer/futex.h - sleep until a word changes, wake who sleeps on it.
 *
 * Within one process. Waking never blocks and keeps errno; waiting may end early for no reason, so
 * callers look again.
 */
#ifndef PASSTALLY_LAYER_FUTEX_H
#define PASSTALLY_LAYER_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

#define TALLY_FOREVER UINT64_MAX

/* While *word is `value`, for at most `timeout_ns`. */
void tally_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);
void tally_futex_wake_all(_Atomic uint32_t *word);

#endif
