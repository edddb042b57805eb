/* SPDX-License-Identifier: MIT */
/* Small libraries that look names up in their own scope; -DHELPER_... selects one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#include "fake.h"

#if defined(HELPER_THIRD)
/* A library that wraps a function of the next one, and asks for the next glClear. */
int
loader_value(void)
{
	int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "loader_value");
	return next ? next() + 100 : -1;
}

void *
third_next_clear(void)
{
	void *found = dlsym(RTLD_NEXT, "glClear");
	return found;
}
#elif defined(HELPER_BASE)
int
loader_value(void)
{
	return 7;
}
#elif defined(HELPER_USER)
/* Linked to the GL library, and loaded by dlopen. */
void *
user_clear(void)
{
	return (void *)glClear;
}

void *
user_find(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	return found;
}

int
user_only_here(void)
{
	return 1;
}

/* Makes each call by linkage, as GStreamer's and Qt's plug-ins do, without looking up a name.
 * Returns what GetProcAddress returns for glClear. */
fake_function *
user_frame(void *context)
{
	glClear(1);
	glXMakeCurrent(NULL, 1, context);
	glDrawArrays(4, 0, 3);
	glXSwapBuffers(NULL, 1);
	glXMakeCurrent(NULL, 0, NULL);
	return glXGetProcAddressARB((const unsigned char *)"glClear");
}
#elif defined(HELPER_VENDOR)
/* A part of the GL stack, judging by its name. */
void *
vendor_find(void *handle, const char *name)
{
	void *found = dlsym(handle, name);
	return found;
}
#elif defined(HELPER_EARLY)
/* Looks up before any other constructor ran. */
void *early_clear;

static __attribute__((constructor)) void
early(void)
{
	void *handle = dlopen("libGL.so.1", RTLD_NOW | RTLD_LOCAL);
	early_clear = handle ? dlsym(handle, "glClear") : NULL;
}

/* A library that the program started with, as GLib's g_module_symbol() is. */
void *
early_find(void *handle, const char *name)
{
	void *found = dlsym(handle, name);
	return found;
}
#elif defined(HELPER_IMPOSTOR)
/* Not a GL library, judging by its name. */
void
glClear(unsigned mask)
{
	(void)mask;
}
#endif
