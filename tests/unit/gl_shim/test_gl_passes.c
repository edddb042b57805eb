/* SPDX-License-Identifier: MIT */
#include "gl_shim/context/context.h"

#include "gl_shim/context/state.h"
#include "gl_shim/game/queries.h"
#include "gl_shim/image/drawable.h"
#include "gl_shim/image/framebuffer.h"
#include "gl_shim/pass/events.h"
#include "gl_shim/pass/frames.h"
#include "gl_shim/window/dispatch.h"
#include "gl_shim/window/platform.h"
#include "layer/base/clock.h"
#include "layer/session/session.h"
#include "tests/fake_gl/fake_next.h"
#include "tests/unit/layer/recorder_stub.h"

#include <pthread.h>
#include <stdlib.h>


/* ---- locks: the linker leads the shim's calls here ---- */

static __thread unsigned locks;
static unsigned n_locked;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

int
__wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	locks++;
	__atomic_fetch_add(&n_locked, 1, __ATOMIC_RELAXED);
	return __real_pthread_mutex_lock(mutex);
}

int
__wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	int failed = __real_pthread_mutex_trylock(mutex);
	locks += !failed;
	return failed;
}

int
__wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	locks--;
	return __real_pthread_mutex_unlock(mutex);
}

/* ---- memory: the linker does the same with the shim's allocations ---- */

static __thread unsigned fail_at; /* how many allocations until one fails; 0: none does */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *
__wrap_malloc(size_t size)
{
	return fail_at && --fail_at == 0 ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t n, size_t size)
{
	return fail_at && --fail_at == 0 ? NULL : __real_calloc(n, size);
}

#define EIGHT(text) text text text text text text text text

/* A frame as a line of calls, and the resulting passes. A call is a letter with its arguments:
 *   B1      bind framebuffer 1 (0: the window)      A31   attach texture 3 to framebuffer 1
 *   a31     the same by glFramebufferTexture        P     glPopAttrib
 *   N N1 N2 glDrawBuffers: none; the first color alone; it and GL_NONE
 *   D6      draw 6 vertices                         I D6  the same of 2 instances: i6
 *   C Z     clear color, depth                      c1    clear color of framebuffer 1 by name
 *   X M     dispatch, memory barrier                L12   blit from framebuffer 1 to 2
 *   G3      generate mipmaps of texture 3           R     read pixels back
 *   ( )     debug group "g" begins, ends            [ ]   conditional rendering begins, ends
 *   h       debug group "h" begins
 *   { }     glBegin with 3 vertices, glEnd          < >   a list is compiled: from, to
 *   k >     the same, and the list is executed, too
 *   l       call a list                             V V1  invalidate what is bound, its depth
 *   q Q     the game's own query begins, ends       t     rasterizer discard in transform feedback
 *   f F     glFlush, glFinish                       y Y   glFenceSync, glClientWaitSync
 *   z       the program sleeps                      S     swap
 *   v       another thread presents by Vulkan       E     the program ends here
 *   e1 .. e7  calls that the driver refuses: refused()
 * A pass is its kind (r, c, t; o: by frame), the width of its target, its counts (d draws, v
 * vertices, c clears, x dispatches, p copies), then words: /1 segment, L cleared at its begin, U
 * undefined there, *draw+clear its workloads, ~ discarded at its end, ? not all is known, "label",
 * {groups inside}, +z its GPU time reaches into the last sleep, flags in words. Frames end with
 * ";". */
