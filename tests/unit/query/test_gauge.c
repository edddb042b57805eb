/* SPDX-License-Identifier: MIT */
/* The gauges on trees of files like those of the kernel's drivers: query/gauge/.
 *
 * The contents of the trees are from the kernel's documents, which each tree names; fdinfo is
 * from Documentation/gpu/drm-usage-stats.rst throughout. */
#include "query/gauge/usage.h"
#include "tests/unit/query/gauge_tree.h"

/* ---- each driver ---- */

static const struct driver {
	const char *name, *document;
	struct file files[16];
	struct file later[4]; /* 100 ms later */
	uint64_t want[GAUGE_N_KINDS];
	uint32_t known;
} drivers[] = {
	{ "amdgpu", "Documentation/gpu/amdgpu/thermal.rst, driver-misc.rst",
	  { { DEVICE "hwmon/hwmon3/freq1_input", "1850000000\n" },
	    { DEVICE "hwmon/hwmon3/temp1_input", "61000\n" },
	    { DEVICE "hwmon/hwmon3/power1_average", "142000000\n" },
	    { DEVICE "gpu_busy_percent", "97\n" },
	    { DEVICE "mem_info_vram_used", "1073741824\n" },
	    { DEVICE "power/runtime_status", "active\n" },
	    { FDINFO, "drm-driver:\tamdgpu\ndrm-client-id:\t12\ndrm-pdev:\t0000:03:00.0\n"
		      "drm-memory-vram:\t2048 KiB\ndrm-engine-gfx:\t1000000 ns\n"
		      "drm-engine-compute:\t0 ns\n" } },
	  { { FDINFO, "drm-driver:\tamdgpu\ndrm-client-id:\t12\ndrm-memory-vram:\t4096 KiB\n"
		      "drm-engine-gfx:\t51000000 ns\ndrm-engine-compute:\t10000000 ns\n" } },
	  { [GAUGE_CLOCK] = 1850000, [GAUGE_BUSY] = 970, [GAUGE_PROCESS_BUSY] = 600,
	    [GAUGE_TEMPERATURE] = 61000, [GAUGE_POWER] = 142000, [GAUGE_MEMORY] = 1048576,
	    [GAUGE_PROCESS_MEMORY] = 4096 },
	  KNOWN(CLOCK) | KNOWN(BUSY) | KNOWN(PROCESS_BUSY) | KNOWN(TEMPERATURE) | KNOWN(POWER) |
		  KNOWN(MEMORY) | KNOWN(PROCESS_MEMORY) },
	{ "i915", "Documentation/gpu/i915.rst, ABI/testing/sysfs-driver-intel-i915-hwmon",
	  { { DEVICE "drm/card0/gt/gt0/rps_act_freq_mhz", "1300\n" },
	    { DEVICE "drm/card0/gt_act_freq_mhz", "999\n" },
	    { DEVICE "drm/card0/gt/gt0/throttle_reason_pl1", "1\n" },
	    { DEVICE "drm/card0/gt/gt0/throttle_reason_thermal", "0\n" },
	    { DEVICE "hwmon/hwmon2/energy1_input", "5000000\n" },
	    { FDINFO, "drm-driver: i915\ndrm-client-id: 4\ndrm-engine-render: 100 ns\n"
		      "drm-engine-capacity-video: 2\ndrm-engine-video: 0 ns\n"
		      "drm-total-system0: 3 MiB\ndrm-total-local0: 1024 KiB\n"
		      "drm-resident-local0: 1 KiB\n" } },
	  { { FDINFO, "drm-driver: i915\ndrm-client-id: 4\ndrm-engine-render: 25000100 ns\n"
		      "drm-total-system0: 3 MiB\n" },
	    { DEVICE "hwmon/hwmon2/energy1_input", "6500000\n" } },
	  { [GAUGE_CLOCK] = 1300000, [GAUGE_PROCESS_BUSY] = 250, [GAUGE_POWER] = 15000,
	    [GAUGE_PROCESS_MEMORY] = 3072, [GAUGE_THROTTLE] = GAUGE_THROTTLED_POWER },
	  KNOWN(CLOCK) | KNOWN(PROCESS_BUSY) | KNOWN(POWER) | KNOWN(PROCESS_MEMORY) |
		  KNOWN(THROTTLE) },
	{ "i915", "the same, before Linux 6.0: the card's own file, a GPU in RC6",
	  { { DEVICE "drm/card1/gt_act_freq_mhz", "0\n" } }, { { NULL, NULL } }, { 0 }, 0 },
	{ "xe", "Documentation/gpu/xe/, ABI/testing/sysfs-driver-intel-xe-hwmon",
	  { { DEVICE "tile0/gt0/freq0/act_freq", "2400\n" },
	    { DEVICE "tile0/gt0/freq0/throttle/reason_thermal", "1\n" },
	    { DEVICE "tile0/gt0/freq0/throttle/reason_pl2", "1\n" },
	    { DEVICE "hwmon/hwmon5/energy1_input", "100\n" },
	    { DEVICE "hwmon/hwmon5/temp2_input", "55000\n" },
	    { FDINFO, "drm-driver:\txe\ndrm-client-id:\t9\ndrm-total-vram0:\t64 MiB\n"
		      "drm-cycles-rcs:\t1000\ndrm-total-cycles-rcs:\t10000\n"
		      "drm-cycles-bcs:\t0\ndrm-total-cycles-bcs:\t10000\n" } },
	  { { FDINFO, "drm-driver:\txe\ndrm-client-id:\t9\ndrm-total-vram0:\t64 MiB\n"
		      "drm-cycles-rcs:\t2500\ndrm-total-cycles-rcs:\t12000\n" } },
	  { [GAUGE_CLOCK] = 2400000, [GAUGE_PROCESS_BUSY] = 750, [GAUGE_TEMPERATURE] = 55000,
	    [GAUGE_POWER] = 0, [GAUGE_PROCESS_MEMORY] = 65536,
	    [GAUGE_THROTTLE] = GAUGE_THROTTLED_THERMAL | GAUGE_THROTTLED_POWER },
	  KNOWN(CLOCK) | KNOWN(PROCESS_BUSY) | KNOWN(TEMPERATURE) | KNOWN(POWER) |
		  KNOWN(PROCESS_MEMORY) | KNOWN(THROTTLE) },
	{ "msm_dpu", "Documentation/gpu/msm.rst: no frequency in any file",
	  { { FDINFO, "drm-driver:\tmsm\ndrm-client-id:\t3\ndrm-engine-gpu:\t1000000 ns\n"
		      "drm-cycles-gpu:\t500000\ndrm-maxfreq-gpu:\t670000000 Hz\n" } },
	  { { FDINFO, "drm-driver:\tmsm\ndrm-client-id:\t3\ndrm-engine-gpu:\t51000000 ns\n"
		      "drm-cycles-gpu:\t30500000\ndrm-maxfreq-gpu:\t670000000 Hz\n" } },
	  { [GAUGE_CLOCK] = 600000, [GAUGE_PROCESS_BUSY] = 500 },
	  KNOWN(CLOCK) | KNOWN(PROCESS_BUSY) },
	{ "msm", "Documentation/ABI/testing/sysfs-class-devfreq",
	  { { "sys/class/devfreq/3d00000.gpu/cur_freq", "585000000\n" },
	    { "sys/class/devfreq/soc:ddr/cur_freq", "1\n" } }, { { NULL, NULL } },
	  { [GAUGE_CLOCK] = 585000 }, KNOWN(CLOCK) },
	{ "panfrost", "Documentation/gpu/panfrost.rst",
	  { { FDINFO, "drm-driver:\tpanfrost\ndrm-client-id:\t14\n"
		      "drm-engine-fragment:\t1846584880 ns\ndrm-cycles-fragment:\t1424359409\n"
		      "drm-maxfreq-fragment:\t799999987 Hz\ndrm-curfreq-fragment:\t799999987 Hz\n"
		      "drm-engine-vertex-tiler:\t71932239 ns\ndrm-cycles-vertex-tiler:\t52617357\n"
		      "drm-maxfreq-vertex-tiler:\t799999987 Hz\n"
		      "drm-curfreq-vertex-tiler:\t799999987 Hz\n"
		      "drm-total-memory:\t290 MiB\ndrm-shared-memory:\t0 MiB\n" } },
	  { { NULL, NULL } },
	  { [GAUGE_CLOCK] = 799999, [GAUGE_PROCESS_BUSY] = 0, [GAUGE_PROCESS_MEMORY] = 296960 },
	  KNOWN(CLOCK) | KNOWN(PROCESS_BUSY) | KNOWN(PROCESS_MEMORY) },
	{ "panthor", "Documentation/gpu/panthor.rst; ABI/testing/sysfs-class-devfreq",
	  { { DEVICE "devfreq/fb000000.gpu/cur_freq", "1000000000\n" },
	    { FDINFO, "drm-driver:\tpanthor\ndrm-client-id:\t3\n"
		      "drm-engine-panthor:\t111110952750 ns\ndrm-cycles-panthor:\t94439687187\n"
		      "drm-maxfreq-panthor:\t1000000000 Hz\ndrm-curfreq-panthor:\t0 Hz\n"
		      "drm-total-memory:\t16480 KiB\n" } },
	  { { NULL, NULL } },
	  { [GAUGE_CLOCK] = 1000000, [GAUGE_PROCESS_MEMORY] = 16480 },
	  KNOWN(CLOCK) | KNOWN(PROCESS_BUSY) | KNOWN(PROCESS_MEMORY) },
	{ "v3d", "Documentation/gpu/v3d.rst",
	  { { FDINFO, "drm-driver:\tv3d\ndrm-client-id:\t1\nv3d-jobs-bin:\t5 jobs\n"
		      "drm-engine-bin:\t0 ns\ndrm-engine-render:\t10 ns\n" } },
	  { { FDINFO, "drm-driver:\tv3d\ndrm-client-id:\t1\ndrm-engine-bin:\t10000000 ns\n"
		      "drm-engine-render:\t80000010 ns\n" } },
	  { [GAUGE_PROCESS_BUSY] = 900 }, KNOWN(PROCESS_BUSY) },
	{ "panfrost", "the same: the units that drm-usage-stats.rst allows",
	  { { FDINFO, "drm-client-id:\t14\ndrm-engine-fragment:\t5 ns\n"
		      "drm-curfreq-fragment:\t800 MHz\ndrm-curfreq-vertex-tiler:\t100 KHz\n" } },
	  { { NULL, NULL } },
	  { [GAUGE_CLOCK] = 800000, [GAUGE_PROCESS_BUSY] = 0 },
	  KNOWN(CLOCK) | KNOWN(PROCESS_BUSY) },
	{ "i915", "drivers/gpu/drm/i915/gt/intel_gt_sysfs_pm.c: running average thermal limit",
	  { { DEVICE "drm/card0/gt/gt0/throttle_reason_ratl", "1\n" },
	    { DEVICE "drm/card0/gt/gt0/throttle_reason_vr_tdc", "1\n" } }, { { NULL, NULL } },
	  { [GAUGE_THROTTLE] = GAUGE_THROTTLED_THERMAL | GAUGE_THROTTLED_CURRENT },
	  KNOWN(THROTTLE) },
	{ "amdgpu", "what no GPU has: a share of 65535 %, 10^16 Hz, work of ages in a moment",
	  { { DEVICE "hwmon/hwmon3/freq1_input", "10000000000000000\n" },
	    { DEVICE "hwmon/hwmon3/temp1_input", "2147483647\n" },
	    { DEVICE "hwmon/hwmon3/power1_input", "18446744073709551615\n" },
	    { DEVICE "gpu_busy_percent", "65535\n" },
	    { DEVICE "mem_info_vram_used", "18446744073709551615\n" },
	    { FDINFO, "drm-client-id:\t12\ndrm-engine-gfx:\t0 ns\n"
		      "drm-total-vram:\t72057594037927935 MiB\n" } },
	  { { FDINFO, "drm-client-id:\t12\ndrm-engine-gfx:\t72057594037927935 ns\n"
		      "drm-total-vram:\t72057594037927935 MiB\n" } }, { 0 }, 0 },
	{ "xe", "a unit of tomorrow: the sum is not known, nor is the clock",
	  { { FDINFO, "drm-client-id:\t9\ndrm-total-vram0:\t2 GiB\ndrm-total-gtt:\t1 MiB\n"
		      "drm-curfreq-a:\t2 GHz\n" } }, { { NULL, NULL } }, { 0 }, 0 },
	{ "xe", "bytes, and a clock in Hz without the unit",
	  { { FDINFO, "drm-client-id:\t9\ndrm-total-vram0:\t2048\n"
		      "drm-curfreq-a:\t800000000\n" } }, { { NULL, NULL } },
	  { [GAUGE_PROCESS_MEMORY] = 2, [GAUGE_CLOCK] = 800000 },
	  KNOWN(PROCESS_MEMORY) | KNOWN(CLOCK) },
	{ "v3d", "time that falls for a while stays as it was (drm-usage-stats.rst)",
	  { { FDINFO, ENGINE("1", "5000") } }, { { FDINFO, ENGINE("1", "4000") } },
	  { [GAUGE_PROCESS_BUSY] = 0 }, KNOWN(PROCESS_BUSY) },
	{ "v3d", "a client that was closed: another sum",
	  { { FDINFO, ENGINE("1", "5000") } }, { { FDINFO, ENGINE("2", "4000") } }, { 0 }, 0 },
	{ "nouveau", "Documentation/hwmon/sysfs-interface.rst",
	  { { DEVICE "hwmon/hwmon1/temp1_input", "47000\n" },
	    { DEVICE "hwmon/hwmon1/power1_input", "23500000\n" } }, { { NULL, NULL } },
	  { [GAUGE_TEMPERATURE] = 47000, [GAUGE_POWER] = 23500 },
	  KNOWN(TEMPERATURE) | KNOWN(POWER) },
};

