/* SPDX-License-Identifier: MIT */
#include "tests/fake_vk/fake.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { N_TYPES = 128 };

static struct fake_object *unused[N_TYPES];
static uint32_t made[N_TYPES];
static uint32_t alive[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the above, also in bench */

static bool
is_counted(uint32_t type)
{
	return type != FAKE_VkQueue && type != FAKE_VkCommandBuffer &&
	       type != FAKE_VkDescriptorSet && type != FAKE_VkSurfaceKHR;
}

uint64_t
fake_new(uint32_t type, bool ours)
{
	pthread_mutex_lock(&mutex);
	struct fake_object *o = unused[type];
	if (o)
		unused[type] = o->next;
	else
		o = malloc(sizeof(*o));
	memset(o, 0, sizeof(*o));
	set_loader_magic_value(o);
	o->type = type;
	o->number = ++made[type];
	o->ours = ours;
	if (is_counted(type))
		alive[ours]++;
	pthread_mutex_unlock(&mutex);
	return (uint64_t)(uintptr_t)o;
}

static void
free_payload(struct fake_object *o)
{
	if (o->type == FAKE_VkCommandBuffer)
		free(o->cb.ops);
	else if (o->type == FAKE_VkQueryPool)
		free(o->queries.queries);
	else if (o->type == FAKE_VkDeviceMemory)
		free(o->memory.bytes);
}

void
fake_free(uint64_t handle)
{
	struct fake_object *o = FAKE_OBJECT(handle);
	if (!o || o->dead || o->type >= N_TYPES || o->type == FAKE_VkSurfaceKHR)
		return;
	pthread_mutex_lock(&mutex);
	free_payload(o);
	o->dead = true;
	if (is_counted(o->type))
		alive[o->ours]--;
	o->next = unused[o->type];
	unused[o->type] = o;
	pthread_mutex_unlock(&mutex);
}

uint32_t
fake_n_alive(bool ours)
{
	return alive[ours];
}