static const struct {
	const char *what, *options, *calls, *passes;
} cases[] = {
	{ "a draw to the window", "", "D6 S", "r640 1d6v;" },
	{ "a present by Vulkan ends a frame, too", "", "v D3 v f v B1 D6 f v X v S",
	  "r640 1d3v;r10 1d6v;c0 1x;" },
	{ "... the next time that queries are allowed", "", "D3 { v l } B1 D6 v X",
	  "r640 2d3v? list immediate;r10 1d6v;" },
	{ "... not of a device that presents", "", "D3 S B1 D6 v B0 D9 S",
	  "r640 1d3v;r10 1d6v r640 1d9v;" },
	{ "... nor where other calls end frames", "frame=flush", "D3 v B1 D6 f S",
	  "r640 1d3v r10 1d6v;" },
	{ "binding alone is no pass", "", "B1 B2 B0 D3 S", "r640 1d3v;" },
	{ "draws to one target are one pass", "", "D3 D6 S", "r640 2d9v;" },
	{ "to another and back before work", "", "D3 B1 B0 D3 S", "r640 2d6v;" },
	{ "another target ends it", "", "B1 D3 B0 D6 S", "r10 1d3v r640 1d6v;" },
	{ "one that goes on is a segment", "", "D3 B1 D6 B0 D9 S",
	  "r640 1d3v r10 1d6v r640 1d9v/1;" },
	{ "one that clears first is another pass", "", "C D3 B1 D6 B0 C D9 S",
	  "r640 1d3v1cL r10 1d6v r640 1d9v1cL;" },
	{ "the same attachments, two framebuffers", "", "A31 B1 D3 B3 D6 S", "r30 2d9v;" },
	{ "... one attached by another call", "", "a31 B1 D3 B3 D6 S", "r30 2d9v;" },
	{ "... one that the driver was asked about", "", "A12 B1 D3 B2 P D6 S", "r10 2d9v;" },
	{ "attributes restored", "", "B1 D3 P D6 S", "r10 2d9v;" },
	{ "... of a framebuffer by glFramebufferTexture", "", "a31 B1 D3 P D6 S", "r30 2d9v;" },
	{ "... after the color and no second draw buffer", "", "B1 N2 D3 P D6 S", "r10 2d9v;" },
	{ "... after no draw buffer at all", "", "B1 N D3 P D6 S", "r0 2d9v;" },
	{ "... of the window", "", "N D3 P D6 S", "r640 2d9v;" },
	{ "one draw buffer, and it with none after it", "", "B1 N1 D3 N2 D6 S", "r10 2d9v;" },
	{ "another attachment of the same one", "", "B1 D3 A21 D6 S", "r10 1d3v r20 1d6v;" },
	{ "a framebuffer that is not complete", "", "A01 B1 D3 B0 D6 S", "r640 1d6v;" },
	{ "instances", "", "i6 S", "r640 1d12v;" },
	{ "less than no vertices", "", "D3 e1 S", "r640 1d3v;" },
	{ "no primitive of OpenGL's", "", "D3 e2 S", "r640 1d3v;" },
	{ "less than no instances", "", "D3 e3 S", "r640 1d3v;" },
	{ "a clear of no buffer", "", "D3 e4 S", "r640 1d3v;" },
	{ "a bind to no target", "", "B1 D3 e5 D6 S", "r10 2d9v;" },
	{ "refused before any work", "", "e1 e2 e3 e4 S", ";" },
	{ "a clear is work", "", "C S", "r640 1cL;" },
	{ "a clear at the begin", "", "C Z D3 S", "r640 1d3v2cL;" },
	{ "a clear in the midst", "", "D3 C S", "r640 1d3v1c;" },
	{ "depth alone does not clear colors", "", "Z D3 S", "r640 1d3v1c;" },
	{ "a clear by name", "", "c1 B1 D3 S", "r10 1d3v1cL;" },
	{ "... of what is not drawn to next", "", "c1 D3 S", "r10 1cL r640 1d3v;" },
	{ "dispatches are one pass", "", "X M X S", "c0 2x;" },
	{ "... not by barriers, if asked for", "split=barrier", "X M X S", "c0 1x c0 1x;" },
	{ "... or each by itself", "group-work=off", "X X S", "c0 1x c0 1x;" },
	{ "a dispatch between draws", "", "D3 X D3 S", "r640 1d3v c0 1x r640 1d3v/1;" },
	{ "a blit", "", "L12 S", "t20 1p;" },
	{ "... that the driver refuses", "", "D3 e6 e7 S", "r640 1d3v;" },
	{ "... to what is not complete", "", "D3 A01 B1 L21 B0 S", "r640 1d3v;" },
	{ "blits from one target to another are one pass", "", "L12 L12 S", "t20 2p;" },
	{ "blits from two are two", "", "L12 L32 S", "t20 1p t20 1p;" },
	{ "blits to two are two", "", "L12 L13 S", "t20 1p t30 1p;" },
	{ "mipmaps", "", "G3 S", "t30 1p mipmap;" },
	{ "a read back", "", "D3 R S", "r640 1d3v t640 1p readback sync;" },
	{ "... from what is not complete", "", "D3 A01 B1 R B0 S", "r640 1d3v;" },
	{ "read-backs from two framebuffers of one target, another", "", "A31 B1 R B3 R B2 R S",
	  "t30 2p readback sync t20 1p readback sync;" },
	{ "... of what was not drawn to yet", "", "R S", "t640 1p readback sync;" },
	{ "flush and finish end nothing", "", "D3 f D3 F D3 S", "r640 3d9v;" },
	{ "invalidated after", "", "B1 D3 V B0 D3 S", "r10 1d3v~ r640 1d3v;" },
	{ "invalidated before", "", "B1 V D3 B0 D3 S", "r10 1d3vU r640 1d3v;" },
	{ "... of it only the depth, after", "", "B1 D3 V1 B0 D3 S", "r10 1d3v r640 1d3v;" },
	{ "... and before", "", "B1 V1 D3 B0 D3 S", "r10 1d3v r640 1d3v;" },
	{ "a group around the pass names it", "", "( D3 ) S", "r640 1d3v\"g\";" },
	{ "a group around a part does not", "", "( D3 ) D3 S", "r640 2d6v{g};" },
	{ "a group is no border", "", "D3 ( D3 ) S", "r640 2d6v{g};" },
	{ "two groups in one target", "", "( D3 ) h D3 ) D3 S", "r640 3d9v{g, h};" },
	{ "a group twice", "", "( D3 ) ( D3 ) h D3 ) S", "r640 3d9v{g, h};" },
	{ "a group in the one around", "", "( D3 h D3 ) D3 ) S", "r640 3d9v\"g\"{h};" },
	{ "a group without work", "", "D3 ( ) h B1 D3 ) S", "r640 1d3v r10 1d3v\"h\";" },
	{ "a list is of one pass", "", "D3 ( D3 ) B1 D3 S", "r640 2d6v{g} r10 1d3v;" },
	{ "no groups inside where they are borders", "split=group", "( D3 h D3 ) ) S",
	  "r640 1d3v\"g\" r640 1d3v\"g/h\";" },
	{ "... but where it is asked for", "split=group", "D3 ( D3 ) S",
	  "r640 1d3v r640 1d3v\"g\";" },
	{ "conditional rendering is a flag", "", "[ D3 ] S", "r640 1d3v conditional;" },
	{ "discarded after transform feedback", "", "t D3 S",
	  "r640 1d3v rasterizer_discard transform_feedback;" },
	{ "glBegin is a draw without vertices", "", "{ } S", "r640 1d0v? immediate;" },
	{ "what is compiled is no work", "", "< D3 > S", ";" },
	{ "... executed at the same time, it is", "", "k D3 > S", "r640 1d3v;" },
	{ "... but not without a command", "", "k > S", ";" },
	{ "... nor between passes", "", "B1 D3 B0 k > B2 D6 S", "r10 1d3v r20 1d6v;" },
	{ "... and it continues the pass", "", "D3 k > D6 S", "r640 2d9v;" },
	{ "... with nothing but a clear", "", "k C > S", "r640 1c;" },
	{ "... on what is not complete", "", "D3 A01 B1 k D6 C > B0 S", "r640 1d3v;" },
	{ "... bound inside", "", "A01 k D3 B1 D6 C B0 D9 > S", "r640 2d12v;" },
	{ "... or made so", "", "B1 k D3 A01 D6 A11 D9 > S", "r10 2d12v;" },
	{ "workloads", "granularity=draw", "D3 C S", "r640 1d3v1c*draw+clear;" },
	{ "... of a list without a command", "granularity=draw", "D3 k > D6 S",
	  "r640 2d9v*draw+draw;" },
	{ "... of one with only a clear", "granularity=draw", "D3 k C C > D6 S",
	  "r640 2d9v2c*draw+clear+draw;" },
	{ "... alone, without a command", "granularity=draw", "k > S", ";" },
	{ "a list that is called", "", "l S", "r640 0d0v? list;" },
	{ "frames", "", "D3 S D6 S S", "r640 1d3v;r640 1d6v;;" },
	{ "a pass ends with its frame", "", "B1 D3 S D3 S", "r10 1d3v;r10 1d3v;" },
	{ "a frame that is left out", "skip=1", "B1 D3 C S D6 S", "r10 1d6v;" },
	{ "... each second one", "every=2", "D3 S B1 D6 X S B0 D9 S", "r640 1d3v;r640 1d9v;" },
	{ "... leaves no counts or groups", "skip=1", "( D3 X B1 D6 L12 G3 R h D3 ) ) S B0 D9 S",
	  "r640 1d9v;" },
	{ "... nor lists", "skip=1", "D3 { } l [ D3 < D3 > ] S D6 S", "r640 1d6v;" },
	{ "... nor an invalidation before work", "skip=1", "B1 V B0 D3 B1 D3 S D6 S",
	  "r10 1d6v;" },
	{ "... nor one after it", "skip=1", "B0 D3 B1 D3 V S D6 S", "r10 1d6v;" },
	{ "invalidated after a frame that is left out", "skip=1", "B0 D3 B1 D3 S V D6 S",
	  "r10 1d6vU;" },
	{ "... what was drawn to there is read back", "skip=1", "D3 B1 D3 S R S",
	  "t10 1p readback sync;" },
	{ "finish ends frames", "frame=finish", "D3 F D6 S F", "r640 1d3v;r640 1d6v;" },
	{ "... what it waited for is read", "sources=api+gl-timestamp", "B1 D3 B0 D6 F E",
	  "r10 1d3v r640 1d6v incomplete;" },
	{ "one pass a frame", "granularity=frame", "B1 D3 B0 D6 X S", "o0 2d9v1x;" },
	{ "asleep before the swap", "sources=api+gl-timestamp", "D3 z S", "r640 1d3v+z;" },
	{ "... after a flush", "sources=api+gl-timestamp", "D3 f z S D3 S",
	  "r640 1d3v;r640 1d3v;" },
	{ "... after a fence", "sources=api+gl-timestamp", "D3 y z S D3 S",
	  "r640 1d3v;r640 1d3v;" },
	{ "... after a finish", "sources=api+gl-timestamp", "D3 F z S D3 S",
	  "r640 1d3v;r640 1d3v;" },
	{ "... after a wait", "sources=api+gl-timestamp", "D3 Y z S D3 S",
	  "r640 1d3v;r640 1d3v;" },
	{ "... between a fence and the wait for it", "sources=api+gl-timestamp", "D3 y z Y S",
	  "r640 1d3v;" },
	{ "... between two flushes", "sources=api+gl-timestamp", "D3 f z f S", "r640 1d3v;" },
	{ "... and before another target", "sources=api+gl-timestamp", "D3 f z B1 D3 S",
	  "r640 1d3v r10 1d3v;" },
	{ "... and before more work", "sources=api+gl-timestamp", "D3 f z D3 S", "r640 2d6v+z;" },
	{ "... though a frame had ended by one", "sources=api+gl-timestamp",
	  "D3 f z S D3 f z D6 S", "r640 1d3v;r640 2d9v+z;" },
	{ "... or each after a first one", "", EIGHT("D3 y D6 f S ") "D3 y D6 f S",
	  EIGHT("r640 2d9v;") "r640 2d9v;" },
	{ "... but once where eight in a row had", "", EIGHT("D3 f S ") "D3 f D6 S D3 f D6 S",
	  EIGHT("r640 1d3v;") "r640 1d3v r640 1d6v/1;r640 2d9v;" },
	{ "... or by two", "", EIGHT("D3 y f S ") "D3 y D6 f S D3 y D6 f S",
	  EIGHT("r640 1d3v;") "r640 1d3v r640 1d6v/1;r640 2d9v;" },
	{ "... and another target follows", "",
	  EIGHT("D3 f S ") "D3 f D6 B1 D3 S B0 D3 f D6 B1 D3 S",
	  EIGHT("r640 1d3v;") "r640 1d3v r640 1d6v/1 r10 1d3v;r640 2d9v r10 1d3v;" },
	{ "... never a frame's one pass", "granularity=frame", EIGHT("D3 f S ") "D3 f D6 S",
	  EIGHT("o0 1d3v;") "o0 2d9v;" },
	{ "the game's query beside ours", "sources=api+gl-statistics", "D3 q D3 Q D3 S",
	  "r640 3d9v yielded;" },
	{ "... begun in a frame that is left out", "sources=api+gl-statistics,skip=1",
	  "D3 q D3 S D6 Q S", "r640 1d6v yielded;" },
	{ "... and none of ours in glBegin", "sources=api+gl-statistics+gl-timestamp",
	  "B1 D3 B0 { } S", "r10 1d3v r640 1d0v? immediate;" },
};

