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

/* The last four columns are for people: versions seen, what is done, how it was found, when the
 * row may go. */
#define GL(quirk_, begins_, has_, lacks_, seen, done, found, goes) \
	{ \
		TALLY_QUIRK_##quirk_, begins_, has_, lacks_ \
	}
#define VK(quirk_, id_, vendor_, seen, done, found, goes) \
	{ \
		TALLY_QUIRK_##quirk_, id_, vendor_ \
	}

static const struct gl_row {
	enum tally_quirk quirk;
	const char *begins; /* the driver's name begins with this; NULL: anything */
	const char *has; /* and contains this; NULL: anything */
	const char *lacks; /* and not this; NULL: nothing */
} gl_rows[] = {
	/* zink over lavapipe names llvmpipe, too, but its timestamps are Vulkan's. */
	GL(TIMES_OF_TILES, NULL, "llvmpipe", "zink", "Mesa 22.3",
	   "passes of one framebuffer share their time",
	   "timestamps that include other passes' work; lp_setup_end_query",
	   "its timestamps in a framebuffer follow each other"),
	GL(TIMES_OF_TILES, NULL, "softpipe", "zink", "Mesa 22.3", "as llvmpipe", "as llvmpipe",
	   "as llvmpipe"),
	/* The GPUs that draw every framebuffer so. */
	GL(TIMES_OF_TILES, NULL, "Mali", "zink", "none", "as llvmpipe", "Arm's manuals",
	   "selftest's law neighbor passes without it"),
	GL(TIMES_OF_TILES, NULL, "Adreno", "zink", "none", "as llvmpipe", "Qualcomm's manuals",
	   "as Mali"),
	GL(TIMES_OF_TILES, "freedreno", NULL, NULL, "none", "as llvmpipe", "as Adreno",
	   "as Mali"),
	GL(TIMES_OF_TILES, NULL, "PowerVR", "zink", "none", "as llvmpipe",
	   "Imagination's manuals", "as Mali"),
	GL(TIMES_OF_TILES, "Broadcom", NULL, NULL, "none", "as llvmpipe", "Broadcom's manual",
	   "as Mali"),
	GL(TIMES_OF_TILES, NULL, "Apple M", "zink", "none", "as llvmpipe", "Apple's manuals",
	   "as Mali"),
	GL(WORK_AT_ONCE, NULL, "llvmpipe", "zink", "Mesa 22.3",
	   "a copy or dispatch shares its time with the pass before it",
	   "a copy of 64 MB had 30 ns, and the pass before it 6.4 ms more",
	   "that pass is as fast without the copy"),
	GL(WORK_AT_ONCE, NULL, "softpipe", "zink", "Mesa 22.3", "as llvmpipe", "as llvmpipe",
	   "as llvmpipe"),
	GL(STATISTICS_CORRUPT, NULL, "llvmpipe", "zink", "Mesa 22.3",
	   "gl-statistics counts only where it is named",
	   "piglit's longprim dies in most runs, never without passtally",
	   "longprim passes with gl-statistics named"),
	GL(ONE_STATISTIC, NULL, "zink", NULL, "Mesa 22.3", "one pipeline statistic is counted",
	   "VUID-vkCmdBeginQuery-queryPool-01922: all become one type of Vulkan query",
	   "the validation layer no longer complains"),
	GL(STATISTICS_STALL, "Intel", NULL, NULL, "Mesa 22.3", "the device line says so",
	   "not written down", "a query no longer adds a wait"),
	GL(MONITORS_EMPTY, NULL, "zink", NULL, "Mesa 25.0", "gl-amd is off",
	   "a crash at the flush after a monitor without work; counters of its own software",
	   "it counts the GPU's work"),
	/* "all queries must be in the same group" is an assertion, which release builds lack: a
	 * counter of another group is garbage, or lies past the report's end. */
	GL(MONITORS_ONE_GROUP, "Intel", NULL, NULL, "Mesa 22.3",
	   "each monitor has counters of one group; gl-amd counts only where it is named",
	   "iris_monitor.c reads all out of the report of the first counter's group",
	   "iris and crocus read each group's own report"),
	GL(MONITORS_DRAIN, "AMD ", "LLVM", NULL, "Mesa 22.3", "the device line says so",
	   "si_perfcounter.c", "it no longer drains the GPU"),
	GL(MONITORS_DRAIN, NULL, "radeonsi", NULL, "Mesa 22.3", "as AMD", "as AMD", "as AMD"),
	GL(QUERIES_SHARED, NULL, "Mesa", NULL, "Mesa 22.3, on Intel's GPUs",
	   "doctor and counters say so; passes until a refusal is known are flagged lost",
	   "intel_perf_query.c, iris_perf.c; u_threaded_context.c makes the calls later",
	   "two programs count at the same time"),
	GL(COMPUTE_BATCH, "Intel", NULL, NULL, "Mesa 22.3",
	   "compute passes are flagged approximate (rule G14), and their shaders' runs are "
	   "counted by name", "iris_query.c, iris_perf.c",
	   "compute runs in the batch of draws"),
};

