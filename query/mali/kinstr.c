/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "layer/base/small_file.h"
#include "layer/log.h"
#include "query/mali/abi.h"
#include "query/mali/choice.h"
#include "query/mali/kinstr_parse.h"
#include "query/mali/reader.h"

#define MAX_ITEMS 1024u
#define MAX_ITEM_BYTES 4096u
#define MAX_MAP_BYTES (UINT32_C(1) << 28)
#define MAX_WAITING 33u /* the ring has 32 slots */
#define ALL_VALUES UINT64_MAX
#define TRY_VALUES UINT64_C(0xf)

static enum tally_status
reject(struct tally_mali_reader *r, const char *why)
{
	return tally_unsupported(
		r->reason, "kinstr_prfcnt of this kernel is not understood: %s", why);
}

/* ---- opening ---- */

static enum tally_status
enumerate(struct tally_mali_reader *r)
{
	static const char what[] = "asking for what kinstr_prfcnt counts";
	struct kbase_kinstr_enum_info info = { 0 };

	if (tally_mali_ioctl(r->dev->fd, KBASE_KINSTR_ENUM_INFO, &info) < 0)
		return tally_mali_refuse(r->reason, what, errno);
	if (info.item_count == 0 || info.item_count > MAX_ITEMS ||
	    info.item_size < sizeof(struct kinstr_enum_item) || info.item_size > MAX_ITEM_BYTES)
		return reject(r, "its list has a strange size");
	uint32_t item_size = info.item_size, item_count = info.item_count;
	uint8_t *list = calloc(item_count, item_size);
	if (!list)
		return tally_mali_refuse(r->reason, what, ENOMEM);
	info.list = (uint64_t)(uintptr_t)list;
	enum tally_status status = TALLY_OK;
	const char *why = NULL;
	if (tally_mali_ioctl(r->dev->fd, KBASE_KINSTR_ENUM_INFO, &info) < 0)
		status = tally_mali_refuse(r->reason, what, errno);
	else if (!tally_kinstr_parse_offer(list, item_size, item_count, &r->format.offer, &why))
		status = reject(r, why);
	free(list);
	r->n_values = r->format.offer.n_values;
	r->reports_clock = r->format.offer.n_clock_domains > 0;
	return status;
}

/* The driver reports power states since CSF 1.23 and JM 11.41; also protected mode with CSF,
 * and availability otherwise. */
static uint32_t
states_told(const struct tally_kbase *dev)
{
	if (!tally_kbase_at_least(dev, 11, 41, 1, 23))
		return 0;
	return KINSTR_STATE_ON | KINSTR_STATE_OFF |
	       (dev->csf ? KINSTR_STATE_PROTECTED : KINSTR_STATE_UNAVAILABLE);
}

/* One item for the mode, one per block, and an empty one at the end. */
static enum tally_status
set_up(struct tally_mali_reader *r, uint64_t values)
{
	static const char what[] = "asking for a kinstr_prfcnt session";
	struct kinstr_request_item items[2 + TALLY_N_MALI_BLOCKS] = {
		{ .item.type = KINSTR_REQUEST_MODE, .mode.mode = KINSTR_MODE_MANUAL },
	};
	uint32_t n = 1;

	for (unsigned block = 0; block < TALLY_N_MALI_BLOCKS; block++) {
		if (!r->format.enabled[block])
			continue;
		items[n] = (struct kinstr_request_item){ .item.type = KINSTR_REQUEST_ENABLE };
		items[n].enable.type = (uint8_t)block;
		items[n].enable.set = KINSTR_SET_PRIMARY;
		items[n].enable.mask[0] = values;
		items[n].enable.mask[1] = values == ALL_VALUES ? ALL_VALUES : 0;
		n++;
	}
	union kbase_kinstr_setup setup = {
		.in = {
			.item_count = n + 1,
			.item_size = sizeof(items[0]),
			.requests = (uint64_t)(uintptr_t)items,
		},
	};
	int fd = tally_mali_ioctl(r->dev->fd, KBASE_KINSTR_SETUP, &setup);
	if (fd < 0)
		return tally_mali_refuse(r->reason, what, errno);
	r->fd = tally_small_file_lift(fd);
	r->format.item_size = setup.out.metadata_size;
	if (setup.out.metadata_size < sizeof(struct kinstr_metadata_item) ||
	    setup.out.metadata_size > MAX_ITEM_BYTES || setup.out.mmap_size == 0 ||
	    setup.out.mmap_size > MAX_MAP_BYTES) {
		tally_mali_reader_close(r);
		return reject(r, "its samples have a strange size");
	}
	return tally_mali_reader_map(r, setup.out.mmap_size);
}

static enum tally_status
kinstr_open(struct tally_mali_reader *r)
{
	enum tally_status status = enumerate(r);
	if (status != TALLY_OK)
		return status;
	r->format.core_mask = r->dev->props.core_mask;
	r->format.states = states_told(r->dev);
	for (unsigned block = 0; block < TALLY_N_MALI_BLOCKS; block++)
		r->format.enabled[block] = r->format.offer.n_instances[block] > 0;
	/* The samples of a session are numbered from 0, so that the loss of the first is
	 * noticed too. */
	r->has_seq = true;
	r->next_seq = 0;
	r->most_waiting = MAX_WAITING;
	return set_up(r, ALL_VALUES);
}