static void
test_drivers(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(drivers); i++) {
		const struct driver *d = &drivers[i];
		g_autofree char *root = make_tree(d->name, d->files);
		struct gauge_values values;
		struct gauge_gpu gpu;
		char why[256] = "";
		g_test_message("%s: %s", d->name, d->document);
		g_assert_true(gauge_gpu_find(&gpu, root, why));
		gauge_gpu_take(&gpu, 0);
		g_assert_cmpstr(gpu.driver, ==, d->name);
		gauge_gpu_read(&gpu, 1000 * MS, &values);
		for (const struct file *f = d->later; f->path; f++)
			put(root, f->path, f->text);
		gauge_gpu_read(&gpu, 1100 * MS, &values);
		check_values(&values, d->want, d->known);
		gauge_gpu_finish(&gpu);
		remove_all(root);
	}
}

/* ---- what goes wrong ---- */

static const struct {
	const char *text;
	bool known;
	uint64_t value;
} numbers[] = {
	{ "1850000000\n", true, 1850000 }, { "1850000000", true, 1850000 },
	{ "", false, 0 },                  { "\n", false, 0 },
	{ "N/A\n", false, 0 },             { "-5\n", false, 0 },
	{ "12x\n", false, 0 },             { "99999999999999999999999\n", false, 0 },
	{ "0\n", false, 0 }, /* a clock that does not advance */
};