/* What the game calls: the wrappers, by the shim's own types. */
void glBegin(GLenum mode);
void glBeginConditionalRender(GLuint id, GLenum mode);
void glBeginQuery(GLenum target, GLuint id);
void glBeginTransformFeedback(GLenum mode);
void glBindFramebuffer(GLenum target, GLuint name);
void glBlitFramebuffer(GLint x0, GLint y0, GLint x1, GLint y1, GLint a0, GLint b0, GLint a1,
		       GLint b1, GLbitfield mask, GLenum filter);
void glBlitNamedFramebuffer(GLuint read, GLuint draw, GLint x0, GLint y0, GLint x1,
			    GLint y1, GLint a0, GLint b0, GLint a1, GLint b1,
			    GLbitfield mask, GLenum filter);
void glCallList(GLuint list);
void glClear(GLbitfield mask);
void glClearNamedFramebufferfv(GLuint name, GLenum buffer, GLint drawbuffer,
			       const GLfloat *value);
void glDispatchCompute(GLuint x, GLuint y, GLuint z);
void glDrawArrays(GLenum mode, GLint first, GLsizei count);
void glDrawArraysInstanced(GLenum mode, GLint first, GLsizei count, GLsizei instances);
void glDrawBuffers(GLsizei n, const GLenum *buffers);
void glEnd(void);
void glEndConditionalRender(void);
void glEndList(void);
void glEndQuery(GLenum target);
void glFinish(void);
void glFlush(void);
void glFramebufferTexture2D(GLenum target, GLenum point, GLenum kind, GLuint texture,
			    GLint level);
