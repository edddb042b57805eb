/* SPDX-License-Identifier: MIT */
/* query/quirks.h - what drivers do that nothing in their API says, and passtally works around.
 *
 * A row of quirks.c is a workaround. No other file recognises a driver by its name or number:
 * it asks here. Any thread; nothing here allocates, blocks or calls a driver.
 */
#ifndef PASSTALLY_QUERY_QUIRKS_H
#define PASSTALLY_QUERY_QUIRKS_H

#include <stdbool.h>
#include <stdint.h>

enum tally_quirk {
	TALLY_QUIRK_TIMES_OF_TILES,     /* timestamps are taken tile by tile */
	TALLY_QUIRK_WORK_AT_ONCE,       /* a copy or dispatch is done in its call, draws when their
					 * results are asked for */
	TALLY_QUIRK_STATISTICS_CORRUPT, /* statistics queries may corrupt memory */
	TALLY_QUIRK_ONE_STATISTIC,      /* one statistics query at a time */
	TALLY_QUIRK_STATISTICS_STALL,   /* each statistics query stalls */
	TALLY_QUIRK_MONITORS_EMPTY,     /* monitors count next to nothing, and may crash */
	TALLY_QUIRK_MONITORS_ONE_GROUP, /* a monitor's counters must be of one group */
	TALLY_QUIRK_MONITORS_DRAIN,     /* a monitor drains the GPU */
	TALLY_QUIRK_QUERIES_SHARED,     /* programs share the counters of performance queries, and
					 * a refusal is known frames later */
	TALLY_QUIRK_COMPUTE_BATCH,      /* compute runs in a batch of its own */
	TALLY_QUIRK_READ_WAITS,         /* reading a query waits until the device is idle, and
					 * statistics crash where no pipeline is bound */
	TALLY_QUIRK_RESOLVES_FIRST,     /* depth is resolved from an image's first layer and
					 * level, whichever is attached */
	TALLY_QUIRK_TIMES_BY_VIEW,      /* after a pass of several views each timestamp goes into
					 * as many queries, to the command buffer's end */
};

/* Whether the OpenGL driver has it. `driver`: GL_VENDOR, a space, GL_RENDERER; NULL: no. */
bool tally_gl_quirk(enum tally_quirk quirk, const char *driver);
/* The same of Vulkan. `driver`: a VkDriverId, 0: not known; `vendor`: the device's vendor id. */
bool tally_vk_quirk(enum tally_quirk quirk, uint32_t driver, uint32_t vendor);

#endif
