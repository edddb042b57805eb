/* gl_enums.h - the OpenGL values that the shim knows by name.
 *
 * Made by scripts/gen_gl.py from toy.xml and toy.rules. Do not edit.
 */
#ifndef PASSTALLY_GL_ENUMS_H
#define PASSTALLY_GL_ENUMS_H

#define GL_ONE 0x0001
#define GL_R4 0x001F

#endif
