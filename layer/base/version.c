/* SPDX-License-Identifier: MIT */
#include "layer/base/version.h"

#include "passtally_version.h"

const char tally_version_mark[] = TALLY_VERSION_MARK PASSTALLY_VERSION;
