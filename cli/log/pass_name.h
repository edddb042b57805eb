/* SPDX-License-Identifier: MIT */
/* cli/log/pass_name.h - a name for a pass without a label.
 *
 * The name is built from the targets that the pass writes: "Depth 2048x2048", "Color (3
 * targets + depth) 960x540", "Backbuffer", "Compute", "Copy". Of several passes that share a
 * name or a label, the second and later ones are numbered: "Depth 2048x2048 #2". Such names
 * are for people: the identity of a pass does not depend on them.
 */
#ifndef PASSTALLY_CLI_PASS_NAME_H
#define PASSTALLY_CLI_PASS_NAME_H

#include "layer/record.h"

#include <stddef.h>

/* `target` may be NULL. The caller frees the name with g_free(). */
char *tally_pass_name(enum tally_pass_kind kind, const struct tally_target *target,
		      bool presented);
/* The name of the `n`-th pass of a device, from 1, whose name or label is `base`. The caller
 * frees it with g_free(). */
char *tally_pass_number_name(const char *base, unsigned n);
/* The name in at most `columns` of a terminal; `name` is printable. The name of a pass that writes
 * colors loses its format first, then its end; any other text is cut in the middle. The caller
 * frees it with g_free(). */
char *tally_pass_name_fit(const char *name, size_t columns);
/* The length of the first part of a label, which is a path of parts separated by '/'. A '/'
 * next to a blank, to another '/' or at an end of `label` is taken for a character of the
 * program's own text. */
size_t tally_label_part(const char *label);

#endif
