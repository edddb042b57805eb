/* SPDX-License-Identifier: MIT */
/* tests/apps/toolkit_glfw.c - a small GLFW program with two windows that share objects.
 *
 *   toolkit_glfw FRAMES [egl|glx] [both]: draws both windows, then presents both
 */
#define GLFW_INCLUDE_NONE
#include <GL/gl.h>
#include <GLFW/glfw3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*clear)(GLbitfield);
static void (*draw)(GLenum, GLint, GLsizei);
static void (*vertices)(GLint, GLenum, GLsizei, const void *);
static void (*enable)(GLenum);

static void
draw_window(GLFWwindow *window, int count)
{
	static const float corners[12] = { -1, -1, 1, -1, -1, 1, 1, -1, 1, 1, -1, 1 };
	glfwMakeContextCurrent(window);
	clear(GL_COLOR_BUFFER_BIT);
	enable(GL_VERTEX_ARRAY);
	vertices(2, GL_FLOAT, 0, corners);
	draw(GL_TRIANGLES, 0, count);
}

int
main(int argc, char **argv)
{
	int frames = argc > 1 ? atoi(argv[1]) : 10;
	if (!glfwInit()) {
		fprintf(stderr, "skipped: GLFW finds no display\n");
		return 77;
	}
	if (argc > 2 && strcmp(argv[2], "egl") == 0)
		glfwWindowHint(GLFW_CONTEXT_CREATION_API, GLFW_EGL_CONTEXT_API);
	GLFWwindow *first = glfwCreateWindow(160, 120, "first", NULL, NULL);
	GLFWwindow *second = first ? glfwCreateWindow(80, 60, "second", NULL, first) : NULL;
	if (!second) {
		fprintf(stderr, "skipped: GLFW makes no window\n");
		return 77;
	}
	glfwMakeContextCurrent(first);
	glfwSwapInterval(0);
	clear = (void (*)(GLbitfield))glfwGetProcAddress("glClear");
	draw = (void (*)(GLenum, GLint, GLsizei))glfwGetProcAddress("glDrawArrays");
	vertices = (void (*)(GLint, GLenum, GLsizei, const void *))glfwGetProcAddress(
		"glVertexPointer");
	enable = (void (*)(GLenum))glfwGetProcAddress("glEnableClientState");
	for (int i = 0; i < frames; i++) {
		glfwPollEvents();
		draw_window(second, 3);
		if (argc <= 3)
			glfwSwapBuffers(second);
		draw_window(first, 6);
		glfwSwapBuffers(first);
		if (argc <= 3)
			continue;
		glfwMakeContextCurrent(second);
		glfwSwapBuffers(second);
	}
	glfwTerminate();
	printf("frames %d\n", 2 * frames);
	return 0;
}
