/* gl_names.h - the names we have a hook for.
 *
 * Made by scripts/gen_gl.py from toy.xml and toy.rules. Do not edit.
 */
#ifndef PASSTALLY_GL_NAMES_H
#define PASSTALLY_GL_NAMES_H

struct gl_hook {
	const char *name;
	void (*hook)(void);
	int slot; /* its member's place in struct gl_next; -1: a glX or egl call */
};

/* Rows of the calls of GLX and EGL. */
enum gl_hook_row {
	GL_HOOK_eglToy = 0,
	GL_HOOK_glXOld = 7,
	GL_HOOK_glXToy = 8,
	GL_N_HOOKS = 9,
};

extern const struct gl_hook gl_hooks[GL_N_HOOKS]; /* sorted by name */

/* The row of a name, -1 when we have no hook for it. Any thread, any time: no lock,
 * no memory, no call into libc. */
int gl_hook_find(const char *name);

#endif
