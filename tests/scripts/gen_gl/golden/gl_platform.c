/* gl_platform.c - what the game calls instead of GLX and EGL.
 *
 * Made by scripts/gen_gl.py from toy.xml and toy.rules. Do not edit.
 */
#include "gl_shim/image/drawable.h"
#include "gl_shim/pass/work.h"
#include "gl_shim/window/platform.h"
#include "gl_shim/window/real.h"

void
glXOld(Toy *toy)
{
	__typeof__(glXOld) *real = GL_REAL(glXOld);
	if (!real)
		return;
	real(toy);
	gone(toy);
}

int
glXToy(Toy *toy, int n)
{
	__typeof__(glXToy) *real = GL_REAL(glXToy);
	if (!real)
		return 0;
	look(toy);
	note(n);
	int result = real(toy, n);
	told(result);
	return result;
}
