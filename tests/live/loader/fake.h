/* SPDX-License-Identifier: MIT */
/* fake.h - the functions of the loader tests' own "GL library".
 *
 * It draws nothing; it counts. The types are plain C, as wide as those of the real interface.
 */
#ifndef TESTS_LOADER_FAKE_H
#define TESTS_LOADER_FAKE_H

typedef void fake_function(void);

/* Calls that reached the library, by the first letters of the name. */
struct fake_calls {
	int clear, draw, swap, make_current, vertex;
};

extern struct fake_calls fake_calls;

void glClear(unsigned mask);
void glDrawArrays(unsigned mode, int first, int count);
void glVertex3f(float x, float y, float z);
void glXSwapBuffers(void *display, unsigned long drawable);
int glXMakeCurrent(void *display, unsigned long drawable, void *context);
void *glXGetCurrentContext(void);
fake_function *glXGetProcAddressARB(const unsigned char *name);
fake_function *glXGetProcAddress(const unsigned char *name);
unsigned eglSwapBuffers(void *display, void *surface);

#endif