void glGenerateTextureMipmap(GLuint texture);
void glInvalidateFramebuffer(GLenum target, GLsizei n, const GLenum *attachments);
void glMemoryBarrier(GLbitfield barriers);
void glNewList(GLuint list, GLenum mode);
void glGenFramebuffers(GLsizei n, GLuint *names);
void glFramebufferTexture(GLenum target, GLenum point, GLuint texture, GLint level);
void glPopAttrib(void);
void glPopDebugGroup(void);
void glPushDebugGroup(GLenum source, GLuint id, GLsizei length, const GLchar *message);
void glReadPixels(GLint x, GLint y, GLsizei width, GLsizei height, GLenum format, GLenum type,
		  void *out);
void
glTextureStorage2D(GLuint texture, GLsizei levels, GLenum format, GLsizei width, GLsizei height);

enum {
	TRIANGLES = 4,
	RGBA8 = 0x8058,
	UNSIGNED_BYTE = 0x1401,
	RGBA = 0x1908,
	COMPILE = 0x1300,
	COMPILE_AND_EXECUTE = 0x1301,
	LINEAR = 0x2601,
	COLOR = 0x1800,
	PRIMITIVES_SUBMITTED = 0x82EF,
	TEXTURE_2D = 0x0DE1,
	DEBUG_SOURCE_APPLICATION = 0x824A,
	DRAW_FRAMEBUFFER = 0x8CA9,
	FRAMEBUFFER = 0x8D40,
	COLOR_ATTACHMENT0 = 0x8CE0,
	DEPTH_ATTACHMENT = 0x8D00,
};

