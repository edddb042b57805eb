/* SPDX-License-Identifier: MIT */
/* gl_shim/window/real.h - the real functions that the hooks replace: libc's dlsym, and the
 * glX and egl functions.
 *
 * Any thread, from the first instruction of the process on (other libraries' constructors call
 * dlsym before ours runs), so nothing here allocates memory or reads the environment, and the
 * code that the dlsym filter uses calls no function that a sanitizer intercepts, except for a
 * GL name that no library in search order has. No error is reported: a function that cannot be
 * found is NULL.
 */
#ifndef PASSTALLY_GL_SHIM_REAL_H
#define PASSTALLY_GL_SHIM_REAL_H

#include <stdbool.h>
#include <stdint.h>

#include "gl_names.h" /* generated */

/* For code that runs before a sanitizer has started: its checks would use memory that does not
 * exist yet. */
#define GL_UNCHECKED __attribute__((no_sanitize("address", "undefined", "thread")))

struct link_map;

/* libc's functions, whatever other overlays export; NULL only if libc cannot be found. */
struct gl_loader {
	void *(*dlsym)(void *handle, const char *name);
	void *(*dlvsym)(void *handle, const char *name, const char *version);
};
struct gl_loader gl_loader(void);

/* dlsym or, with a version, dlvsym, with us as the caller. */
void *gl_loader_find(void *handle, const char *name, const char *version);

/* The object that contains an address; NULL when there is none. */
struct link_map *gl_real_owner(const void *address);
/* A function that one object itself defines. Uses no search order and leaves
 * no error for dlerror(). */
void *gl_real_symbol(const struct link_map *map, const char *name);
/* The file name without folders; "" for the program. */
const char *gl_real_basename(const struct link_map *map);
bool gl_real_begins(const char *text, const char *prefix);
/* Whether the address is in this library. */
bool gl_real_is_own(const void *address);

/* The function of that name after the shim in search order; NULL when only the shim has it, or
 * no library does. */
void *gl_real_next(const char *name);

/* A handle to a library that is already loaded, to be closed with dlclose(), or NULL; "" is the
 * program. Takes the dynamic linker's lock. */
void *gl_real_opened(const char *path);
/* The same for the GL library that has functions named like this one. Possibly only a plug-in
 * sees it (RTLD_LOCAL) and is linked to it, so that no look-up revealed where it is. */
void *gl_real_library(const char *name);
/* A function of that library, or NULL. */
void *gl_real_in_library(const char *name);

/* Stores `real`, instead of which a hook was returned. The newest is kept, because a library
 * may have been unloaded and loaded elsewhere in between. */
void gl_real_learn(int row, void *real);
/* The function learned for a row, or NULL. */
void *gl_real_learned(int row);

/* The function that the hook of a glX or egl row replaces: the learned one, else the next in
 * search order, else from GetProcAddress, else from a loaded library. That library stays loaded
 * from then on. NULL: there is none. */
void *gl_real(enum gl_hook_row row);
/* The same for a glX or egl function that is not hooked; `cache` begins as NULL. */
void *gl_real_named(const char *name, _Atomic(void *) *cache);
/* Declares `call`, a pointer to that function; the rest are its result and its parameters. */
#define GL_REAL_NAMED(call, name, result, ...) \
	static _Atomic(void *) call##_cache; \
	result (*call)(__VA_ARGS__) = (result (*)(__VA_ARGS__))( \
		uintptr_t)gl_real_named(name, &call##_cache)

/* The function that our hook of the same name replaces, with its type. */
#define GL_REAL(call) ((__typeof__(call) *)(uintptr_t)gl_real(GL_HOOK_##call))

/* Whether PASSTALLY_DISABLE is set, so that we return the real functions. False until
 * our constructor has run. */
bool gl_shim_disabled(void);
/* Called only by the constructor, before there is any other thread. */
void gl_shim_disable(void);

#endif
