/* SPDX-License-Identifier: MIT */
#include "layer/capture/renderdoc.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

/* RenderDoc's in-application interface: versions 1.x of its table of functions begin alike. */
#define VERSION_1_0_0 10000
#define TRIGGER_CAPTURE 15

typedef void (*renderdoc_function)(void);

const char *
tally_renderdoc_capture(void)
{
	int (*get_api)(int version, renderdoc_function **functions) = NULL;
	renderdoc_function *functions = NULL;
	void *library = dlopen("librenderdoc.so", RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return "RenderDoc is not loaded in this program: start it under RenderDoc";
	*(void **)&get_api = dlsym(library, "RENDERDOC_GetAPI");
	bool found = get_api && get_api(VERSION_1_0_0, &functions) == 1 && functions;
	if (found)
		functions[TRIGGER_CAPTURE]();
	dlclose(library);
	return found ? NULL : "the RenderDoc in this program has no interface of version 1";
}