#define WINDOW 640
static int the_context;
static const GLenum color_and_none[] = { COLOR_ATTACHMENT0, GL_NONE };
static const GLenum all_attachments[] = { COLOR_ATTACHMENT0, DEPTH_ATTACHMENT };

/* ---- a frame of calls ---- */

static void
swap(void)
{
	struct gl_context *c = gl_current_park();
	gl_swap_end(c, true, (struct tally_presented){ { WINDOW, WINDOW }, 0 });
}

static void
attach(GLuint texture, GLuint framebuffer, bool whole)
{
	GLuint old = fake_next.draw;
	glBindFramebuffer(DRAW_FRAMEBUFFER, framebuffer);
	if (whole)
		glFramebufferTexture(DRAW_FRAMEBUFFER, COLOR_ATTACHMENT0, texture, 0);
	else
		glFramebufferTexture2D(DRAW_FRAMEBUFFER, COLOR_ATTACHMENT0, TEXTURE_2D, texture, 0);
	glBindFramebuffer(DRAW_FRAMEBUFFER, old);
}

static void
make_work(char what, GLuint a, GLuint b)
{
	static const GLfloat black[4];
	static GLubyte pixel[4];
	if (what == 'D')
		glDrawArrays(TRIANGLES, 0, (GLsizei)a);
	else if (what == 'i')
		glDrawArraysInstanced(TRIANGLES, 0, (GLsizei)a, 2);
	else if (what == 'C')
		glClear(GL_COLOR_BUFFER_BIT);
	else if (what == 'Z')
		glClear(GL_DEPTH_BUFFER_BIT);
	else if (what == 'c')
		glClearNamedFramebufferfv(a, COLOR, 0, black);
	else if (what == 'X')
		glDispatchCompute(1, 1, 1);
	else if (what == 'L')
		glBlitNamedFramebuffer(a, b, 0, 0, 4, 4, 0, 0, 4, 4, GL_COLOR_BUFFER_BIT, 0);
	else if (what == 'G')
		glGenerateTextureMipmap(a);
	else if (what == 'R')
		glReadPixels(0, 0, 1, 1, RGBA, UNSIGNED_BYTE, pixel);
	else if (what == 'l')
		glCallList(1);
	else
		g_error("no call %c", what);
}

static bool ended;

static bool
make_end(char what)
{
	switch (what) {
	case 'f':
		glFlush();
		return true;
	case 'F':
		glFinish();
		return true;
	case 'S':
		swap();
		return true;
	case 'v':
		tally_presented_by_vulkan();
		return true;
	case 'E':
		ended = true;
		return true;
	default:
		return false;
	}
}

static bool
make_pair(char what)
{
	switch (what) {
	case '(':
		glPushDebugGroup(DEBUG_SOURCE_APPLICATION, 0, -1, "g");
		return true;
	case 'h':
		glPushDebugGroup(DEBUG_SOURCE_APPLICATION, 0, -1, "h");
		return true;
	case ')':
		glPopDebugGroup();
		return true;
	case '[':
		glBeginConditionalRender(1, 0);
		return true;
	case ']':
		glEndConditionalRender();
		return true;
	case '{':
		glBegin(TRIANGLES);
		return true;
	case '}':
		glEnd();
		return true;
	case '<':
		glNewList(1, COMPILE);
		return true;
	case 'k':
		glNewList(1, COMPILE_AND_EXECUTE);
		return true;
	case '>':
		glEndList();
		return true;
	case 'q':
		glBeginQuery(PRIMITIVES_SUBMITTED, 999);
		return true;
	case 'Q':
		glEndQuery(PRIMITIVES_SUBMITTED);
		return true;
	default:
		return false;
	}
}

static void
refused(GLuint which)
{
	switch (which) {
	case 1:
		glDrawArrays(TRIANGLES, 0, -3);
		return;
	case 2:
		glDrawArrays(0x77, 0, 3);
		return;
	case 3:
		glDrawArraysInstanced(TRIANGLES, 0, 3, -2);
		return;
	case 4:
		glClear(1);
		return;
	case 6:
		glBlitFramebuffer(0, 0, 4, 4, 0, 0, 4, 4, 0xdead0, 0);
		return;
	case 7:
		glBlitFramebuffer(0, 0, 4, 4, 0, 0, 4, 4, GL_DEPTH_BUFFER_BIT, LINEAR);
		return;
	default:
		glBindFramebuffer(0xdead, 0);
	}
}

/* A time when the program slept: half a sleep is far more than the two clocks differ. */
static uint64_t mid_sleep;

static void
program_sleeps(void)
{
	uint64_t from = tally_clock_now_ns();
	g_usleep(10000);
	mid_sleep = from + (tally_clock_now_ns() - from) / 2;
}

