/* SPDX-License-Identifier: MIT */
/* tests/apps/toolkit_sdl.c - a small SDL 2 program: N frames of two draws, then the end. */
#include <SDL.h>
#include <SDL_opengl.h>
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	int frames = argc > 1 ? atoi(argv[1]) : 10;
	if (SDL_Init(SDL_INIT_VIDEO) != 0) {
		fprintf(stderr, "skipped: SDL: %s\n", SDL_GetError());
		return 77;
	}
	SDL_Window *window = SDL_CreateWindow("toolkit_sdl", 0, 0, 160, 120, SDL_WINDOW_OPENGL);
	SDL_GLContext context = window ? SDL_GL_CreateContext(window) : NULL;
	if (!context) {
		fprintf(stderr, "skipped: SDL: %s\n", SDL_GetError());
		return 77;
	}
	void (*clear)(GLbitfield) = (void (*)(GLbitfield))SDL_GL_GetProcAddress("glClear");
	void (*begin)(GLenum) = (void (*)(GLenum))SDL_GL_GetProcAddress("glBegin");
	void (*end)(void) = (void (*)(void))SDL_GL_GetProcAddress("glEnd");
	void (*vertex)(GLfloat, GLfloat) =
		(void (*)(GLfloat, GLfloat))SDL_GL_GetProcAddress("glVertex2f");
	for (int i = 0; i < frames; i++) {
		SDL_Event event;
		while (SDL_PollEvent(&event))
			continue;
		clear(GL_COLOR_BUFFER_BIT);
		for (int k = 0; k < 2; k++) {
			begin(GL_TRIANGLES);
			vertex(-1.0f, -1.0f);
			vertex(0.0f, -1.0f);
			vertex(-1.0f, (float)k);
			end();
		}
		SDL_GL_SwapWindow(window);
	}
	SDL_GL_DeleteContext(context);
	SDL_DestroyWindow(window);
	SDL_Quit();
	printf("frames %d\n", frames);
	return 0;
}