static void
test_bad_files(void)
{
	static const struct file files[] = {
		{ DEVICE "hwmon/hwmon0/freq1_input", "1000\n" },
		{ DEVICE "gpu_busy_percent", "5\n" },
		{ NULL, NULL },
	};
	g_autofree char *root = make_tree("amdgpu", files);
	struct gauge_values values;
	struct gauge_gpu gpu;
	char why[256];
	g_assert_true(gauge_gpu_find(&gpu, root, why));
	gauge_gpu_take(&gpu, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		put(root, files[0].path, numbers[i].text);
		gauge_gpu_read(&gpu, (i + 1) * 100 * MS, &values);
		g_assert_cmpint(values.known >> GAUGE_CLOCK & 1, ==, numbers[i].known);
		g_assert_cmpuint(values.value[GAUGE_CLOCK], ==, numbers[i].value);
		g_assert_true(values.known & KNOWN(BUSY));
	}
	/* Files that vanish, and come back. */
	take_away(root, files[0].path);
	take_away(root, files[1].path);
	gauge_gpu_read(&gpu, 5000 * MS, &values);
	g_assert_cmphex(values.known, ==, 0);
	put(root, files[1].path, "6\n");
	gauge_gpu_read(&gpu, 5100 * MS, &values);
	g_assert_cmphex(values.known, ==, KNOWN(BUSY));
	g_assert_cmpuint(values.value[GAUGE_BUSY], ==, 60);
	gauge_gpu_finish(&gpu);
	remove_all(root);
}

