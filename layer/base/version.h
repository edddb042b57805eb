/* SPDX-License-Identifier: MIT */
/* layer/base/version.h - the core's version, which can be found in its file without loading it.
 *
 * The command and the libraries of several architectures are installed separately; `passtally
 * doctor` reads the mark from each core. Constant.
 */
#ifndef PASSTALLY_LAYER_BASE_VERSION_H
#define PASSTALLY_LAYER_BASE_VERSION_H

#define TALLY_VERSION_MARK "passtally's core, version "

extern const char tally_version_mark[]; /* the mark, and the version after it */

#endif
