/* gl_wrappers.c - what the game calls instead of the driver.
 *
 * Made by scripts/gen_gl.py from toy.xml and toy.rules. Do not edit.
 */
#include "gl_shim/context/context.h"
#include "gl_shim/game/hide.h"
#include "gl_shim/game/queries.h"
#include "gl_shim/game/query_names.h"
#include "gl_shim/image/framebuffer.h"
#include "gl_shim/image/image_info.h"
#include "gl_shim/image/picture.h"
#include "gl_shim/pass/frames.h"
#include "gl_shim/pass/labels.h"
#include "gl_shim/pass/work.h"
#include "gl_shim/pass/workloads.h"
#include "gl_shim/window/dispatch.h"

static __attribute__((noinline, cold)) void
slow_Draw(GLenum mode, GLsizei count)
{
	struct gl_context *c = gl_current;
	if (GL_KNOWS_MODE(c->modes, mode) && (count) >= 0 && gl_works(c) && gl_draw_enter(c)) {
		TALLY(c, count);
	}
	struct tally_event event = gl_first_draw_begin(c, "glDraw");
	gl_next_of(c)->Draw(mode, count);
	gl_first_draw_end(c, &event);
}

GL_EXPORT void
glDraw(GLenum mode, GLsizei count)
{
	struct gl_context *c = gl_current;
	if (__builtin_expect(GL_KNOWS_MODE(c->open, mode) && (count) >= 0, 1)) {
		TALLY(c, count);
		c->next->Draw(mode, count);
		return;
	}
	const struct gl_next *next = gl_next_known(c);
	if (!c->live && next) {
		next->Draw(mode, count);
		return;
	}
	slow_Draw(mode, count);
}

static __attribute__((noinline, cold)) void
slow_DrawEXT(GLenum mode, GLsizei total)
{
	struct gl_context *c = gl_current;
	if (GL_KNOWS_MODE(c->modes, mode) && gl_works(c) && gl_draw_enter(c)) {
		TALLY(c, total);
	}
	struct tally_event event = gl_first_draw_begin(c, "glDrawEXT");
	gl_next_of(c)->DrawEXT(mode, total);
	gl_first_draw_end(c, &event);
}

GL_EXPORT void
glDrawEXT(GLenum mode, GLsizei total)
{
	struct gl_context *c = gl_current;
	if (__builtin_expect(GL_KNOWS_MODE(c->open, mode), 1)) {
		TALLY(c, total);
		c->next->DrawEXT(mode, total);
		return;
	}
	const struct gl_next *next = gl_next_known(c);
	if (!c->live && next) {
		next->DrawEXT(mode, total);
		return;
	}
	slow_DrawEXT(mode, total);
}

GL_EXPORT const GLubyte *
glName(GLuint id)
{
	struct gl_context *c = gl_current;
	if (!c->live)
		return gl_next_of(c)->Name(id);
	return name(c, gl_next_of(c)->Name, id);
}

GL_EXPORT GLint
glNewer(GLint a)
{
	struct gl_context *c = gl_current;
	if (c->live) {
		newer(c, gl_next_of(c)->Newer(a) + LIMIT);
	}
	return gl_next_of(c)->Newer(a);
}

GL_EXPORT GLboolean
glTest(const void *const *list)
{
	struct gl_context *c = gl_current;
	GLboolean result = gl_next_of(c)->Test(list);
	if (c->live) {
		tested(c, list);
	}
	return result;
}

GL_EXPORT void
glWipe(void)
{
	struct gl_context *c = gl_current;
	if (gl_works(c)) {
		wipe(c);
		again(c, 7);
	}
	gl_next_of(c)->Wipe();
}