static void
test_suspended(void)
{
	static const struct {
		const char *status;
		bool known;
	} rows[] = {
		{ "active\n", true },     { "suspended\n", false }, { "suspending\n", false },
		{ "unsupported\n", true }, { "resuming\n", true },  { "error\n", true },
	};
	/* Every value is unknown although each of the files could be read. */
	static const struct file files[] = {
		{ DEVICE "hwmon/hwmon0/freq1_input", "1000000\n" },
		{ FDINFO, "drm-client-id:\t1\ndrm-engine-gfx:\t1 ns\ndrm-total-vram:\t1 KiB\n" },
		{ NULL, NULL },
	};
	g_autofree char *root = make_tree("amdgpu", files);
	struct gauge_values values;
	struct gauge_gpu gpu;
	char why[256];
	g_assert_true(gauge_gpu_find(&gpu, root, why));
	gauge_gpu_take(&gpu, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		put(root, DEVICE "power/runtime_status", rows[i].status);
		gauge_gpu_read(&gpu, (i + 1) * 100 * MS, &values);
		g_assert_cmpint(values.known != 0, ==, rows[i].known);
	}
	gauge_gpu_finish(&gpu);
	remove_all(root);
}

/* ---- which GPU ---- */

/* A second GPU, of xe, is descriptor 9 where that has file information. NULL: as before. */
static void
test_choice(void)
{
	static const struct {
		const char *what, *one, *other, *one_later, *other_later;
		uint32_t n; /* on which work was seen */
		const char *driver; /* the device where it is a single one */
	} rows[] = {
		{ "one, and it works", ENGINE("1", "5"), NULL, ENGINE("1", "6"), NULL, 1,
		  "amdgpu" },
		{ "one, and another renders", ENGINE("1", "5"), NULL, NULL, NULL, 0, NULL },
		{ "not known before", "", NULL, ENGINE("1", "6"), NULL, 0, NULL },
		{ "the one that works", ENGINE("1", "900"), ENGINE("2", "5"), NULL,
		  ENGINE("2", "6"), 1, "xe" },
		{ "the other one", ENGINE("1", "5"), ENGINE("2", "900"), ENGINE("1", "6"), NULL,
		  1, "amdgpu" },
		{ "cycles", "drm-client-id: 1\ndrm-cycles-a: 5\n", ENGINE("2", "9"),
		  "drm-client-id: 1\ndrm-cycles-a: 6\n", NULL, 1, "amdgpu" },
		{ "both", ENGINE("1", "5"), ENGINE("2", "900"), ENGINE("1", "6"),
		  ENGINE("2", "901"), 2, NULL },
		{ "a client that was closed", ENGINE("1", "5"), ENGINE("2", "900"),
		  ENGINE("1", "4"), NULL, 0, NULL },
		{ "neither", "drm-client-id: 1\n", "drm-client-id: 2\n", NULL, NULL, 0, NULL },
		{ "not said", "pos:\t0\n", "", NULL, NULL, 0, NULL },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *root = make_tree("amdgpu", NULL);
		struct gauge_gpu gpu;
		char why[256] = "";
		put(root, FDINFO, rows[i].one);
		put(root, "sys/class/drm/renderD129/device/driver", "-> /x/xe");
		if (rows[i].other) {
			put(root, "proc/self/fd/9", "-> /dev/dri/renderD129");
			put(root, "proc/self/fdinfo/9", rows[i].other);
		}
		g_test_message("%s", rows[i].what);
		g_assert_true(gauge_gpu_find(&gpu, root, why));
		g_assert_cmpuint(gauge_gpu_choose(&gpu), ==, 0);
		if (rows[i].one_later)
			put(root, FDINFO, rows[i].one_later);
		if (rows[i].other_later)
			put(root, "proc/self/fdinfo/9", rows[i].other_later);
		g_assert_cmpuint(gauge_gpu_choose(&gpu), ==, rows[i].n);
		g_assert_cmpuint(gauge_gpu_choose(&gpu), ==, rows[i].n); /* no more work */
		g_assert_cmpstr(gpu.driver, ==, rows[i].driver ? rows[i].driver : "");
		gauge_gpu_finish(&gpu);
		remove_all(root);
	}
}

