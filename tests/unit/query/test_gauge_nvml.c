/* SPDX-License-Identifier: MIT */
/* The gauges of NVIDIA's management library. */
#include "tests/unit/query/gauge_tree.h"

/* ---- NVIDIA ---- */

static void
test_nvml_find(void)
{
	g_autofree char *root = g_dir_make_tmp("passtally-gauge-XXXXXX", NULL);
	char pci[32], why[128];
	put(root, "proc/self/fd/5", "-> /dev/nvidia1");
	put(root, "proc/self/fd/6", "-> /dev/nvidia1");
	put(root, "proc/driver/nvidia/gpus/0000:01:00.0/information",
	    "Model: \t\t A\nDevice Minor: \t 0\n");
	put(root, "proc/driver/nvidia/gpus/0000:41:00.0/information",
	    "Model: \t\t B\nDevice Minor: \t 1\n");
	g_assert_true(gauge_nvml_find(root, pci, why));
	g_assert_cmpstr(pci, ==, "0000:41:00.0");
	put(root, "proc/self/fd/7", "-> /dev/nvidia0");
	g_assert_false(gauge_nvml_find(root, pci, why));
	g_assert_nonnull(strstr(why, "several"));
	remove_all(root);
}

static int
fake_clock(void *device, int kind, unsigned *mhz)
{
	g_assert_cmpint(kind, ==, 0);
	*mhz = *(unsigned *)device;
	return 0;
}

static int
fake_load(void *device, unsigned shares[2])
{
	(void)device;
	shares[0] = 80;
	shares[1] = 10;
	return 0;
}

static int
fake_temperature(void *device, int sensor, unsigned *celsius)
{
	(void)device;
	(void)sensor;
	*celsius = 70;
	return 0;
}

static int
no_power(void *device, unsigned *mw)
{
	(void)device;
	*mw = 1;
	return 3; /* NVML_ERROR_NOT_SUPPORTED */
}

static int
fake_memory(void *device, unsigned long long bytes[3])
{
	(void)device;
	bytes[0] = 8 << 20;
	bytes[1] = 6 << 20;
	bytes[2] = 2 << 20;
	return 0;
}

static unsigned long long reasons_now = 0x1 | 0x4 | 0x40; /* idle, power cap, thermal */

static int
fake_throttle(void *device, unsigned long long *reasons)
{
	(void)device;
	*reasons = reasons_now;
	return 0;
}

static void
test_nvml_read(void)
{
	unsigned mhz = 1755;
	struct gauge_nvml nvml = {
		.api = { .clock = fake_clock, .load = fake_load, .temperature = fake_temperature,
			 .power = no_power, .memory = fake_memory, .throttle = fake_throttle },
		.device = &mhz,
	};
	static const uint64_t want[GAUGE_N_KINDS] = {
		[GAUGE_CLOCK] = 1755000, [GAUGE_BUSY] = 800, [GAUGE_TEMPERATURE] = 70000,
		[GAUGE_MEMORY] = 2048,
		[GAUGE_THROTTLE] = GAUGE_THROTTLED_POWER | GAUGE_THROTTLED_THERMAL,
	};
	struct gauge_values values;
	gauge_nvml_read(&nvml, &values);
	check_values(&values, want,
		     KNOWN(CLOCK) | KNOWN(BUSY) | KNOWN(TEMPERATURE) | KNOWN(MEMORY) |
			     KNOWN(THROTTLE));
	/* Every value of a suspended GPU is unknown. */
	g_autofree char *folder = g_dir_make_tmp("passtally-gauge-XXXXXX", NULL);
	put(folder, "power/runtime_status", "suspended\n");
	g_strlcpy(nvml.folder, folder, sizeof(nvml.folder));
	gauge_nvml_read(&nvml, &values);
	g_assert_cmphex(values.known, ==, 0);
	put(folder, "power/runtime_status", "active\n");
	gauge_nvml_read(&nvml, &values);
	g_assert_true(values.known & KNOWN(CLOCK));
	remove_all(folder);
	/* A slowdown with a known reason is not also counted as another one. */
	static const struct {
		unsigned long long reasons;
		uint64_t want;
	} throttled[] = {
		{ 0x8, GAUGE_THROTTLED_OTHER },
		{ 0x8 | 0x40, GAUGE_THROTTLED_THERMAL },
		{ 0x8 | 0x80, GAUGE_THROTTLED_POWER },
		{ 0x1 | 0x2 | 0x10 | 0x100, 0 }, /* idle, set by a user, sync boost, display */
	};
	for (size_t i = 0; i < G_N_ELEMENTS(throttled); i++) {
		reasons_now = throttled[i].reasons;
		gauge_nvml_read(&nvml, &values);
		g_assert_cmpuint(values.value[GAUGE_THROTTLE], ==, throttled[i].want);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/gauge/nvml_find", test_nvml_find);
	g_test_add_func("/gauge/nvml_read", test_nvml_read);
	return g_test_run();
}