static void
make_call(const char *call)
{
	GLuint a = call[1] ? (GLuint)(call[1] - '0') : 0;
	GLuint b = call[1] && call[2] ? (GLuint)(call[2] - '0') : 0;
	switch (*call) {
	case 'B':
		glBindFramebuffer(FRAMEBUFFER, a);
		return;
	case 'A':
	case 'a':
		attach(a, b, *call == 'a');
		return;
	case 'P':
		glPopAttrib();
		return;
	case 'N':
		glDrawBuffers((GLsizei)a, color_and_none);
		return;
	case 'e':
		refused(a);
		return;
	case 'M':
		glMemoryBarrier(~0u);
		return;
	case 'V':
		glInvalidateFramebuffer(FRAMEBUFFER, a ? 1 : 2, all_attachments + (a ? 1 : 0));
		return;
	case 't':
		fake_next.discards = true;
		glBeginTransformFeedback(TRIANGLES);
		return;
	case 'y':
		glFenceSync(0, 0);
		return;
	case 'Y':
		glClientWaitSync(NULL, 0, 0);
		return;
	case 'z':
		program_sleeps();
		return;
	default:
		if (!make_pair(*call) && !make_end(*call))
			make_work(*call, a, b);
	}
}

/* ---- the resulting passes ---- */

static const struct tally_pass_info_record *
info_of(uint64_t id)
{
	for (guint i = 0; i < stub.infos->len; i++) {
		const struct tally_pass_info_record *info = &g_array_index(
			stub.infos, struct tally_pass_info_record, i);
		if (info->id == id)
			return info;
	}
	return NULL;
}

static void
say_count(GString *out, uint64_t n, const char *word)
{
	if (n)
		g_string_append_printf(out, "%u%s", (unsigned)n, word);
}

static void
say_pass(GString *out, const struct tally_pass_record *p)
{
	static const char kinds[] = { [TALLY_PASS_RENDER] = 'r',
				      [TALLY_PASS_COMPUTE] = 'c',
				      [TALLY_PASS_TRANSFER] = 't',
				      [TALLY_PASS_OTHER] = 'o' };
	const struct tally_pass_info_record *info = info_of(p->id);
	const struct tally_call_counts *t = &p->call_counts;
	g_assert_nonnull(info);
	g_string_append_printf(out, "%c%u ", kinds[p->kind], info->target.width);
	if (t->draws || p->unknown)
		g_string_append_printf(out, "%ud%uv", (unsigned)t->draws, (unsigned)t->vertices);
	say_count(out, t->clears, "c");
	say_count(out, t->dispatches, "x");
	say_count(out, t->copies, "p");
	if (p->unknown)
		g_string_append_c(out, '?');
	if (p->kind == TALLY_PASS_RENDER && info->load == TALLY_LOAD_CLEAR)
		g_string_append_c(out, 'L');
	if (p->kind == TALLY_PASS_RENDER && info->load == TALLY_LOAD_DONT_CARE)
		g_string_append_c(out, 'U');
	if (p->kind == TALLY_PASS_RENDER && info->store == TALLY_STORE_DISCARD)
		g_string_append_c(out, '~');
	if (p->segment)
		g_string_append_printf(out, "/%u", p->segment);
	for (uint32_t i = 0; i < p->n_workloads; i++)
		g_string_append_printf(out, "%c%s", i ? '+' : '*', p->workloads[i].command);
	if (p->label)
		g_string_append_printf(out, "\"%s\"", p->label);
	if (info->groups)
		g_string_append_printf(out, "{%s}", info->groups);
	if (p->has_gpu && p->gpu_start_ns < mid_sleep && p->gpu_start_ns + p->gpu_ns >= mid_sleep)
		g_string_append(out, "+z");
	/* For the sources, which are not under test here. */
	uint64_t flags = p->flags & ~(TALLY_FLAG(NO_TIMESTAMPS) | TALLY_FLAG(UNCALIBRATED));
	for (unsigned i = 0; i < 64; i++) {
		if (flags >> i & 1)
			g_string_append_printf(out, " %s", tally_flag_name(i));
	}
}

static void
enter(void *context)
{
	const struct gl_drawable window = { .draw = 1, .read = 1 };
	gl_current_enter(GL_PLATFORM_EGL, context, window, false);
	if (!gl_current->next)
		gl_current->next = gl_next_for(fake_next_look_up);
}

static void
enter_context(void)
{
	enter(&the_context);
}

static void
test_case(const void *data)
{
	size_t n = GPOINTER_TO_SIZE(data);
	char *options = g_strdup_printf("%s%s", cases[n].options,
					strstr(cases[n].options, "sources=") ? ""
					: *cases[n].options                  ? ",sources=api"
									     : "sources=api");
	bool child = stub_in_child(options);
	g_free(options);
	if (!child)
		return;
	fake_next.locks = &locks;
	/* The shim's own start code finds it running. */
	g_assert_true(tally_session_start(&stub_recorder));
	gl_drawable_learn(1, (struct tally_extent){ WINDOW, WINDOW }, true);
	gl_context_created(GL_PLATFORM_EGL, &the_context, NULL);
	enter_context();
	for (GLuint i = 1; i < FAKE_NEXT_FRAMEBUFFERS; i++) {
		GLuint made = i;
		glGenFramebuffers(1, &made);
		glTextureStorage2D(i, 1, RGBA8, 10 * (GLsizei)i, 10 * (GLsizei)i);
		attach(i, i, false);
	}
	char **calls = g_strsplit(cases[n].calls, " ", -1);
	for (char **call = calls; *call; call++)
		make_call(*call);
	if (!ended) {
		gl_context_destroyed(GL_PLATFORM_EGL, &the_context);
		gl_current_leave();
	}
	g_assert_cmpuint(n_locked, >, 0);
	g_assert_cmpuint(locks, ==, 0);
	tally_session_stop("exit");

	GString *out = g_string_new(NULL);
	for (guint f = 0; f < stub.frames->len; f++) {
		const struct tally_frame_record *frame = stub_frame(f);
		for (uint32_t i = 0; i < frame->n_passes; i++) {
			g_string_append(out, i ? " " : "");
			say_pass(out, &frame->passes[i]);
		}
		g_string_append_c(out, ';');
	}
	g_assert_cmpstr(out->str, ==, cases[n].passes);
	g_assert_cmpstr(fake_next.last_misuse, ==, "");
	g_string_free(out, TRUE);
	g_strfreev(calls);
}

