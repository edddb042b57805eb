/* SPDX-License-Identifier: MIT */
/* tests/apps/hygiene.h - the parts of the program `hygiene`.
 *
 * Each prints lines that must be the same, byte for byte, with and without passtally: nothing
 * that is measured in time, nothing that depends on an address. One thread.
 */
#ifndef PASSTALLY_TESTS_HYGIENE_H
#define PASSTALLY_TESTS_HYGIENE_H

#include "scenes/gl/stage.h"

/* Two small targets for changing passes. */
struct hygiene {
	struct stage *s;
	GLuint framebuffers[2], textures[2];
};

struct hygiene_part {
	const char *name;
	unsigned apis; /* bits 1 << enum stage_api */
	void (*run)(struct hygiene *h);
};

/* Each ended by a row without a name. */
extern const struct hygiene_part query_parts[];
extern const struct hygiene_part state_parts[];

#define HYGIENE_DESKTOP ((1u << STAGE_CORE) | (1u << STAGE_COMPAT))
#define HYGIENE_ALL (HYGIENE_DESKTOP | (1u << STAGE_GLES))

/* A pass in target 0 or 1, or (-1) on the screen: `count` vertices. */
void hygiene_pass(struct hygiene *h, int target, int count);
void hygiene_swap(struct hygiene *h);
/* Print what glGetError returns until it returns no error. */
void hygiene_errors(const char *where);

#endif
