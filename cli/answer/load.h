/* SPDX-License-Identifier: MIT */
/* cli/answer/load.h - what the program's threads did, ten times a second (the log's process
 * lines): who worked while a frame waited, and who works all the time.
 *
 * That a thread worked meanwhile is what the log shows; that the frame waited for it, it does not.
 * The driver's own threads are left out where their names show it: those of a software driver
 * begin with its name. Memory grows with the log, up to MOST_LINES of load.c. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_LOAD_H
#define PASSTALLY_CLI_ANSWER_LOAD_H

#include "cli/answer/cause.h"
#include "cli/log/aggregate.h"

struct tally_answer_change;

struct tally_loads {
	GArray *lines; /* elements: struct load_line of load.c, in order of time */
	GArray *frames; /* elements: struct load_frame of load.c, in order of time */
	GHashTable *totals; /* name (interned) -> struct did of load.c, in all lines */
	/* Of all lines: their lengths, the time ready without a CPU, what was read from a disk. */
	uint64_t all_ns, ready_ns, disk_bytes;
	bool has_ready; /* as in struct tally_driver_load, of any thread */
};

enum { TALLY_DREW, TALLY_HAD_NO_CPU };

/* What the threads of a driver on the CPU did in some time, and in how many frames. */
struct tally_driver_load {
	double ns[2], frames;
	double others_ns; /* what the program's other threads worked */
	bool has_ready; /* it is known whether they had no CPU: not in logs before 1.3 */
};

void tally_loads_init(struct tally_loads *l);
void tally_loads_finish(struct tally_loads *l);
void tally_loads_add(struct tally_loads *l, const struct tally_process_record *p);
void tally_loads_add_frame(struct tally_loads *l, uint64_t start_ns, uint64_t ns);

/* Sets the hitch's `thread` and `ready_ns`, where these explain it, and takes a pass back for
 * which a driver that draws on the CPU had none. */
void tally_loads_explain(const struct tally_loads *l, const struct tally_aggregate *log,
			 const struct tally_device_summary *device, struct tally_answer_hitch *h);
/* What the driver's threads did in the line, where it draws on the CPU; 0: no device, too. */
struct tally_driver_load tally_loads_driver(const struct tally_process_record *p,
					    const struct tally_aggregate *log,
					    const struct tally_device_summary *device);
/* The thread besides the one that ends frames that works most, and its share of the time, 0 to 1;
 * NULL: none is known. */
const char *tally_loads_busiest(const struct tally_loads *l, const char *driver, double *share);

/* Names a thread besides the driver's whose work of a frame explains a change in which frames
 * wait. */
void tally_loads_explain_change(const struct tally_loads *l, const struct tally_aggregate *log,
				const struct tally_device_summary *device,
				struct tally_answer_change *c);

#endif
