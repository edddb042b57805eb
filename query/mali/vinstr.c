/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include "layer/base/small_file.h"
#include "query/mali/abi.h"
#include "query/mali/choice.h"
#include "query/mali/reader.h"

#define MAX_BUFFERS 32u
#define ALL_VALUES UINT32_MAX
#define HWVER_GROUPS 4u /* only the first Midgard GPUs have blocks in groups */

/* ---- opening ---- */

static int
ask_for_reader(const struct tally_kbase *dev, uint32_t n_buffers)
{
	if (!dev->old) {
		struct kbase_hwcnt_reader_setup setup = {
			n_buffers, ALL_VALUES, ALL_VALUES, ALL_VALUES, ALL_VALUES,
		};
		return tally_mali_ioctl(dev->fd, KBASE_HWCNT_READER_SETUP, &setup);
	}
	struct kbase_old_reader_setup setup = {
		.header.id = KBASE_OLD_ID_READER,
		.buffer_count = n_buffers,
		.fe_mask = ALL_VALUES,
		.core_mask = ALL_VALUES,
		.tiler_mask = ALL_VALUES,
		.l2_mask = ALL_VALUES,
		.fd = -1,
	};
	if (tally_mali_ioctl(dev->fd, KBASE_OLD_READER_SETUP, &setup) < 0)
		return -1;
	if (setup.header.id != 0 || setup.fd < 0) {
		errno = EINVAL;
		return -1;
	}
	return setup.fd;
}

static enum tally_status
describe(struct tally_mali_reader *r)
{
	uint32_t hwver = 0, bytes = 0;

	if (tally_mali_ioctl(r->fd, VINSTR_GET_HWVER, &hwver) < 0 ||
	    tally_mali_ioctl(r->fd, VINSTR_GET_BUFFER_SIZE, &bytes) < 0)
		return tally_mali_refuse(
			r->reason, "asking vinstr for the form of its samples", errno);
	r->dump = (struct tally_mali_dump){
		.l2_slices = r->dev->props.l2_slices,
		.core_mask = r->dev->props.core_mask,
	};
	r->buffer_bytes = tally_mali_dump_bytes(&r->dump);
	r->n_values = TALLY_MALI_DUMP_VALUES;
	if (hwver == HWVER_GROUPS || !bytes || bytes != r->buffer_bytes)
		return tally_unsupported(r->reason,
					 "vinstr's samples have %u bytes where %zu were "
					 "expected, so that it is "
					 "not known what stands where",
					 bytes, r->buffer_bytes);
	/* Kernels without cycles do not support the request. */
	struct vinstr_features features = { 0 };
	r->reports_clock = tally_mali_ioctl(r->fd, VINSTR_GET_FEATURES, &features) >= 0 &&
			   (features.features & VINSTR_FEATURE_TOP_CYCLES);
	return TALLY_OK;
}

static enum tally_status
vinstr_open(struct tally_mali_reader *r)
{
	static const char what[] = "asking for a vinstr reader";

	for (r->n_buffers = MAX_BUFFERS;; r->n_buffers /= 2) {
		r->fd = ask_for_reader(r->dev, r->n_buffers);
		if (r->fd >= 0 || errno != ENOMEM || r->n_buffers == 1)
			break;
	}
	if (r->fd < 0)
		return tally_mali_refuse(r->reason, what, errno);
	r->fd = tally_small_file_lift(r->fd);
	enum tally_status status = describe(r);
	r->most_waiting = r->n_buffers + 1;
	if (status == TALLY_OK)
		return tally_mali_reader_map(r, r->buffer_bytes * r->n_buffers);
	tally_mali_reader_close(r);
	return status;
}

/* ---- reading ---- */

static enum tally_status
vinstr_start(struct tally_mali_reader *r)
{
	if (tally_mali_ioctl(r->fd, VINSTR_CLEAR, NULL) < 0)
		return tally_mali_refuse(r->reason, "clearing vinstr's counters", errno);
	r->irregular = false;
	r->n_failures = 0;
	return TALLY_OK;
}

static int
vinstr_take(struct tally_mali_reader *r, bool keep)
{
	struct vinstr_buffer_cycles sample = { 0 };
	const struct vinstr_buffer *buffer = &sample.buffer;
	unsigned long get = r->reports_clock ? VINSTR_GET_CYCLES : VINSTR_GET_BUFFER;
	unsigned long put = r->reports_clock ? VINSTR_PUT_CYCLES : VINSTR_PUT_BUFFER;

	if (tally_mali_ioctl(r->fd, get, &sample) < 0)
		return errno;
	if (keep) {
		tally_mali_sums_begin(r->sums);
		if (buffer->index < r->n_buffers) {
			const uint8_t *at = (const uint8_t *)r->map +
					    r->buffer_bytes * buffer->index;
			tally_mali_dump_add(&r->dump, (const uint32_t *)(const void *)at,
					    r->sums);
			tally_mali_sums_add_clock(r->sums, r->reports_clock,
						  sample.top_cycles);
		} else {
			tally_mali_sums_invalidate_all(r->sums);
		}
		tally_mali_sums_end(r->sums);
		r->timestamp_ns = buffer->timestamp_ns;
		r->n_failures = 0;
	}
	return tally_mali_ioctl(r->fd, put, &sample) < 0 ? errno : 0;
}

static int
vinstr_request(struct tally_mali_reader *r)
{
	return ioctl(r->fd, VINSTR_DUMP, 0ul);
}

static void
vinstr_stop(struct tally_mali_reader *r)
{
	tally_mali_reader_drain(r, false);
}

const struct tally_mali_reader_ops tally_mali_vinstr = {
	.name = "vinstr",
	.width_bits = 32,
	.open = vinstr_open,
	.start = vinstr_start,
	.stop = vinstr_stop,
	.request = vinstr_request,
	.take = vinstr_take,
	.no_sample = EAGAIN,
};
