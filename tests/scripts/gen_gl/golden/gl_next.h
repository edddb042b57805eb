/* gl_next.h - the driver's functions, and the prototypes of our wrappers.
 *
 * Made by scripts/gen_gl.py from toy.xml and toy.rules. Do not edit.
 */
#ifndef PASSTALLY_GL_NEXT_H
#define PASSTALLY_GL_NEXT_H

#include "gl_shim/context/gl_types.h"

/* One member per command that is wrapped or that the shim calls itself. After
 * gl_next_fill() no member is NULL. */
#define GL_N_NEXT 6
struct gl_next {
	void (*Draw)(GLenum mode, GLsizei count);
	void (*DrawEXT)(GLenum mode, GLsizei total);
	const GLubyte *(*Name)(GLuint id);
	GLint (*Newer)(GLint a);
	GLboolean (*Test)(const void *const *list);
	void (*Wipe)(void);
};

/* Fill every member from lookup(data, "gl..."). What is not found, or is one of our
 * own wrappers, becomes a function that does nothing and returns 0. No GL call. */
void gl_next_fill(struct gl_next *next,
		  void *(*lookup)(void *data, const char *name), void *data);
/* A member by the command's name; NULL where the table has none. */
void (*gl_next_find(const struct gl_next *next, const char *name))(void);

GL_EXPORT void glDraw(GLenum mode, GLsizei count);
GL_EXPORT void glDrawEXT(GLenum mode, GLsizei total);
GL_EXPORT const GLubyte *glName(GLuint id);
GL_EXPORT GLint glNewer(GLint a);
GL_EXPORT GLboolean glTest(const void *const *list);
GL_EXPORT void glWipe(void);
GL_EXPORT void eglToy(void);
GL_EXPORT void glXOld(Toy *toy);
GL_EXPORT int glXToy(Toy *toy, int n);

#endif
