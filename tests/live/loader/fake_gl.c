/* SPDX-License-Identifier: MIT */
/* A GL library of nine functions, built as libGL.so.1; with -DFAKE_ANGLE as one that looks like
 * ANGLE's. */
#include "fake.h"

#include <stddef.h>
#include <string.h>

struct fake_calls fake_calls;

void
glClear(unsigned mask)
{
	(void)mask;
	fake_calls.clear++;
}

void
glDrawArrays(unsigned mode, int first, int count)
{
	(void)mode;
	(void)first;
	(void)count;
	fake_calls.draw++;
}

void
glVertex3f(float x, float y, float z)
{
	(void)x;
	(void)y;
	(void)z;
	fake_calls.vertex++;
}

void
glXSwapBuffers(void *display, unsigned long drawable)
{
	(void)display;
	(void)drawable;
	fake_calls.swap++;
}

static void *current;

int
glXMakeCurrent(void *display, unsigned long drawable, void *context)
{
	(void)display;
	(void)drawable;
	current = context;
	fake_calls.make_current++;
	return 1;
}

void *
glXGetCurrentContext(void)
{
	return current;
}

/* Like glvnd, it returns a function for the other platform's names too. */
unsigned
eglSwapBuffers(void *display, void *surface)
{
	(void)display;
	(void)surface;
	return 1;
}

fake_function *
glXGetProcAddressARB(const unsigned char *name)
{
	static const struct {
		const char *name;
		fake_function *function;
	} all[] = {
		{ "glClear", (fake_function *)glClear },
		{ "glDrawArrays", (fake_function *)glDrawArrays },
		{ "glVertex3f", (fake_function *)glVertex3f },
		{ "glXSwapBuffers", (fake_function *)glXSwapBuffers },
		{ "glXMakeCurrent", (fake_function *)glXMakeCurrent },
		{ "eglSwapBuffers", (fake_function *)eglSwapBuffers },
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp((const char *)name, all[i].name) == 0)
			return all[i].function;
	}
	return NULL;
}

fake_function *
glXGetProcAddress(const unsigned char *name)
{
	return glXGetProcAddressARB(name);
}

#ifdef FAKE_ANGLE
void eglStreamPostD3DTextureANGLE(void);
void
eglStreamPostD3DTextureANGLE(void)
{
}
#endif