/* Each of n clients has 1 % of the GPU and 1 MiB; dup()s of one are one. */
static void
test_many_clients(void)
{
	static const struct {
		uint32_t fds, clients;
		bool known;
	} rows[] = {
		{ 20, 20, true }, { 60, 1, true }, { 60, 30, true }, { 90, 90, false },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *root = make_tree("amdgpu", NULL);
		struct gauge_gpu gpu;
		struct gauge_values values;
		char why[256];
		take_away(root, "proc/self/fd/7");
		for (uint32_t later = 0; later < 2; later++) {
			for (uint32_t k = 0; k < rows[i].fds; k++) {
				g_autofree char *fd = g_strdup_printf("proc/self/fd/%u", k + 10);
				g_autofree char *info =
					g_strdup_printf("proc/self/fdinfo/%u", k + 10);
				g_autofree char *text = g_strdup_printf(
					"drm-client-id:\t%u\ndrm-engine-gfx:\t%u ns\n"
					"drm-total-vram:\t1 MiB\n",
					k % rows[i].clients, later * 1000000);
				put(root, fd, "-> /dev/dri/renderD128");
				put(root, info, text);
			}
			if (!later)
				g_assert_true(gauge_gpu_find(&gpu, root, why));
			g_assert_cmpuint(gauge_gpu_choose(&gpu), ==, later);
			gauge_gpu_take(&gpu, 0);
			gauge_gpu_read(&gpu, (1 + later) * 100 * MS, &values);
		}
		if (rows[i].known) {
			g_assert_cmpuint(values.value[GAUGE_PROCESS_BUSY], ==,
					 rows[i].clients * 10);
			g_assert_cmpuint(values.value[GAUGE_PROCESS_MEMORY], ==,
					 rows[i].clients * 1024);
		}
		g_assert_cmphex(values.known, ==,
				rows[i].known ? KNOWN(PROCESS_BUSY) | KNOWN(PROCESS_MEMORY) : 0);
		gauge_gpu_finish(&gpu);
		remove_all(root);
	}
}

