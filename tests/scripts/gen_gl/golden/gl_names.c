/* gl_names.c - the names we have a hook for.
 *
 * Made by scripts/gen_gl.py from toy.xml and toy.rules. Do not edit.
 */
#include "gl_names.h"
#include "gl_next.h"
#include "gl_shim/window/real.h"

const struct gl_hook gl_hooks[GL_N_HOOKS] = {
	{ "eglToy", (void (*)(void))eglToy, -1 },
	{ "glDraw", (void (*)(void))glDraw, 0 },
	{ "glDrawEXT", (void (*)(void))glDrawEXT, 1 },
	{ "glName", (void (*)(void))glName, 2 },
	{ "glNewer", (void (*)(void))glNewer, 3 },
	{ "glTest", (void (*)(void))glTest, 4 },
	{ "glWipe", (void (*)(void))glWipe, 5 },
	{ "glXOld", (void (*)(void))glXOld, -1 },
	{ "glXToy", (void (*)(void))glXToy, -1 },
};

static GL_UNCHECKED int
compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

GL_UNCHECKED int
gl_hook_find(const char *name)
{
	if (name[0] != 'g' && name[0] != 'e')
		return -1;
	int low = 0, high = GL_N_HOOKS - 1;
	while (low <= high) {
		int middle = (low + high) / 2;
		int order = compare(name, gl_hooks[middle].name);
		if (order == 0)
			return middle;
		if (order < 0)
			high = middle - 1;
		else
			low = middle + 1;
	}
	return -1;
}
