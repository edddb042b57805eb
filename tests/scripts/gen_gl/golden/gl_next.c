/* gl_next.c - fills the table of the driver's functions.
 *
 * Made by scripts/gen_gl.py from toy.xml and toy.rules. Do not edit.
 */
#include <stdlib.h>
#include <string.h>

#include "gl_next.h"
#include "gl_shim/window/real.h"
#include "layer/log.h"

/* Stand-ins ignore what they are given. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static void
no_Draw(GLenum mode, GLsizei count)
{
}

static void
no_DrawEXT(GLenum mode, GLsizei total)
{
}

static const GLubyte *
no_Name(GLuint id)
{
	return 0;
}

static GLint
no_Newer(GLint a)
{
	return 0;
}

static GLboolean
no_Test(const void *const *list)
{
	return 0;
}

static void
no_Wipe(void)
{
}

/* In the order of struct gl_next, which is that of the names. */
static const struct {
	const char *name;
	void (*stand_in)(void);
} members[GL_N_NEXT] = {
	{ "glDraw", (void (*)(void))no_Draw },
	{ "glDrawEXT", (void (*)(void))no_DrawEXT },
	{ "glName", (void (*)(void))no_Name },
	{ "glNewer", (void (*)(void))no_Newer },
	{ "glTest", (void (*)(void))no_Test },
	{ "glWipe", (void (*)(void))no_Wipe },
};
_Static_assert(sizeof(struct gl_next) == GL_N_NEXT * sizeof(void (*)(void)),
	       "struct gl_next holds function pointers and nothing else");

static int
compare(const void *name, const void *member)
{
	return strcmp(name, *(const char *const *)member);
}

void
(*gl_next_find(const struct gl_next *next, const char *name))(void)
{
	void (*found)(void);
	const void *row = bsearch(name, members, GL_N_NEXT, sizeof(members[0]), compare);
	if (!row)
		return NULL;
	size_t i = (size_t)((const char *)row - (const char *)members) / sizeof(members[0]);
	memcpy(&found, (const char *)next + i * sizeof(found), sizeof(found));
	return found;
}

void
gl_next_fill(struct gl_next *next, void *(*lookup)(void *data, const char *name), void *data)
{
	const char *refused = NULL;
	for (size_t i = 0; i < GL_N_NEXT; i++) {
		void (*member)(void) = members[i].stand_in;
		void *found = lookup(data, members[i].name);
		if (found && gl_real_is_own(found))
			refused = members[i].name;
		else if (found)
			member = (void (*)(void))(uintptr_t)found;
		memcpy((char *)next + i * sizeof(member), &member, sizeof(member));
	}
	if (refused)
		tally_log_say(TALLY_LEVEL_WARNING, "gl",
			      "another library gives us our own %s as the driver's, and maybe "
			      "others: they do nothing; preload passtally before other overlays",
			      refused);
}
