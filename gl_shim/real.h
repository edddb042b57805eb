/* gl_shim/real.h - what our hooks stand for: libc's dlsym, and the game's glX and egl calls.
 *
 * Any thread, from the first instruction of the process on (other libraries' constructors call
 * dlsym before ours runs), so nothing here takes memory or asks the environment, and what the
 * dlsym filter needs calls no function that a sanitizer intercepts, but for a GL name that nobody
 * has in search order. Nothing fails loudly: what cannot be found is NULL.
 */
#ifndef PASSTALLY_GL_SHIM_REAL_H
#define PASSTALLY_GL_SHIM_REAL_H

#include <stdbool.h>
#include <stdint.h>

#include "gl_names.h" /* generated */

/* Runs before a sanitizer's own start: its checks would use memory that is not there yet. */
#define GL_UNCHECKED __attribute__((no_sanitize("address", "undefined", "thread")))

struct link_map;

/* libc's, whatever other overlays export; NULL only where libc cannot be found. */
struct gl_loader {
	void *(*dlsym)(void *handle, const char *name);
	void *(*dlvsym)(void *handle, const char *name, const char *version);
};
struct gl_loader gl_loader(void);

/* dlsym or, with a version, dlvsym, with us as the caller. */
void *gl_loader_find(void *handle, const char *name, const char *version);

/* The object an address lies in; NULL when in none. */
struct link_map *gl_real_owner(const void *address);
/* A function that one object itself defines: no search order, no error left for dlerror(). */
void *gl_real_symbol(const struct link_map *map, const char *name);
/* The file name without folders; "" for the program. */
const char *gl_real_basename(const struct link_map *map);
/* Does the address lie in this library? */
bool gl_real_is_own(const void *address);

/* The name after us in search order; NULL when only we have it, or no library. */
void *gl_real_next(const char *name);

/* A handle to a library that is loaded already, for dlclose(), or NULL; "" is the program. It takes
 * the dynamic linker's lock. */
void *gl_real_opened(const char *path);
/* The same of the GL library for functions named like this one. Perhaps only a plug-in sees it
 * (RTLD_LOCAL) and is linked to it, so that no look-up showed us where it is. */
void *gl_real_library(const char *name);
/* A function of that library, or NULL. */
void *gl_real_in_library(const char *name);

/* A hook was handed out in place of `real`: remember it. The newest is kept, for a library may have
 * been unloaded and loaded elsewhere in between. */
void gl_real_learn(int row, void *real);
/* What was learned of a row, or NULL. */
void *gl_real_learned(int row);

/* The function for which the hook of a glX or egl row stands: learned, else the next in search
 * order, else from GetProcAddress, else from a library that is loaded. That library stays loaded
 * from then on. NULL: there is none. */
void *gl_real(enum gl_hook_row row);
/* The same for a glX or egl function that is not hooked; `cache` begins as NULL. */
void *gl_real_named(const char *name, _Atomic(void *) *cache);

/* The function for which our hook of the same name stands, with its type. */
#define GL_REAL(call) ((__typeof__(call) *)(uintptr_t)gl_real(GL_HOOK_##call))

/* PASSTALLY_DISABLE is set: hand out the real functions. False until our constructor ran. */
bool gl_shim_disabled(void);
/* By the constructor alone, before any other thread. */
void gl_shim_disable(void);

#endif
