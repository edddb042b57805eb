/* SPDX-License-Identifier: MIT */
/* tests/live/count_swaps.c - count a program's frames from outside.
 *
 * Preloaded beside passtally, but independent of it. Counts the swap calls of programs that
 * link libGL or libEGL directly, and what they look up to swap with damage. COUNT_SWAPS_FILE
 * names a file whose first eight bytes are the count (mapped, so that it survives any end);
 * COUNT_SWAPS_LIMIT ends the program with exit(0) after so many swaps. Any thread.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static _Atomic uint64_t *counter;
static uint64_t limit;

__attribute__((constructor)) static void
prepare(void)
{
	static _Atomic uint64_t fallback;
	const char *path = getenv("COUNT_SWAPS_FILE");
	const char *text = getenv("COUNT_SWAPS_LIMIT");
	limit = text ? strtoull(text, NULL, 10) : 0;
	counter = &fallback;
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd < 0)
		return;
	if (ftruncate(fd, 8) == 0) {
		void *page = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (page != MAP_FAILED)
			counter = page;
	}
	close(fd);
}

static void
swapped(void)
{
	if (atomic_fetch_add(counter, 1) + 1 == limit)
		exit(0);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

PUBLIC void glXSwapBuffers(void *display, unsigned long drawable);
PUBLIC unsigned eglSwapBuffers(void *display, void *surface);

PUBLIC void
glXSwapBuffers(void *display, unsigned long drawable)
{
	NEXT(glXSwapBuffers)(display, drawable);
	swapped();
}

PUBLIC unsigned
eglSwapBuffers(void *display, void *surface)
{
	unsigned fine = NEXT(eglSwapBuffers)(display, surface);
	swapped();
	return fine;
}

typedef unsigned (*swap_with_damage)(void *display, void *surface, const int *rects, int n);

static swap_with_damage next_with_damage;

static unsigned
count_with_damage(void *display, void *surface, const int *rects, int n)
{
	unsigned fine = next_with_damage(display, surface, rects, n);
	swapped();
	return fine;
}

PUBLIC void *eglGetProcAddress(const char *name);

PUBLIC void *
eglGetProcAddress(const char *name)
{
	void *found = NEXT(eglGetProcAddress)(name);
	if (!found || strncmp(name, "eglSwapBuffersWithDamage", 24) != 0)
		return found;
	*(void **)&next_with_damage = found;
	swap_with_damage ours = count_with_damage;
	return *(void **)&ours;
}
