/* SPDX-License-Identifier: MIT */
/* contexts FRAMES EVERY: draws without a display, and makes a new context every EVERY frames, as
 * games do when the GPU was reset. It looks at no error and at no reset status. */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>
#include <stdio.h>
#include <stdlib.h>

#define N_TARGETS 2
#define SIZE 64

static EGLDisplay display;
static EGLConfig config;
static EGLSurface surface;
static GLuint targets[N_TARGETS], program;

static GLuint
shader(GLenum stage, const char *text)
{
	GLuint made = glCreateShader(stage);
	glShaderSource(made, 1, &text, NULL);
	glCompileShader(made);
	glAttachShader(program, made);
	return made;
}

static void
make_objects(void)
{
	static const float corners[] = { -1, -1, 3, -1, -1, 3 };
	GLuint textures[N_TARGETS], corner_buffer;

	program = glCreateProgram();
	shader(GL_VERTEX_SHADER,
	       "attribute vec2 at; void main() { gl_Position = vec4(at, 0.0, 1.0); }");
	shader(GL_FRAGMENT_SHADER, "void main() { gl_FragColor = vec4(1.0); }");
	glBindAttribLocation(program, 0, "at");
	glLinkProgram(program);
	glUseProgram(program);
	glGenBuffers(1, &corner_buffer);
	glBindBuffer(GL_ARRAY_BUFFER, corner_buffer);
	glBufferData(GL_ARRAY_BUFFER, sizeof(corners), corners, GL_STATIC_DRAW);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
	glEnableVertexAttribArray(0);
	glViewport(0, 0, SIZE, SIZE);
	glGenTextures(N_TARGETS, textures);
	glGenFramebuffers(N_TARGETS, targets);
	for (int i = 0; i < N_TARGETS; i++) {
		glBindTexture(GL_TEXTURE_2D, textures[i]);
		glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, SIZE, SIZE, 0, GL_RGBA,
			     GL_UNSIGNED_BYTE, NULL);
		glBindFramebuffer(GL_FRAMEBUFFER, targets[i]);
		glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
				       textures[i], 0);
	}
}

static EGLContext
make_context(EGLContext old)
{
	static const EGLint version[] = { EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE };

	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	if (old != EGL_NO_CONTEXT)
		eglDestroyContext(display, old);
	EGLContext made = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
	if (eglMakeCurrent(display, surface, surface, made))
		make_objects();
	return made;
}

static void
draw_frame(void)
{
	for (int i = 0; i < N_TARGETS; i++) {
		glBindFramebuffer(GL_FRAMEBUFFER, targets[i]);
		glClear(GL_COLOR_BUFFER_BIT);
		glDrawArrays(GL_TRIANGLES, 0, 3);
		glDrawArrays(GL_TRIANGLES, 0, 3);
	}
	eglSwapBuffers(display, surface);
}

int
main(int argc, char **argv)
{
	static const EGLint wanted[] = { EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
					 EGL_OPENGL_ES2_BIT, EGL_NONE };
	static const EGLint size[] = { EGL_WIDTH, SIZE, EGL_HEIGHT, SIZE, EGL_NONE };
	int frames = argc > 1 ? atoi(argv[1]) : 40, every = argc > 2 ? atoi(argv[2]) : 10;
	EGLint n = 0;

	display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_ES_API) ||
	    !eglChooseConfig(display, wanted, &config, 1, &n) || !n)
		return 77;
	surface = eglCreatePbufferSurface(display, config, size);
	EGLContext context = EGL_NO_CONTEXT;
	for (int i = 0; i < frames; i++) {
		if (i % every == 0)
			context = make_context(context);
		draw_frame();
	}
	eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(display, context);
	eglTerminate(display);
	printf("frames %d\n", frames);
	return 0;
}
