/* SPDX-License-Identifier: MIT */
/* query/vk/khr_counter.h - translates one counter of VK_KHR_performance_query for the log.
 *
 * Any thread; nothing is allocated.
 */
#ifndef PASSTALLY_QUERY_VK_KHR_COUNTER_H
#define PASSTALLY_QUERY_VK_KHR_COUNTER_H

#include "query/vk/khr_catalogue.h"

/* Memory for the strings of one counter. */
struct tally_khr_texts {
	char key[VK_MAX_DESCRIPTION_SIZE];
	char uuid[2 * VK_UUID_SIZE + 1];
	char description[VK_MAX_DESCRIPTION_SIZE + 200];
};

/* The result points into `from` and `texts`, which is filled. */
struct tally_counter tally_khr_describe(const VkPerformanceCounterKHR *counter,
					const VkPerformanceCounterDescriptionKHR *from,
					struct tally_khr_texts *texts);
enum tally_scope tally_khr_scope(VkPerformanceCounterScopeKHR scope);
/* Can values of this storage be represented? */
bool tally_khr_knows_storage(VkPerformanceCounterStorageKHR storage);

#endif
