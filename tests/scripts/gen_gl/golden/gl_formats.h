/* gl_formats.h - names of internal formats, by value.
 *
 * Made by scripts/gen_gl.py from toy.xml and toy.rules. Do not edit.
 */
static const struct gl_format {
	unsigned value;
	const char *name;
} gl_formats[] = {
	{ 0x001F, "R4" },
	{ 0x0020, "R8" },
};
