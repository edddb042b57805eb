/* SPDX-License-Identifier: MIT */
/* gl_shim/window/entry.c - how the game's look-ups find our hooks, and how the process ends.
 *
 * dlsym() and dlvsym() themselves are assembly (dlsym_*.S): they ask gl_dl_filter() and then
 * return our answer or jump on to libc's with the game's return address still in place, because
 * libc derives from it what RTLD_NEXT and RTLD_DEFAULT mean.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gl_shim/image/drawable.h"
#include "gl_shim/window/platform.h"
#include "gl_shim/window/real.h"
#include "layer/base/small_file.h"
#include "layer/capture/capture.h"
#include "layer/config/config.h"
#include "layer/session/block.h"
#include "layer/session/session.h"

/* ---- start and end ---- */

/* The process whose exit is handled: a vfork() child that fails to exec calls _exit() on the
 * same memory. */
static pid_t process;
/* Looked up in advance: at exit another thread may hold the dynamic linker's lock forever. */
static void *next_exit, *next__exit, *next_Exit;

static void
forked_child(void)
{
	process = getpid();
	gl_drawables_forked_child();
	gl_egl_forked_child();
}

static __attribute__((constructor)) void
start(void)
{
	gl_loader();
	bool disabled = tally_config_disabled() || tally_block_early();
	if (disabled)
		gl_shim_disable();
	process = getpid();
	next_exit = gl_real_next("exit");
	next__exit = gl_real_next("_exit");
	next_Exit = gl_real_next("_Exit");
	if (disabled)
		return;
	pthread_atfork(NULL, NULL, forked_child);
	tally_small_file_make_room();
	tally_capture_set_shim();
}

static void
leave(void)
{
	if (!gl_shim_disabled() && process == getpid())
		tally_session_stop("exit");
}

static __attribute__((destructor)) void
finish(void)
{
	leave();
}

/* Wine and many games exit in this way, in which no destructor runs. A constructor of a library
 * may call it before the shim's has run, and then `next` is not known yet. */