static const struct vk_row {
	enum tally_quirk quirk;
	uint32_t driver; /* VkDriverId */
	uint32_t vendor; /* where the driver does not report one: VkVendorId */
} vk_rows[] = {
	/* A device of Vulkan 1.0 does not report its driver, but there the vendor's id is Mesa's
	 * own only without hardware. */
	VK(READ_WAITS, MESA_LLVMPIPE, VENDOR_MESA, "Mesa 22.3.6",
	   "results are read when the device is idle; statistics begin at a draw, not in compute",
	   "vkDeviceWaitIdle() inside vkGetQueryPoolResults, whatever the flags; a crash: "
	   "late_counters.h",
	   "tests/apps/vk_sources reads a result while a later submission waits, and push_early "
	   "of tests/apps/vk_scenes passes without late counters"),
	VK(RESOLVES_FIRST, MESA_LLVMPIPE, VENDOR_MESA, "Mesa 22.3.6",
	   "no picture of depth of several samples in another layer or level",
	   "its second layer was pictured as the first; resolve_ds() sets neither",
	   "the picture of such a layer is what was drawn"),
	VK(TIMES_BY_VIEW, MESA_LLVMPIPE, VENDOR_MESA, "Mesa 25.0.7",
	   "slots after which other queries could be overwritten have room for six views",
	   "the pass after the command buffer's own slot began when the buffer ended",
	   "the scenes views and multiview have times without it"),
	/* A render pass is timed from outside; a single draw in it has no time. */
	VK(TIMES_OF_TILES, MESA_LLVMPIPE, VENDOR_MESA, "Mesa 22.3.6",
	   "draws inside a render pass have no times of their own",
	   "its draws add up to an eighth of it; timestamps in it follow each other at its end",
	   "draws of one render pass add up to it"),
	VK(TIMES_OF_TILES, IMAGINATION, VENDOR_IMAGINATION, "none", "as llvmpipe",
	   "Imagination's manuals", "as llvmpipe"),
	VK(TIMES_OF_TILES, IMAGINATION_MESA, NO_VENDOR, "none", "as llvmpipe",
	   "as Imagination", "as llvmpipe"),
	VK(TIMES_OF_TILES, QUALCOMM, VENDOR_QUALCOMM, "none", "as llvmpipe",
	   "Qualcomm's manuals", "as llvmpipe"),
	VK(TIMES_OF_TILES, MESA_TURNIP, NO_VENDOR, "none", "as llvmpipe", "as Qualcomm",
	   "as llvmpipe"),
	VK(TIMES_OF_TILES, ARM, VENDOR_ARM, "none", "as llvmpipe", "Arm's manuals",
	   "as llvmpipe"),
	VK(TIMES_OF_TILES, MESA_PANVK, NO_VENDOR, "none", "as llvmpipe", "as Arm",
	   "as llvmpipe"),
	VK(TIMES_OF_TILES, MESA_V3DV, VENDOR_BROADCOM, "none", "as llvmpipe",
	   "Broadcom's manual", "as llvmpipe"),
	VK(TIMES_OF_TILES, MOLTENVK, NO_VENDOR, "none", "as llvmpipe", "Apple's manuals",
	   "as llvmpipe"),
	VK(TIMES_OF_TILES, MESA_HONEYKRISP, NO_VENDOR, "none", "as llvmpipe",
	   "Apple's manuals", "as llvmpipe"),
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
