/* SPDX-License-Identifier: MIT */
/* tests/apps/orphan.c - a GLX program that never releases its context.
 *
 * It does what OpenSCAD does: draw off screen, swap, read back, destroy the context while it is
 * current and close the display. "ok" on stdout, or 77 where there is no GLX.
 */
#include <stdio.h>
#include <stdlib.h>

#include <X11/Xlib.h>
#include <epoxy/gl.h>
#include <epoxy/glx.h>

enum { SIZE = 512, N_DRAWS = 800, COLUMNS = 40 };

static GLuint framebuffer, buffers[2];

static void
bind_target(void)
{
	glGenFramebuffers(1, &framebuffer);
	glGenRenderbuffers(2, buffers);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glBindRenderbuffer(GL_RENDERBUFFER, buffers[0]);
	glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIZE, SIZE);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
				  buffers[0]);
	glBindRenderbuffer(GL_RENDERBUFFER, buffers[1]);
	glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, SIZE, SIZE);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER,
				  buffers[1]);
}

static void
draw(void)
{
	glViewport(0, 0, SIZE, SIZE);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	glEnable(GL_DEPTH_TEST);
	for (int i = 0; i < N_DRAWS; i++) {
		float x = 2.0f * (float)(i % COLUMNS) / COLUMNS - 1;
		float y = 0.1f * (float)(i / COLUMNS) - 1;
		glBegin(GL_TRIANGLES);
		glColor3f(1, 0.5f, (float)(i & 1));
		glVertex3f(x, y, 0);
		glVertex3f(x + 0.1f, y, 0);
		glVertex3f(x, y + 0.1f, 0);
		glEnd();
	}
}

int
main(void)
{
	int wanted[] = { GLX_RGBA, GLX_DOUBLEBUFFER, GLX_DEPTH_SIZE, 1, None };
	Display *display = XOpenDisplay(NULL);
	XVisualInfo *visual =
		display ? glXChooseVisual(display, DefaultScreen(display), wanted) : NULL;
	if (!visual) {
		fputs("no GLX here\n", stderr);
		return 77;
	}
	Window root = DefaultRootWindow(display);
	XSetWindowAttributes set = { .colormap = XCreateColormap(display, root, visual->visual,
								 AllocNone) };
	Window window = XCreateWindow(display, root, 0, 0, 10, 10, 0, visual->depth, InputOutput,
				      visual->visual, CWBorderPixel | CWColormap, &set);
	GLXContext context = glXCreateContext(display, visual, NULL, True);
	unsigned char *pixels = malloc((size_t)SIZE * SIZE * 4);
	if (!context || !pixels || !glXMakeCurrent(display, window, context))
		return 1;
	bind_target();
	draw();
	glXSwapBuffers(display, window);
	glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	free(pixels);
	glDeleteFramebuffers(1, &framebuffer);
	glDeleteRenderbuffers(2, buffers);
	XFree(visual);
	glXDestroyContext(display, context);
	XDestroyWindow(display, window);
	XCloseDisplay(display);
	puts("ok");
	return 0;
}