/* The number of a closed descriptor is now another GPU's. */
static void
test_reused_descriptor(void)
{
	g_autofree char *root = make_tree("amdgpu", NULL);
	struct gauge_gpu gpu;
	struct gauge_values values;
	char why[256];
	put(root, "sys/class/drm/renderD129/device/driver", "-> /x/xe");
	put(root, FDINFO, ENGINE("1", "0"));
	g_assert_true(gauge_gpu_find(&gpu, root, why));
	put(root, FDINFO, ENGINE("1", "1000"));
	g_assert_cmpuint(gauge_gpu_choose(&gpu), ==, 1);
	gauge_gpu_read(&gpu, 100 * MS, &values);
	put(root, "proc/self/fd/7", "-> /dev/dri/renderD129");
	put(root, FDINFO, ENGINE("2", "50000000"));
	g_assert_cmpuint(gauge_gpu_choose(&gpu), ==, 1);
	g_assert_cmpstr(gpu.driver, ==, "xe");
	gauge_gpu_read(&gpu, 200 * MS, &values);
	g_assert_false(values.known & KNOWN(PROCESS_BUSY)); /* no earlier value of that GPU */
	put(root, FDINFO, ENGINE("2", "100000000"));
	g_assert_cmpuint(gauge_gpu_choose(&gpu), ==, 1);
	gauge_gpu_read(&gpu, 300 * MS, &values);
	g_assert_cmpuint(values.value[GAUGE_PROCESS_BUSY], ==, 500);
	take_away(root, "proc/self/fd/7");
	g_assert_cmpuint(gauge_gpu_choose(&gpu), ==, 0);
	gauge_gpu_finish(&gpu);
	remove_all(root);
}

/* Less than before, and then as much as before: no work was done. */
static void
test_work_that_falls(void)
{
	static const char *const texts[] = { ENGINE("1", "100"), ENGINE("1", "90"),
					     ENGINE("1", "100") };
	g_autofree char *root = make_tree("amdgpu", NULL);
	struct gauge_gpu gpu;
	char why[256];
	put(root, FDINFO, texts[0]);
	g_assert_true(gauge_gpu_find(&gpu, root, why));
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		put(root, FDINFO, texts[i]);
		g_assert_cmpuint(gauge_gpu_choose(&gpu), ==, 0);
	}
	put(root, FDINFO, ENGINE("1", "101"));
	g_assert_cmpuint(gauge_gpu_choose(&gpu), ==, 1);
	gauge_gpu_finish(&gpu);
	remove_all(root);
}

/* More text than is read: the number at the end of it was cut. */
static void
test_long_text(void)
{
	struct gauge_usage usage;
	GString *text = g_string_new(ENGINE("1", "7"));
	while (text->len < 4096)
		g_string_append(text, "drm-engine-b: 1000000 ns\n");
	g_string_truncate(text, 4095);
	size_t whole = 0;
	for (const char *p = text->str; (p = strstr(p, " ns\n")); p += 4)
		whole++;
	g_assert_cmpint(text->str[text->len - 1], !=, '\n');
	g_assert_true(gauge_usage_parse(text->str, &usage));
	g_assert_cmpuint(usage.engine_ns, ==, 7 + (whole - 1) * 1000000);
	g_string_free(text, TRUE);
}

static void
test_clients(void)
{
	static const struct file files[] = {
		{ "proc/self/fd/8", "-> /dev/dri/card0" },
		{ "proc/self/fd/9", "-> /dev/dri/renderD128" },
		{ FDINFO, "drm-client-id: 1\ndrm-engine-a: 10 ns\ndrm-total-x: 1 KiB\n" },
		{ "proc/self/fdinfo/8",
		  "drm-client-id: 1\ndrm-engine-a: 10 ns\ndrm-total-x: 1 KiB\n" },
		{ "proc/self/fdinfo/9",
		  "drm-client-id: 2\ndrm-engine-a: 5 ns\ndrm-total-x: 2 KiB\n" },
		{ NULL, NULL },
	};
	g_autofree char *root = make_tree("i915", files);
	g_autofree char *card = g_build_filename(root, "sys/class/drm/card0", NULL);
	struct gauge_gpu gpu;
	struct gauge_usage usage;
	char why[256];
	g_assert_cmpint(symlink("renderD128", card), ==, 0); /* one device of two nodes */
	g_assert_true(gauge_gpu_find(&gpu, root, why));
	gauge_gpu_take(&gpu, 0);
	g_assert_cmpuint(gpu.n_fds, ==, 3);
	g_assert_true(gauge_usage_read(root, gpu.fds, gpu.n_fds, &usage));
	g_assert_cmpuint(usage.engine_ns, ==, 15); /* a client counts only once */
	g_assert_cmpuint(usage.memory_kib, ==, 3);
	gauge_gpu_finish(&gpu);
	remove_all(root);
}

/* ---- the source ---- */