/* A handle is reused while its context is current: where there is no memory for the new one,
 * the old one stays known, so that what it has measured is collected at the end. */
static void
test_no_memory(void)
{
	static const struct gl_context_state *old; /* left to its thread: for leak checkers */
	if (!stub_in_child("sources=api"))
		return;
	g_assert_true(tally_session_start(&stub_recorder));
	gl_context_created(GL_PLATFORM_EGL, &the_context, NULL);
	enter_context();
	old = gl_current->state;
	g_assert_nonnull(old);
	unsigned n_failed = 0;
	for (bool failed = true; failed; n_failed += failed) {
		fail_at = n_failed + 1;
		gl_context_created(GL_PLATFORM_EGL, &the_context, NULL);
		failed = fail_at == 0;
		fail_at = 0;
		gl_current_leave();
		enter_context();
		g_test_message("allocation %u: %s", n_failed + 1, failed ? "fails" : "is not made");
		g_assert_true((gl_current->state == old) == failed);
	}
	g_assert_cmpuint(n_failed, >=, 2);
	gl_context_destroyed(GL_PLATFORM_EGL, &the_context);
	gl_current_leave();
	tally_session_stop("exit");
}

/* A result that is waited for is a wait; whether it is there is not. What else takes time. */
static void
test_waits_and_events(void)
{
	GLuint value;
	if (!stub_in_child("sources=api"))
		return;
	g_assert_true(tally_session_start(&stub_recorder));
	gl_context_created(GL_PLATFORM_EGL, &the_context, NULL);
	enter_context();
	fake_next.result_takes_us = 3000;
	glGetQueryObjectuiv(1, 0x8867, &value); /* GL_QUERY_RESULT_AVAILABLE */
	g_assert_cmpuint(tally_clock_thread().wait_ns, ==, 0);
	glGetQueryObjectuiv(1, GL_QUERY_RESULT, &value);
	g_assert_cmpuint(tally_clock_thread().wait_ns, >=, 3000000);
	/* Reading a buffer or a texture, and the first dispatch of a program, are events; once. */
	struct tally_events got;
	tally_events_take(NULL);
	glGetBufferSubData(0, 0, 64, &got);
	glGetTexImage(0, 0, 0, 0, NULL);
	gl_program_linked(gl_current, 7);
	gl_program_used(gl_current, 7);
	glDispatchCompute(1, 1, 1);
	glDispatchCompute(1, 1, 1);
	tally_events_take(&got);
	g_assert_cmpuint(got.sums[TALLY_EVENT_READBACK].n, ==, 2);
	g_assert_cmpuint(got.sums[TALLY_EVENT_READBACK].bytes, ==, 64);
	g_assert_cmpuint(got.sums[TALLY_EVENT_FIRST_DRAW].n, ==, 1);
	/* A clear is none, and does not hide it. */
	got = (struct tally_events){ 0 };
	gl_program_linked(gl_current, 8);
	gl_program_used(gl_current, 8);
	glClear(GL_COLOR_BUFFER_BIT);
	glDrawArrays(TRIANGLES, 0, 3);
	glDrawArrays(TRIANGLES, 0, 3);
	tally_events_take(&got);
	g_assert_cmpuint(got.sums[TALLY_EVENT_FIRST_DRAW].n, ==, 1);
	tally_session_stop("exit");
}

/* ---- results that were given up and are asked for again ---- */

static int other_context;

/* Frames of one pass, by a context that swaps or by one that draws for it. */
static void
draw_frames(unsigned n, bool elsewhere)
{
	for (unsigned i = 0; i < n; i++) {
		glDrawArrays(TRIANGLES, 0, 3);
		glFlush();
		if (elsewhere) {
			gl_current_leave();
			enter(&other_context);
			fake_next.query_buffer = 0; /* each context has its own */
			glDrawArrays(TRIANGLES, 0, 3);
		}
		make_call("S");
		if (elsewhere) {
			gl_current_leave();
			enter(&the_context);
			fake_next.query_buffer = 5;
		}
		g_assert_cmpstr(fake_next.last_misuse, ==, "");
		g_assert_cmpuint(glGetError(), ==, GL_NO_ERROR);
	}
}

