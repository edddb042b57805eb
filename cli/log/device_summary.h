/* SPDX-License-Identifier: MIT */
/* cli/log/device_summary.h - the information in a log about each device: its identity, frame
 * times, clock and surface, and the series that its counters and metrics are.
 */
#ifndef PASSTALLY_CLI_LOG_DEVICE_SUMMARY_H
#define PASSTALLY_CLI_LOG_DEVICE_SUMMARY_H

#include "cli/log/aggregate.h"
#include "cli/log/aggregate_parts.h"

/* Finds a device by its number; NULL if there is none. */
struct tally_device_summary *
tally_aggregate_device(const struct tally_aggregate *a, uint32_t device);
/* Whether its driver can time single draws of a pass, as far as is known: query/quirks.h. */
bool tally_device_times_draws(const struct tally_device_summary *device);
/* The size of surface that most of its frames presented, the first of several; NULL when none
 * did, or the log does not say. Among the complete frames after the warm-up. */
const struct tally_surface *
tally_aggregate_surface(const struct tally_device_summary *device);
/* Among the complete frames after the warm-up that have a clock; false: there is none. */
bool tally_aggregate_clock(struct tally_device_summary *device, struct tally_clock_range *out);
/* Whether another device in the log is on top of this one, so that showing both would count the
 * work twice. */
bool tally_aggregate_is_beneath(const struct tally_aggregate *a, uint32_t device);

/* The series of a log: GPU time, calls, and each counter and metric. */
void tally_keys_init(struct tally_aggregate *a);
/* The series of a counter or metric, which is added where it is new. */
uint32_t tally_aggregate_key(struct tally_aggregate *a, const char *key, bool metric);

void tally_device_summary_destroy(gpointer summary);
/* Forgets the frames that were counted. */
void tally_device_summary_forget(struct tally_device_summary *d);
/* The summary of a device, created where its number is new. */
struct tally_device_summary *
tally_aggregate_need_device(struct tally_aggregate *a, uint32_t number);
/* A device line. */
void tally_device_summary_read(struct tally_aggregate *a, const struct tally_device_record *r);
/* A frame line that is not left out. */
void tally_device_summary_count(struct tally_device_summary *d, const struct tally_frame_record *f);
/* The queue of a pass, for its device and its group. */
void tally_device_summary_add_queue(struct tally_aggregate *a, struct tally_device_summary *d,
				    struct tally_group *g, const struct tally_pass_record *p);

#endif