/* A GPU that is open, but on which this process does no work, is not the GPU of its frames. */
static void
test_source_of_idle(void)
{
	static const struct file files[] = {
		{ DEVICE "hwmon/hwmon0/temp1_input", "50000\n" },
		{ FDINFO, ENGINE("1", "5") },
		{ NULL, NULL },
	};
	g_autofree char *root = make_tree("amdgpu", files);
	uint64_t totals[2] = { 0 }, unknown = 0;
	struct tally_totals out = { .totals = totals, .unknown = &unknown };
	for (unsigned works = 0; works < 2; works++) {
		struct tally_snapshot_source *src = tally_gauge_create_at(root);
		g_assert_cmpint(src->ops->probe(src), ==, TALLY_OK);
		g_assert_cmpint(src->ops->open(src), ==, TALLY_OK);
		g_assert_cmpint(src->ops->start(src), ==, TALLY_OK);
		if (works)
			put(root, FDINFO, ENGINE("1", "6"));
		g_assert_cmpint(src->ops->sample(src, &out), ==, TALLY_OK);
		g_assert_cmpint(src->levels[GAUGE_TEMPERATURE].known, ==, works);
		src->ops->stop(src);
		src->ops->close(src);
		src->ops->destroy(src);
	}
	remove_all(root);
}

static void
test_source(void)
{
	static const struct file files[] = {
		{ DEVICE "hwmon/hwmon0/freq1_input", "2000000000\n" },
		{ DEVICE "hwmon/hwmon0/temp1_input", "50000\n" },
		{ FDINFO, ENGINE("1", "5") },
		{ NULL, NULL },
	};
	g_autofree char *root = make_tree("amdgpu", files);
	struct tally_snapshot_source *src = tally_gauge_create_at(root);
	uint64_t totals[2] = { 0 }, unknown = 0, before[2], last_ns = 0;
	struct tally_totals out = { .totals = totals, .unknown = &unknown };
	g_assert_cmpint(src->ops->probe(src), ==, TALLY_OK);
	g_assert_cmpint(src->ops->open(src), ==, TALLY_OK);
	g_assert_cmpuint(src->n_counters, ==, 2);
	g_assert_cmpint(src->ops->start(src), ==, TALLY_OK);
	put(root, FDINFO, ENGINE("1", "6"));
	for (unsigned i = 0; i < 4; i++) {
		memcpy(before, totals, sizeof(before));
		unknown = 0;
		g_assert_cmpint(src->ops->sample(src, &out), ==, TALLY_OK);
		g_assert_cmphex(unknown, ==, 0);
		g_assert_cmpuint(out.begin_ns, >=, last_ns);
		/* 2 GHz, to the cycle that rounding may take. */
		uint64_t cycles = totals[0] - before[0], ns = totals[1] - before[1];
		/* Lower on a machine that was suspended meanwhile: then nothing is known. */
		g_assert_cmpuint(ns, <=, last_ns ? out.begin_ns - last_ns : 0);
		g_assert_cmpuint(cycles, <=, 2 * ns);
		g_assert_cmpuint(cycles + 2, >=, 2 * ns);
		last_ns = out.begin_ns;
	}
	g_assert_cmpuint(totals[1], >=, 100 * MS); /* ahead of the second reading */
	/* No clock: the totals stay, and nothing is flagged. */
	take_away(root, files[0].path);
	g_usleep(120 * 1000);
	g_assert_cmpint(src->ops->sample(src, &out), ==, TALLY_OK);
	memcpy(before, totals, sizeof(before));
	g_usleep(120 * 1000);
	g_assert_cmpint(src->ops->sample(src, &out), ==, TALLY_OK);
	g_assert_cmpmem(before, sizeof(before), totals, sizeof(totals));
	g_assert_cmphex(unknown, ==, 0);
	g_assert_cmpuint(out.begin_ns, >, last_ns);
	g_assert_true(src->levels[GAUGE_TEMPERATURE].known);
	g_assert_cmpuint(src->levels[GAUGE_TEMPERATURE].value, ==, 50000);
	g_assert_false(src->levels[GAUGE_POWER].known);
	src->ops->stop(src);
	src->ops->close(src);
	src->ops->destroy(src);
	remove_all(root);
}

