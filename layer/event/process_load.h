/* SPDX-License-Identifier: MIT */
/* layer/event/process_load.h - what the program's threads did over a tenth of a second, and its
 * memory: where the thread that ends frames only waits, another one may limit them.
 *
 * Belongs to the collector's thread, which reads it: a clock for each thread, small files of twelve
 * at most, and /proc/self/task where threads came or went. Nothing here touches the program's
 * threads. Our own are left out.
 */
#ifndef PASSTALLY_LAYER_EVENT_PROCESS_LOAD_H
#define PASSTALLY_LAYER_EVENT_PROCESS_LOAD_H

#include "layer/record.h"

#define TALLY_LOAD_PERIOD_NS UINT64_C(100000000)
#define TALLY_LOAD_THREADS 5 /* listed, the busiest */

struct tally_process_load;

/* start_ns: when the process began, from which on the first reading counts; 0: not known. NULL: out
 * of memory. */
struct tally_process_load *tally_process_load_create(uint64_t start_ns);
void tally_process_load_destroy(struct tally_process_load *load); /* accepts NULL */

/* Reads all at now_ns (CLOCK_MONOTONIC). `frames`: the kernel's number of the thread that ends
 * frames, 0: not known. False where there is nothing to compare with yet. The record's threads are
 * valid until the next call. */
bool tally_process_load_read(struct tally_process_load *load, uint64_t now_ns, uint64_t frames,
			     struct tally_process_record *out);

#endif
