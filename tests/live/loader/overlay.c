/* SPDX-License-Identifier: MIT */
/* Another overlay, written the common way: dlsym wrapped in C, the real one found by dlvsym. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

int overlay_swaps;

typedef void *dlsym_function(void *handle, const char *name);
typedef void swap_function(void *display, unsigned long drawable);

static dlsym_function *
next_dlsym(void)
{
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5",
						"GLIBC_2.0" };
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		void *found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
		if (found)
			return (dlsym_function *)found;
	}
	return NULL;
}

static void *library;

void
glXSwapBuffers(void *display, unsigned long drawable)
{
	dlsym_function *find = next_dlsym();
	overlay_swaps++;
	void *handle = library ? library : RTLD_NEXT;
	swap_function *next = (swap_function *)find(handle, "glXSwapBuffers");
	if (next && next != glXSwapBuffers)
		next(display, drawable);
}

void *
dlsym(void *handle, const char *name)
{
	dlsym_function *find = next_dlsym();
	if (strcmp(name, "glXSwapBuffers") == 0 && handle != RTLD_NEXT &&
	    handle != RTLD_DEFAULT) {
		library = handle;
		return (void *)glXSwapBuffers;
	}
	return find ? find(handle, name) : NULL;
}