static __attribute__((noreturn)) void
end_process(void *next, const char *name, int status)
{
	leave();
	if (!next)
		next = gl_real_next(name);
	if (next)
		((void (*)(int))(uintptr_t)next)(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

GL_EXPORT __attribute__((noreturn)) void
_exit(int status)
{
	end_process(next__exit, "_exit", status);
}

/* The log is ended before the handlers of exit() run, and not in one of them: where several
 * threads call exit() at once, each runs the handlers that the others left, and glibc 2.36 frees a
 * block of handlers while a thread is still in one of them. That thread crashes when its handler
 * returns, unless the process is gone by then: so each additional moment in a handler makes
 * that more likely.
 */
GL_EXPORT __attribute__((noreturn)) void
exit(int status)
{
	end_process(next_exit, "exit", status);
}

GL_EXPORT __attribute__((noreturn)) void
_Exit(int status)
{
	end_process(next_Exit, "_Exit", status);
}

/* ---- look-ups ---- */

void *gl_dl_filter(void *handle, const char *name, const char *version, const void *caller,
		   void **answer) __attribute__((visibility("hidden")));

GL_UNCHECKED static bool
begins_with_one_of(const char *text, const char *const *prefixes)
{
	while (*prefixes && !gl_real_begins(text, *prefixes))
		prefixes++;
	return *prefixes;
}

/* The GL stack looks up names to build its own tables, and gets the real functions; so does
 * RenderDoc, which lies between passtally and the driver, and would be left out else. The game's
 * own helper libraries are not part of it, even if their names begin in the same way. */
GL_UNCHECKED static bool
is_gl_stack(const struct link_map *map)
{
	static const char *const inside[] = { "libGL",      "libEGL", "libOpenGL",    "libgallium",
					      "libnvidia-", "libgbm", "librenderdoc", NULL };
	static const char *const beside[] = { "libGLEW", "libGLU", NULL };
	const char *base = gl_real_basename(map);
	if (begins_with_one_of(base, inside))
		return !begins_with_one_of(base, beside);
	for (; *base; base++) {
		static const char *const driver[] = { "_dri.so", NULL };
		if (begins_with_one_of(base, driver))
			return true;
	}
	return false;
}

/* Whether the library is Chromium's GL (ANGLE), which is implemented on top of another GL: its
 * calls reach the driver under it, where we see them. */
GL_UNCHECKED static bool
is_angle(const struct link_map *map)
{
	return gl_real_symbol(map, "eglStreamPostD3DTextureANGLE") ||
	       gl_real_symbol(map, "EGL_StreamPostD3DTextureANGLE") ||
	       gl_real_symbol(map, "ANGLEGetDisplayPlatform");
}

GL_UNCHECKED static bool
is_gl_library(const struct link_map *map)
{
	static const char *const names[] = { "libGL", "libOpenGL", "libEGL",
					     "librenderdoc", NULL };
	return begins_with_one_of(gl_real_basename(map), names) && !is_angle(map);
}

/* Returns what the game gets instead of `real`. */
GL_UNCHECKED static void *
hand_out(int row, void *real, const struct link_map *owner)
{
	if (gl_shim_disabled())
		return real;
	gl_real_learn(row, real);
	/* The game may have loaded this library with RTLD_LOCAL: so its other functions are
	 * found here. */
	static const int lookups[] = { GL_HOOK_glXGetProcAddressARB, GL_HOOK_glXGetProcAddress,
				       GL_HOOK_eglGetProcAddress };
	for (unsigned i = 0; owner && i < sizeof(lookups) / sizeof(lookups[0]); i++) {
		void *lookup = gl_real_learned(lookups[i])
				       ? NULL
				       : gl_real_symbol(owner, gl_hooks[lookups[i]].name);
		if (lookup)
			gl_real_learn(lookups[i], lookup);
	}
	return (void *)(uintptr_t)gl_hooks[row].hook;
}

/* Looks in the caller's own libraries, which were loaded only for it. The caller's link map
 * must not serve as the handle: glibc has no search list for an object that was not opened by
 * dlopen(), and still reads it. */
GL_UNCHECKED static void *
find_beside(const void *caller, const char *name, const char *version)
{
	const struct link_map *map = gl_real_owner(caller);
	void *handle = map && map->l_name ? gl_real_opened(map->l_name) : NULL;
	if (!handle)
		return NULL;
	void *found = gl_loader_find(handle, name, version);
	dlclose(handle);
	return found;
}

/* For RTLD_DEFAULT, or a handle whose search order begins with us (the program's). The answer
 * is our hook, but only if the name would exist without us: this is how programs ask whether
 * GLX or EGL is there. `caller` is NULL where its own libraries are not searched. */
GL_UNCHECKED static void *
find_anywhere(int row, const char *name, const char *version, const void *caller)
{
	void *real = gl_loader_find(RTLD_NEXT, name, version);
	if (real) {
		struct link_map *owner = gl_real_owner(real);
		return owner && is_angle(owner) ? real : hand_out(row, real, owner);
	}
	real = caller ? find_beside(caller, name, version) : NULL;
	if (real && !gl_real_is_own(real)) {
		struct link_map *owner = gl_real_owner(real);
		return owner && is_gl_library(owner) ? hand_out(row, real, owner) : real;
	}
	/* No library has it. The second look-up sets the message for dlerror(). */
	return gl_loader_find(RTLD_NEXT, name, version);
}

/* Called by the assembly. Returns the function to jump to, or NULL if *answer is the result. */
GL_UNCHECKED void *
gl_dl_filter(void *handle, const char *name, const char *version, const void *caller,
	     void **answer)
{
	*answer = NULL;
	struct gl_loader loader = gl_loader();
	void *pass_on = (void *)(version ? (uintptr_t)loader.dlvsym : (uintptr_t)loader.dlsym);
	if (handle == RTLD_NEXT || !name)
		return pass_on;
	int row = gl_hook_find(name);
	if (row < 0)
		return pass_on;
	const struct link_map *asker = gl_real_owner(caller);
	if (asker && is_gl_stack(asker))
		return pass_on;
	if (handle != RTLD_DEFAULT) {
		void *real = gl_loader_find(handle, name, version);
		if (!real)
			return NULL;
		if (!gl_real_is_own(real)) {
			const struct link_map *owner = gl_real_owner(real);
			*answer = owner && is_gl_library(owner) ? hand_out(row, real, owner) : real;
			return NULL;
		}
	}
	*answer = find_anywhere(row, name, version, handle == RTLD_DEFAULT ? caller : NULL);
	return NULL;
}
