/* SPDX-License-Identifier: MIT */
/* gl_shim/context/gl_types.h - the types of OpenGL, GLX and EGL, declared in plain C.
 *
 * The shim includes no GL, X11 or EGL header: they declare the functions that the shim defines,
 * differ between systems, and are missing in cross builds. Sizes are those of the ABI (EGL's
 * and X's handles are as wide as a pointer or a long). Never include this together with a real
 * GL header.
 */
#ifndef PASSTALLY_GL_SHIM_GL_TYPES_H
#define PASSTALLY_GL_SHIM_GL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GL_EXPORT __attribute__((visibility("default")))

/* OpenGL and OpenGL ES */
typedef unsigned int GLenum;
typedef unsigned char GLboolean;
typedef unsigned int GLbitfield;
typedef signed char GLbyte;
typedef unsigned char GLubyte;
typedef short GLshort;
typedef unsigned short GLushort;
typedef int GLint;
typedef unsigned int GLuint;
typedef int GLsizei;
typedef int GLfixed;
typedef int GLclampx;
typedef float GLfloat;
typedef float GLclampf;
typedef double GLdouble;
typedef double GLclampd;
typedef char GLchar;
typedef char GLcharARB;
typedef unsigned int GLhandleARB;
typedef unsigned short GLhalfNV;
typedef intptr_t GLintptr;
typedef intptr_t GLintptrARB;
typedef intptr_t GLsizeiptr;
typedef intptr_t GLsizeiptrARB;
typedef intptr_t GLvdpauSurfaceNV;
typedef int64_t GLint64;
typedef int64_t GLint64EXT;
typedef uint64_t GLuint64;
typedef uint64_t GLuint64EXT;
typedef struct gl_sync *GLsync;
typedef void *GLeglImageOES;
typedef void *GLeglClientBufferEXT;
typedef void (*GLVULKANPROCNV)(void);
typedef void (*GLDEBUGPROC)(GLenum source, GLenum type, GLuint id, GLenum severity,
			    GLsizei length, const GLchar *message, const void *user);
typedef GLDEBUGPROC GLDEBUGPROCARB;
typedef GLDEBUGPROC GLDEBUGPROCKHR;
typedef void (*GLDEBUGPROCAMD)(GLuint id, GLenum category, GLenum severity, GLsizei length,
			       const GLchar *message, void *user);

/* X11 and GLX */
typedef struct gl_x_display Display;
typedef struct gl_x_visual XVisualInfo;
typedef int Bool;
typedef unsigned long XID;
typedef XID Window;
typedef XID Pixmap;
typedef XID Colormap;
typedef XID GLXDrawable;
typedef XID GLXWindow;
typedef XID GLXPixmap;
typedef XID GLXPbuffer;
typedef XID GLXContextID;
typedef struct gl_glx_context *GLXContext;
typedef struct gl_glx_config *GLXFBConfig;
typedef void (*GLXextFuncPtr)(void);

/* EGL */
typedef int32_t EGLint;
typedef unsigned int EGLBoolean;
typedef unsigned int EGLenum;
typedef void *EGLDisplay;
typedef void *EGLConfig;
typedef void *EGLSurface;
typedef void *EGLContext;
typedef void *EGLSync;
typedef intptr_t EGLAttrib;
typedef uint64_t EGLTime; /* also EGLTimeKHR */
typedef void *EGLNativePixmap; /* an X Pixmap or a pointer: only passed on */
typedef void (*EGLProc)(void);

#endif
