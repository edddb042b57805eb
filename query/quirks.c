/* SPDX-License-Identifier: MIT */
#include "query/quirks.h"

#include <stddef.h>
#include <string.h>

/* VkDriverId and VkVendorId; query/vk/source.c compares them with Vulkan's. */
#define IMAGINATION 7
#define QUALCOMM 8
#define ARM 9
#define MESA_LLVMPIPE 13
#define MOLTENVK 14
#define MESA_TURNIP 18
#define MESA_V3DV 19
#define MESA_PANVK 20
#define IMAGINATION_MESA 25
#define MESA_HONEYKRISP 26
#define VENDOR_IMAGINATION 0x1010
#define VENDOR_ARM 0x13b5
#define VENDOR_BROADCOM 0x14e4
#define VENDOR_QUALCOMM 0x5143
#define VENDOR_MESA 0x10005
#define NO_VENDOR UINT32_MAX

/* Each group of rows says which versions were seen, what passtally does, how it was
 * found and when the rows may go. */
static const struct gl_row {
	enum tally_quirk quirk;
	const char *begins; /* the driver's name begins with this; NULL: anything */
	const char *has; /* and contains this; NULL: anything */
	const char *lacks; /* and not this; NULL: nothing */
} gl_rows[] = {
	/* Mesa 22.3: passes of one framebuffer share their time, as timestamps include
	 * other passes' work (lp_setup_end_query), until timestamps in a framebuffer
	 * follow each other. zink over lavapipe names llvmpipe, too, but its timestamps
	 * are Vulkan's. */
	{ TALLY_QUIRK_TIMES_OF_TILES, NULL, "llvmpipe", "zink" },
	{ TALLY_QUIRK_TIMES_OF_TILES, NULL, "softpipe", "zink" },
	/* The same on the GPUs that draw every framebuffer so, by their makers'
	 * manuals: none was seen. Until selftest's law neighbor passes without it. */
	{ TALLY_QUIRK_TIMES_OF_TILES, NULL, "Mali", "zink" },
	{ TALLY_QUIRK_TIMES_OF_TILES, NULL, "Adreno", "zink" },
	{ TALLY_QUIRK_TIMES_OF_TILES, "freedreno", NULL, NULL },
	{ TALLY_QUIRK_TIMES_OF_TILES, NULL, "PowerVR", "zink" },
	{ TALLY_QUIRK_TIMES_OF_TILES, "Broadcom", NULL, NULL },
	{ TALLY_QUIRK_TIMES_OF_TILES, NULL, "Apple M", "zink" },
	/* Mesa 22.3: a copy or dispatch shares its time with the pass before it. A copy
	 * of 64 MB had 30 ns, and the pass before it 6.4 ms more; until that is as fast
	 * without the copy. */
	{ TALLY_QUIRK_WORK_AT_ONCE, NULL, "llvmpipe", "zink" },
	{ TALLY_QUIRK_WORK_AT_ONCE, NULL, "softpipe", "zink" },
	/* Mesa 22.3: gl-statistics counts only where it is named. piglit's longprim
	 * dies in most runs, never without passtally; until it passes with
	 * gl-statistics named. */
	{ TALLY_QUIRK_STATISTICS_CORRUPT, NULL, "llvmpipe", "zink" },
	/* Mesa 22.3: one pipeline statistic is counted, because all become one type of
	 * Vulkan query (VUID-vkCmdBeginQuery-queryPool-01922); until the validation
	 * layer is content. */
	{ TALLY_QUIRK_ONE_STATISTIC, NULL, "zink", NULL },
	/* Mesa 22.3: the device line says so; until a query no longer adds a wait. */
	{ TALLY_QUIRK_STATISTICS_STALL, "Intel", NULL, NULL },
	/* Mesa 25.0: gl-amd is off. It crashes at the flush after a monitor without
	 * work, and counts its own software; until it counts the GPU's work. */
	{ TALLY_QUIRK_MONITORS_EMPTY, NULL, "zink", NULL },
	/* Mesa 22.3: each monitor has counters of one group, and gl-amd counts only
	 * where it is named. iris_monitor.c reads all out of the report of the first
	 * counter's group, and the assertion against that is not in release builds: a
	 * counter of another group is garbage, or lies past the report's end. Until
	 * iris and crocus read each group's own report. */
	{ TALLY_QUIRK_MONITORS_ONE_GROUP, "Intel", NULL, NULL },
	/* Mesa 22.3: the device line says so (si_perfcounter.c); until the GPU is not
	 * drained. */
	{ TALLY_QUIRK_MONITORS_DRAIN, "AMD ", "LLVM", NULL },
	{ TALLY_QUIRK_MONITORS_DRAIN, NULL, "radeonsi", NULL },
	/* Mesa 22.3 on Intel's GPUs: doctor and counters say so, and passes until a
	 * refusal is known are flagged lost. intel_perf_query.c, iris_perf.c;
	 * u_threaded_context.c makes the calls later. Until two programs count at the
	 * same time. */
	{ TALLY_QUIRK_QUERIES_SHARED, NULL, "Mesa", NULL },
	/* Mesa 22.3: compute passes are flagged approximate (rule G14), and their
	 * shaders' runs are counted by name (iris_query.c, iris_perf.c); until compute
	 * runs in the batch of draws. */
	{ TALLY_QUIRK_COMPUTE_BATCH, "Intel", NULL, NULL },
};