/* By the address in the device line, whichever GPU was used. */
static void
test_source_by_address(void)
{
	static const struct {
		const char *what, *gpu;
		uint64_t temperature; /* 0: not known */
	} rows[] = {
		{ "none, and both work", NULL, 0 },
		{ "the first", "0000:03:00.0", 50000 },
		{ "the second", "0000:c3:00.1", 60000 },
		{ "one that is not open", "0000:04:00.0", 0 },
	};
	static const struct file files[] = {
		{ "sys/d/0000:03:00.0/driver", "-> /x/amdgpu" },
		{ "sys/d/0000:c3:00.1/driver", "-> /x/xe" },
		{ "sys/d/0000:03:00.0/hwmon/hwmon0/temp1_input", "50000\n" },
		{ "sys/d/0000:c3:00.1/hwmon/hwmon1/temp1_input", "60000\n" },
		{ "sys/class/drm/renderD128/device", "-> ../../../d/0000:03:00.0" },
		{ "sys/class/drm/renderD129/device", "-> ../../../d/0000:c3:00.1" },
		{ "proc/self/fd/7", "-> /dev/dri/renderD128" },
		{ "proc/self/fd/9", "-> /dev/dri/renderD129" },
		{ FDINFO, ENGINE("1", "5") },
		{ "proc/self/fdinfo/9", ENGINE("2", "5") },
	};
	g_autofree char *root = g_dir_make_tmp("passtally-gauge-XXXXXX", NULL);
	uint64_t totals[2] = { 0 }, unknown = 0;
	struct tally_totals out = { .totals = totals, .unknown = &unknown };
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
		put(root, files[i].path, files[i].text);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct tally_snapshot_source *src = tally_gauge_create_at(root);
		_Atomic uint64_t gpu = tally_pci_number(rows[i].gpu);
		src->gpu = &gpu;
		g_test_message("%s", rows[i].what);
		g_assert_cmpint(gpu != 0, ==, rows[i].gpu != NULL);
		g_assert_cmpint(src->ops->probe(src), ==, TALLY_OK);
		g_assert_cmpint(src->ops->open(src), ==, TALLY_OK);
		g_assert_true(src->of_state);
		g_assert_cmpint(src->ops->start(src), ==, TALLY_OK);
		g_autofree char *more = g_strdup_printf(ENGINE("1", "%zu"), 6 + i);
		g_autofree char *other = g_strdup_printf(ENGINE("2", "%zu"), 6 + i);
		put(root, FDINFO, more);
		put(root, "proc/self/fdinfo/9", other);
		g_assert_cmpint(src->ops->sample(src, &out), ==, TALLY_OK);
		const struct tally_snapshot_level *level = &src->levels[GAUGE_TEMPERATURE];
		g_assert_cmpint(level->known, ==, rows[i].temperature != 0);
		g_assert_cmpuint(level->value, ==, rows[i].temperature);
		src->ops->stop(src);
		src->ops->close(src);
		src->ops->destroy(src);
	}
	remove_all(root);
}

static void
test_pci_number(void)
{
	static const char *const none[] = { NULL, "", "device", "0000:03:00", "0000:03:00.0x",
					    "fb000000.gpu" };
	for (size_t i = 0; i < G_N_ELEMENTS(none); i++)
		g_assert_cmpuint(tally_pci_number(none[i]), ==, 0);
	g_assert_cmpuint(tally_pci_number("0000:00:00.0"), !=, 0);
	g_assert_cmpuint(tally_pci_number("0000:C3:00.1"), ==, tally_pci_number("0000:c3:00.1"));
	g_assert_cmpuint(tally_pci_number("0001:03:00.0"), !=, tally_pci_number("0000:03:00.0"));
	g_assert_cmpuint(tally_pci_number("0000:03:1f.7"), !=, tally_pci_number("0000:03:1f.6"));
}

static const struct {
	const char *path, *link, *says;
} refusals[] = {
	{ "proc/self/fd/1", "-> /dev/null", "no GPU open" },
	{ "proc/self/fd/5", "-> /dev/nvidiactl", "no GPU open" },
	{ "proc/self/fd/5", "-> /dev/nvidia0", "does not say" },
};

static void
test_refusals(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(refusals); i++) {
		g_autofree char *root = g_dir_make_tmp("passtally-gauge-XXXXXX", NULL);
		put(root, refusals[i].path, refusals[i].link);
		struct tally_snapshot_source *src = tally_gauge_create_at(root);
		g_assert_cmpint(src->ops->probe(src), ==, TALLY_UNSUPPORTED);
		g_assert_nonnull(strstr(src->reason, refusals[i].says));
		src->ops->destroy(src);
		remove_all(root);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/gauge/drivers", test_drivers);
	g_test_add_func("/gauge/bad_files", test_bad_files);
	g_test_add_func("/gauge/suspended", test_suspended);
	g_test_add_func("/gauge/choice", test_choice);
	g_test_add_func("/gauge/clients", test_clients);
	g_test_add_func("/gauge/many_clients", test_many_clients);
	g_test_add_func("/gauge/reused_descriptor", test_reused_descriptor);
	g_test_add_func("/gauge/work_that_falls", test_work_that_falls);
	g_test_add_func("/gauge/long_text", test_long_text);
	g_test_add_func("/gauge/pci_number", test_pci_number);
	g_test_add_func("/gauge/source_by_address", test_source_by_address);
	g_test_add_func("/gauge/source_of_idle", test_source_of_idle);
	g_test_add_func("/gauge/source", test_source);
	g_test_add_func("/gauge/refusals", test_refusals);
	return g_test_run();
}
