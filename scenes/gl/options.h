/* SPDX-License-Identifier: MIT */
/* scenes/gl/options.h - what a stage (stage.h) is opened with, by the words of a command line, and
 * how its program ends where it cannot be.
 *
 * Any thread.
 */
#ifndef PASSTALLY_SCENES_GL_OPTIONS_H
#define PASSTALLY_SCENES_GL_OPTIONS_H

#include <stdbool.h>

enum stage_platform {
	STAGE_SURFACELESS,
	STAGE_PBUFFER,
	STAGE_X11,
	STAGE_GLX,
	STAGE_DISPLAY, /* EGL's default one: the environment's, without a surface */
	STAGE_DEVICE,
};
enum stage_api { STAGE_CORE, STAGE_COMPAT, STAGE_GLES };
/* What the program does at the end of a frame. */
enum stage_end {
	STAGE_END_PRESENT,
	STAGE_END_FINISH,
	STAGE_END_FLUSH,
	STAGE_END_TERMINATOR, /* glFrameTerminatorGREMEDY */
	STAGE_END_LABEL,      /* a debug group "frame" begins each frame */
	STAGE_END_NOTHING,
};

struct stage_options {
	enum stage_platform platform;
	enum stage_api api;
	enum stage_end end;
	int major, minor; /* of the context; 0 = the highest that there is */
	int width, height;
	int device; /* for STAGE_DEVICE: which of EGL's, without a surface */
};

/* Parse "surfaceless|pbuffer|x11|glx|display" and so on; ends the program on another word. */
enum stage_platform stage_parse_platform(const char *word);
enum stage_api stage_parse_api(const char *word);
enum stage_end stage_parse_end(const char *word);

/* Whether the platform has something to present. */
bool stage_has_surface(const struct stage_options *options);

_Noreturn void stage_skip(const char *why);
/* Ends the program with 78: the number is beyond the last device. */
_Noreturn void stage_no_device(void);
_Noreturn void stage_fail(const char *why);

#endif