/* The program sees nothing of it: no error, and nothing is written to its query buffer. */
static void
test_asked_again(gconstpointer elsewhere)
{
	if (!stub_in_child("sources=gl-timestamp"))
		return;
	g_assert_true(tally_session_start(&stub_recorder));
	gl_drawable_learn(1, (struct tally_extent){ WINDOW, WINDOW }, true);
	gl_context_created(GL_PLATFORM_EGL, &the_context, NULL);
	gl_context_created(GL_PLATFORM_EGL, &other_context, &the_context);
	enter(&the_context);
	glBindBuffer(GL_QUERY_BUFFER, 5);
	fake_next.no_results = true;
	draw_frames(40, elsewhere != NULL);
	fake_next.no_results = false;
	unsigned before = fake_next.questions;
	draw_frames(40, elsewhere != NULL);
	g_assert_cmpuint(fake_next.query_buffer, ==, 5);
	gl_own_guard_begin(&gl_current->state->api); /* as a source does */
	g_assert_cmpuint(fake_next.query_buffer, ==, 0);
	gl_own_guard_end(&gl_current->state->api);
	g_assert_cmpuint(fake_next.query_buffer, ==, 5);
	g_assert_cmpuint(fake_next.questions - before, >, 0);
	gl_context_destroyed(GL_PLATFORM_EGL, &the_context);
	gl_context_destroyed(GL_PLATFORM_EGL, &other_context);
	gl_current_leave();
	tally_session_stop("exit");
}

/* A window of 300x300, and framebuffer 1 with a texture. */
static void
start_with_a_framebuffer(void)
{
	GLuint made = 1;
	g_assert_true(tally_session_start(&stub_recorder));
	gl_drawable_learn(1, (struct tally_extent){ 300, 300 }, false);
	gl_context_created(GL_PLATFORM_EGL, &the_context, NULL);
	enter_context();
	glGenFramebuffers(1, &made);
	glTextureStorage2D(1, 1, RGBA8, 10, 10);
	attach(1, 1, false);
}

/* What reading takes is passtally's time in glFinish, too. */
static void
test_finish_reads(void)
{
	static const char *const calls[] = { "B1", "D3", "B0", "D6", "F", "S" };
	if (!stub_in_child("sources=api+gl-timestamp"))
		return;
	start_with_a_framebuffer();
	fake_next.result_takes_us = 5000;
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		make_call(calls[i]);
	gl_context_destroyed(GL_PLATFORM_EGL, &the_context);
	gl_current_leave();
	tally_session_stop("exit");
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 2);
	g_assert_cmpuint(stub_frame(0)->overhead_ns, >=, 10000000);
}

/* A program that only blits to its window, which has another size from the third frame on. */
static void
test_resized(gconstpointer named)
{
	static const GLint sizes[] = { 300, 300, 600, 600 };
	if (!stub_in_child("sources=api"))
		return;
	start_with_a_framebuffer();
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		GLint n = sizes[i];
		glBindFramebuffer(FRAMEBUFFER, 1);
		glBindFramebuffer(DRAW_FRAMEBUFFER, 0);
		if (named)
			glBlitNamedFramebuffer(1, 0, 0, 0, 4, 4, 0, n, n, 0, GL_COLOR_BUFFER_BIT,
					       0);
		else
			glBlitFramebuffer(0, 0, 4, 4, 0, n, n, 0, GL_COLOR_BUFFER_BIT, 0);
		bool changed = i == 0 || n != sizes[i - 1];
		g_assert_true(gl_drawable_outdated(1) == changed);
		if (changed) {
			gl_drawable_learn(1, (struct tally_extent){ (uint32_t)n, (uint32_t)n },
					  false);
			gl_window_measured(gl_current);
		}
		struct gl_context *c = gl_current_park();
		gl_swap_end(c, true, (struct tally_presented){ gl_drawable_size(1).size, 2 });
	}
	gl_context_destroyed(GL_PLATFORM_EGL, &the_context);
	gl_current_leave();
	tally_session_stop("exit");
	g_assert_cmpuint(stub.frames->len, ==, G_N_ELEMENTS(sizes));
	for (guint i = 0; i < stub.frames->len; i++)
		g_assert_cmphex(stub_frame(i)->passes[0].id, ==, stub_frame(0)->passes[0].id);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/gl-passes/waits-and-events", test_waits_and_events);
	g_test_add_func("/gl-passes/finish-reads", test_finish_reads);
	g_test_add_data_func("/gl-passes/asked-again", NULL, test_asked_again);
	g_test_add_data_func("/gl-passes/asked-again-elsewhere", "", test_asked_again);
	g_test_add_func("/gl-passes/no-memory", test_no_memory);
	g_test_add_data_func("/gl-passes/resized", NULL, test_resized);
	g_test_add_data_func("/gl-passes/resized-named", "named", test_resized);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *name = g_strdup_printf("/gl-passes/%02zu-%s", i, cases[i].what);
		g_test_add_data_func(name, GSIZE_TO_POINTER(i), test_case);
		g_free(name);
	}
	return g_test_run();
}
