/* SPDX-License-Identifier: MIT */
/* Common code of the Vulkan sources. */
#include "query/vk/source.h"

#include <stdio.h>
#include <stdlib.h>

#include "query/quirks.h"

#define NVIDIA 0x10de

const char *
tally_vk_vendor(uint32_t id)
{
	static const struct {
		uint32_t id;
		const char *name;
	} vendors[] = {
		{ 0x1002, "AMD" },	{ 0x1010, "Imagination" }, { NVIDIA, "NVIDIA" },
		{ 0x13b5, "Arm" },	{ 0x5143, "Qualcomm" },	   { 0x8086, "Intel" },
		{ VK_VENDOR_ID_MESA, "Mesa" },
	};
	for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++)
		if (vendors[i].id == id)
			return vendors[i].name;
	return "unknown";
}

/* NVIDIA packs its version numbers in its own way. */
const char *
tally_vk_version(const VkPhysicalDeviceProperties *p, char out[TALLY_VK_VERSION_SIZE])
{
	uint32_t v = p->driverVersion;
	if (p->vendorID == NVIDIA)
		snprintf(out, TALLY_VK_VERSION_SIZE, "%u.%u.%u.%u", v >> 22, v >> 14 & 0xff,
			 v >> 6 & 0xff, v & 0x3f);
	else
		snprintf(out, TALLY_VK_VERSION_SIZE, "%u.%u.%u", VK_API_VERSION_MAJOR(v),
			 VK_API_VERSION_MINOR(v), VK_API_VERSION_PATCH(v));
	return out;
}

_Static_assert(VK_DRIVER_ID_MESA_LLVMPIPE == 13 && VK_VENDOR_ID_MESA == 0x10005,
	       "the numbers in query/quirks.c");

bool
tally_vk_read_waits(VkDriverId driver, uint32_t vendor)
{
	return tally_vk_quirk(TALLY_QUIRK_READ_WAITS, driver, vendor);
}

const char *
tally_vk_serialized_by(bool read_waits, bool performance)
{
	if (read_waits)
		return "copying results: this driver completes the drawing first";
	if (performance)
		return "vk-khr: the driver separates what is counted from what surrounds it";
	return NULL;
}

enum tally_status
tally_vk_create_pool(struct tally_vk_source *src, const VkQueryPoolCreateInfo *info,
		     VkQueryPool *out)
{
	VkResult result = src->api->CreateQueryPool(src->api->device, info, NULL, out);
	return result == VK_SUCCESS ? TALLY_OK : TALLY_NO_MEMORY;
}

void
tally_vk_reset(struct tally_vk_source *src, VkQueryPool pool, uint32_t first, uint32_t n)
{
	uint32_t q = src->ops->queries;
	src->api->ResetQueryPool(src->api->device, pool, q * first, q * n);
}

void
tally_vk_record_reset(struct tally_vk_source *src, VkCommandBuffer cb, VkQueryPool pool,
		      uint32_t first, uint32_t n)
{
	uint32_t q = src->ops->queries;
	src->api->CmdResetQueryPool(cb, pool, q * first, q * n);
}

size_t
tally_vk_row_bytes(const struct tally_vk_source *src, const struct tally_vk_family *family)
{
	return (size_t)src->ops->queries * src->ops->words(src, family) * sizeof(uint64_t);
}

enum tally_status
tally_vk_fetch(struct tally_vk_source *src, const struct tally_vk_family *family,
	       VkQueryPool pool, uint32_t first, uint32_t n, void *rows)
{
	const struct tally_vk_api *api = src->api;
	uint32_t words = src->ops->words(src, family);
	size_t stride = words * sizeof(uint64_t);
	uint64_t *data = rows;

	first *= src->ops->queries;
	n *= src->ops->queries;
	/* Drivers may write nothing at all for results that are not ready. */
	for (uint32_t i = 1; i <= n; i++)
		data[i * words - 1] = 0;
	VkResult result = api->GetQueryPoolResults(
		api->device, pool, first, n, n * stride, data, stride,
		VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
	return result < 0 ? TALLY_LOST : TALLY_OK;
}

void
tally_vk_source_destroy(struct tally_vk_source *src)
{
	free(src);
}