/* ---- reading ---- */

static int
command(struct tally_mali_reader *r, unsigned what)
{
	struct kinstr_command cmd = { .cmd = (uint16_t)what };
	return tally_mali_ioctl(r->fd, KINSTR_CMD, &cmd) < 0 ? errno : 0;
}

static void
take_sample(struct tally_mali_reader *r, uint64_t offset)
{
	struct tally_kinstr_sample sample = { 0 };
	const char *why;

	tally_mali_sums_begin(r->sums);
	if (!tally_kinstr_parse_sample(&r->format, r->map, r->map_size, offset, &sample, r->sums,
				       &why)) {
		tally_log_say(TALLY_LEVEL_WARNING, "mali-kbase",
			      "a kinstr_prfcnt sample is not understood, so its counts are left "
			      "out: %s",
			      why);
		tally_mali_sums_invalidate_all(r->sums);
		r->n_failures++;
		/* The sample had a number like any other, so that a loss after it is
		 * noticed. */
		r->next_seq++;
		r->timestamp_ns = 0;
	} else {
		/* The delta of a lost sample is unknown, so no counter can be trusted here. */
		if ((sample.flags & KINSTR_SAMPLE_ERROR) ||
		    (r->has_seq && sample.seq != r->next_seq))
			tally_mali_sums_invalidate_all(r->sums);
		/* KINSTR_SAMPLE_OVERFLOW: the sample covers more time, and its values are
		 * right. */
		r->has_seq = true;
		r->next_seq = sample.seq + 1;
		r->timestamp_ns = sample.end_ns;
		r->n_failures = 0;
	}
	tally_mali_sums_end(r->sums);
}

static int
kinstr_take(struct tally_mali_reader *r, bool keep)
{
	struct kinstr_access access = { 0 };

	if (tally_mali_ioctl(r->fd, KINSTR_GET_SAMPLE, &access) < 0)
		return errno;
	if (keep)
		take_sample(r, access.offset);
	return tally_mali_ioctl(r->fd, KINSTR_PUT_SAMPLE, &access) < 0 ? errno : 0;
}

static enum tally_status
kinstr_start(struct tally_mali_reader *r)
{
	int error = command(r, KINSTR_CMD_START);
	if (error)
		return tally_mali_refuse(r->reason, "starting kinstr_prfcnt", error);
	r->irregular = false;
	r->n_failures = 0;
	return TALLY_OK;
}

static int
kinstr_request(struct tally_mali_reader *r)
{
	struct kinstr_command cmd = { .cmd = KINSTR_CMD_SAMPLE };
	return ioctl(r->fd, KINSTR_CMD, &cmd);
}

static void
kinstr_stop(struct tally_mali_reader *r)
{
	(void)command(r, KINSTR_CMD_STOP);
	tally_mali_reader_drain(r, false);
	r->has_seq = false;
}

const struct tally_mali_reader_ops tally_mali_kinstr = {
	.name = "kinstr_prfcnt",
	.width_bits = 64,
	.open = kinstr_open,
	.start = kinstr_start,
	.stop = kinstr_stop,
	.request = kinstr_request,
	.take = kinstr_take,
	.no_sample = EINVAL,
};

/* ---- trial ---- */

/* Starts and stops: tests whether the sample that the stop makes exists and is valid. */
static bool
sample_is_fine(struct tally_mali_reader *r)
{
	struct kinstr_access access = { 0 };
	struct tally_kinstr_sample sample;
	const char *why;

	if (command(r, KINSTR_CMD_START) || command(r, KINSTR_CMD_STOP) ||
	    tally_mali_ioctl(r->fd, KINSTR_GET_SAMPLE, &access) < 0)
		return false;
	bool fine = tally_kinstr_parse_sample(&r->format, r->map, r->map_size, access.offset,
					      &sample, NULL, &why);
	(void)tally_mali_ioctl(r->fd, KINSTR_PUT_SAMPLE, &access);
	return fine;
}

enum tally_status
tally_mali_kinstr_try(const struct tally_kbase *dev, bool *workaround, char *reason)
{
	struct tally_mali_reader r = {
		.ops = &tally_mali_kinstr,
		.dev = dev,
		.fd = -1,
		.reason = reason,
	};
	enum tally_status status = enumerate(&r);
	if (status != TALLY_OK)
		return status;
	if (!r.format.offer.n_instances[TALLY_MALI_CORE])
		return reject(&r, "it lists no shader cores");
	r.format.enabled[TALLY_MALI_CORE] = true;
	status = set_up(&r, TRY_VALUES);
	if (status != TALLY_OK)
		return status;
	*workaround = !sample_is_fine(&r);
	tally_mali_reader_close(&r);
	return TALLY_OK;
}
