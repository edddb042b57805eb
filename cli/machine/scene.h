/* SPDX-License-Identifier: MIT */
/* cli/machine/scene.h - runs a program of scenes/ under the libraries, as `passtally run` runs a
 * game, so that what the command says of a driver is what a capture says of it.
 *
 * A driver may crash or hang: that ends the program alone. The user's options of passtally do not
 * count. One thread; blocks until the program has ended.
 */
#ifndef PASSTALLY_CLI_SCENE_H
#define PASSTALLY_CLI_SCENE_H

#include "cli/install/run_folder.h"
#include "cli/shared/child.h"
#include "layer/record.h"

struct tally_scene {
	struct tally_run_folder folder;
	char *log; /* in the folder; may not exist */
	struct tally_child child;
};

/* `words`: the arguments of the scenes' program for this API, ended by NULL; `options`: as in
 * PASSTALLY_OPTIONS. False, with `why`: nothing was started. */
bool tally_scene_run(struct tally_scene *s, enum tally_api api, const char *const *words,
		     const char *options, double limit_s, char *why, size_t size);
/* Removes the folder, too. Also after a failure. */
void tally_scene_clear(struct tally_scene *s);

#endif
