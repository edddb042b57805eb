/* SPDX-License-Identifier: MIT */
#include "tests/fake_vk/fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_config fake_config;

const char *const fake_extensions[] = {
	"VK_KHR_swapchain",
	"VK_KHR_synchronization2",
	"VK_KHR_dynamic_rendering",
	"VK_KHR_create_renderpass2",
	"VK_KHR_timeline_semaphore",
	"VK_EXT_host_query_reset",
	"VK_EXT_calibrated_timestamps",
	"VK_EXT_mesh_shader",
	"VK_NV_mesh_shader",
	"VK_KHR_acceleration_structure",
	"VK_KHR_ray_tracing_pipeline",
	"VK_KHR_deferred_host_operations",
	"VK_KHR_buffer_device_address",
	"VK_KHR_copy_commands2",
	"VK_EXT_conditional_rendering",
	"VK_EXT_transform_feedback",
	"VK_EXT_debug_marker",
	"VK_EXT_multi_draw",
	"VK_KHR_multiview",
	"VK_KHR_device_group",
	"VK_KHR_draw_indirect_count",
	"VK_KHR_video_queue",
	"VK_KHR_video_decode_queue",
	"VK_KHR_get_memory_requirements2",
	"VK_KHR_bind_memory2",
	"VK_KHR_maintenance1",
	"VK_KHR_maintenance2",
	"VK_KHR_maintenance3",
	"VK_KHR_depth_stencil_resolve",
	"VK_KHR_imageless_framebuffer",
	"VK_KHR_image_format_list",
	"VK_KHR_driver_properties",
	"VK_EXT_descriptor_indexing",
	"VK_KHR_spirv_1_4",
	"VK_KHR_shader_float_controls",
	"VK_EXT_frame_boundary",
	"VK_EXT_nested_command_buffer",
	"VK_EXT_memory_budget",
};
const uint32_t fake_n_extensions = sizeof(fake_extensions) / sizeof(fake_extensions[0]);

bool
fake_has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = list; (at = strstr(at, word)); at++) {
		bool begins = at == list || at[-1] == '+';
		if (begins && (at[n] == '+' || at[n] == '\0'))
			return true;
	}
	return false;
}

bool
fake_offers_extension(const char *name)
{
	if (fake_has_word(fake_config.no, name))
		return false;
	for (uint32_t i = 0; i < fake_n_extensions; i++)
		if (strcmp(fake_extensions[i], name) == 0)
			return true;
	return false;
}

bool
fake_home_is_there(const char *homes, const struct fake_device *device)
{
	char copy[1024];
	snprintf(copy, sizeof(copy), "%s", homes);
	char *rest = copy;
	for (char *word; (word = strsep(&rest, "+"));) {
		if (word[0] >= '1' && word[0] <= '9') {
			uint32_t version = device ? device->version : fake_config.version;
			if ((uint32_t)atoi(word) <= version)
				return true;
		} else if (device ? fake_has_word(device->extensions, word)
				  : fake_offers_extension(word)) {
			return true;
		}
	}
	return false;
}

static VkQueueFlags
queue_flags(const char *letters, size_t n)
{
	static const struct {
		char letter;
		VkQueueFlags flag;
	} known[] = {
		{ 'g', VK_QUEUE_GRAPHICS_BIT },
		{ 'c', VK_QUEUE_COMPUTE_BIT },
		{ 't', VK_QUEUE_TRANSFER_BIT },
		{ 's', VK_QUEUE_SPARSE_BINDING_BIT },
		{ 'p', VK_QUEUE_PROTECTED_BIT },
		{ 'd', VK_QUEUE_VIDEO_DECODE_BIT_KHR },
	};
	VkQueueFlags flags = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (letters[i] == known[k].letter)
				flags |= known[k].flag;
	return flags;
}

/* "gct:64:2+t:0:1": capabilities, valid bits, queues. */
static void
read_families(char *text)
{
	fake_config.n_families = 0;
	for (char *word; (word = strsep(&text, "+"));) {
		if (fake_config.n_families == FAKE_MAX_FAMILIES)
			return;
		struct fake_family *f = &fake_config.families[fake_config.n_families++];
		size_t n = strcspn(word, ":");
		f->flags = queue_flags(word, n);
		f->timestamp_bits = 64;
		f->n_queues = 1;
		if (word[n])
			sscanf(word + n, ":%u:%u", &f->timestamp_bits, &f->n_queues);
	}
}

static void
read_pair(const char *key, char *value)
{
	struct fake_config *c = &fake_config;
	const struct {
		const char *key;
		uint32_t *number;
	} numbers[] = {
		{ "gpus", &c->n_gpus },
		{ "vendor", &c->vendor },
		{ "driver_version", &c->driver_version },
		{ "late", &c->late_ms },
		{ "late_fence", &c->late_fence_ms },
		{ "gaps", &c->gaps },
		{ "shuffle", &c->shuffle },
		{ "pools", &c->pools },
		{ "lost", &c->lost },
		{ "lost_ours", &c->lost_ours },
		{ "oom", &c->oom },
		{ "oom_ours", &c->oom_ours },
	};
	const struct {
		const char *key;
		bool *flag;
	} flags[] = {
		{ "bench", &c->bench },
		{ "group", &c->group },
		{ "wrap", &c->wrap },
		{ "noise", &c->noise },
		{ "never", &c->never },
		{ "garbage", &c->garbage },
		{ "beside", &c->beside },
		{ "zero", &c->zero },
		{ "untouched", &c->untouched },
		{ "half", &c->half },
		{ "oom_device", &c->oom_device },
	};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(key, numbers[i].key) == 0)
			*numbers[i].number = (uint32_t)strtoul(value, NULL, 10);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(key, flags[i].key) == 0)
			*flags[i].flag = true;
	if (strcmp(key, "version") == 0)
		c->version = (uint32_t)((value[0] - '0') * 10 + (value[2] - '0'));
	else if (strcmp(key, "families") == 0)
		read_families(value);
	else if (strcmp(key, "no") == 0)
		snprintf(c->no, sizeof(c->no), "%s", value);
	else if (strcmp(key, "refuse") == 0)
		snprintf(c->refuse, sizeof(c->refuse), "%s", value);
	else if (strcmp(key, "period") == 0)
		c->period = strtof(value, NULL);
	else if (strcmp(key, "reset_fences") == 0)
		c->reset_fences = atoi(value);
	else if (strcmp(key, "results") == 0)
		c->results = atoi(value);
}

static void
read_environment(void)
{
	fake_config.version = 13;
	fake_config.n_gpus = 1;
	fake_config.vendor = VK_VENDOR_ID_VIV;
	fake_config.driver_version = 42;
	fake_config.period = 1;
	char families[] = "gctsp:64:2+ct:64:1+t:64:1+td:64:1";
	read_families(families);
	static char text[2048];
	const char *value = getenv("FAKE_VK");
	snprintf(text, sizeof(text), "%s", value ? value : "");
	char *rest = text;
	for (char *pair; (pair = strsep(&rest, ","));) {
		char *equals = strchr(pair, '=');
		if (equals)
			*equals = '\0';
		char empty[] = "1";
		read_pair(pair, equals ? equals + 1 : empty);
	}
	if (fake_config.n_gpus > FAKE_MAX_GPUS)
		fake_config.n_gpus = FAKE_MAX_GPUS;
	const char *path = getenv("FAKE_VK_LOG");
	if (path && !fake_config.bench)
		fake_open_log(path);
}

void
fake_config_read(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, read_environment);
}
