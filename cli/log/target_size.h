/* SPDX-License-Identifier: MIT */
/* cli/log/target_size.h - what a pass draws to, and how many pixels and bytes that is, from its
 * pass_info line.
 *
 * Pure; any thread.
 */
#ifndef PASSTALLY_CLI_LOG_TARGET_SIZE_H
#define PASSTALLY_CLI_LOG_TARGET_SIZE_H

#include "layer/record.h"

struct tally_target_size {
	uint32_t width, height, layers, samples; /* as in the log */
	enum tally_load_op load;
	enum tally_store_op store;
	const char *formats; /* of its attachments, separated by blanks; interned (GLib) */
	uint64_t pixels; /* of all layers; 0 = not known */
	uint64_t color_bytes; /* of the color attachments, resolved; 0 = not known, or none */
	/* At most what it reads of, and writes to, its attachments if each pixel is touched
	 * once; `known` false: the log does not say what becomes of contents, or a format. */
	bool known;
	uint64_t loaded, stored;
	/* Which of them: 1 color, 2 depth and stencil. */
	bool parts_known;
	unsigned loads, stores;
};

struct tally_target_size tally_target_size(const struct tally_pass_info_record *info);
/* Bits of a pixel of a format as OpenGL or Vulkan spells it; 0 = not known. */
unsigned tally_format_bits(const char *format);

#endif