static const struct vk_row {
	enum tally_quirk quirk;
	uint32_t driver; /* VkDriverId */
	uint32_t vendor; /* where the driver does not report one: VkVendorId */
} vk_rows[] = {
	/* Mesa 22.3.6: results are copied (slots_copy.h); statistics begin at a
	 * draw, not in compute. vkDeviceWaitIdle() inside vkGetQueryPoolResults,
	 * whatever the flags, and a crash: late_counters.h. Until tests/apps/vk_sources
	 * gets a result while a later submission waits, and push_early of
	 * tests/apps/vk_scenes passes without late counters. A device of Vulkan 1.0
	 * does not report its driver, but there the vendor's id is Mesa's own only
	 * without hardware. */
	{ TALLY_QUIRK_READ_WAITS, MESA_LLVMPIPE, VENDOR_MESA },
	/* Mesa 22.3.6: no picture of depth of several samples in another layer or
	 * level. Its second layer was pictured as the first, as resolve_ds() sets
	 * neither; until the picture of such a layer is what was drawn. */
	{ TALLY_QUIRK_RESOLVES_FIRST, MESA_LLVMPIPE, VENDOR_MESA },
	/* Mesa 25.0.7: slots after which other queries could be overwritten have room
	 * for six views. The pass after the command buffer's own slot began when the
	 * buffer ended; until the scenes views and multiview have times without it. */
	{ TALLY_QUIRK_TIMES_BY_VIEW, MESA_LLVMPIPE, VENDOR_MESA },
	/* Mesa 22.3.6: draws inside a render pass have no times of their own. They add
	 * up to an eighth of it, and timestamps in it follow each other at its end;
	 * until they add up to it. A render pass is timed from outside. */
	{ TALLY_QUIRK_TIMES_OF_TILES, MESA_LLVMPIPE, VENDOR_MESA },
	/* The same by the makers' manuals: none was seen. */
	{ TALLY_QUIRK_TIMES_OF_TILES, IMAGINATION, VENDOR_IMAGINATION },
	{ TALLY_QUIRK_TIMES_OF_TILES, IMAGINATION_MESA, NO_VENDOR },
	{ TALLY_QUIRK_TIMES_OF_TILES, QUALCOMM, VENDOR_QUALCOMM },
	{ TALLY_QUIRK_TIMES_OF_TILES, MESA_TURNIP, NO_VENDOR },
	{ TALLY_QUIRK_TIMES_OF_TILES, ARM, VENDOR_ARM },
	{ TALLY_QUIRK_TIMES_OF_TILES, MESA_PANVK, NO_VENDOR },
	{ TALLY_QUIRK_TIMES_OF_TILES, MESA_V3DV, VENDOR_BROADCOM },
	{ TALLY_QUIRK_TIMES_OF_TILES, MOLTENVK, NO_VENDOR },
	{ TALLY_QUIRK_TIMES_OF_TILES, MESA_HONEYKRISP, NO_VENDOR },
};

#define N_ROWS(rows) (sizeof(rows) / sizeof((rows)[0]))

bool
tally_gl_quirk(enum tally_quirk quirk, const char *driver)
{
	for (size_t i = 0; driver && i < N_ROWS(gl_rows); i++) {
		const struct gl_row *r = &gl_rows[i];
		if (r->quirk == quirk &&
		    (!r->begins || strncmp(driver, r->begins, strlen(r->begins)) == 0) &&
		    (!r->has || strstr(driver, r->has)) && (!r->lacks || !strstr(driver, r->lacks)))
			return true;
	}
	return false;
}

bool
tally_vk_quirk(enum tally_quirk quirk, uint32_t driver, uint32_t vendor)
{
	for (size_t i = 0; i < N_ROWS(vk_rows); i++) {
		const struct vk_row *r = &vk_rows[i];
		if (r->quirk == quirk && (driver ? driver == r->driver : vendor == r->vendor))
			return true;
	}
	return false;
}
