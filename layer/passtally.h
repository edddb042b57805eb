/* SPDX-License-Identifier: MIT */
/* passtally.h - for engines: starts, pauses and marks the capture from inside the program.
 *
 * Nothing to link: each call looks for passtally in the process, and does nothing where it is not
 * there. Any thread; a call takes some microseconds, so it is for scenes and events, not for
 * draws. Returns 1 if passtally took the request, else 0: it is not there, nothing was drawn or
 * submitted yet, its capture is over, or the text is not valid. With glibc before 2.34 link with
 * -ldl. C and C++.
 *
 *	passtally run --start-on signal:USR2 -- ./engine    # nothing before passtally_start()
 */
#ifndef PASSTALLY_H
#define PASSTALLY_H

#pragma GCC system_header /* whatever warnings the engine has on */

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

/* One request in the words of `passtally trigger`: "start", "stop", "toggle", "mark NAME". */
static inline int
passtally_request(const char *request)
{
	int (*take)(const char *) = NULL;
	void *library = dlopen("libpasstally.so.0", RTLD_LAZY | RTLD_NOLOAD);
	if (library) {
		*(void **)(&take) = dlsym(library, "passtally_take_request");
		dlclose(library);
	}
	return take ? take(request) : 0;
}

/* Captures from the next frame on. */
static inline int
passtally_start(void)
{
	return passtally_request("start");
}

/* Pauses after the current frame. */
static inline int
passtally_stop(void)
{
	return passtally_request("stop");
}

/* Names this moment in the log: 1 to 250 bytes of UTF-8 without control characters. */
static inline int
passtally_mark(const char *name)
{
	char request[256];
	int len = snprintf(request, sizeof(request), "mark %s", name);
	return len > 0 && (size_t)len < sizeof(request) ? passtally_request(request) : 0;
}

/* Names what is shown from this moment on: a mark "scene NAME". */
static inline int
passtally_scene(const char *name)
{
	char request[256];
	int len = snprintf(request, sizeof(request), "mark scene %s", name);
	return len > 0 && (size_t)len < sizeof(request) ? passtally_request(request) : 0;
}

#endif
