/* SPDX-License-Identifier: MIT */
/* tests/fake_kernel/kinstr.h - a reader of kinstr_prfcnt.
 *
 * kinstr.c checks requests, kinstr_reader.c counts and hands out samples. Test code, under
 * the simulated kernel's lock.
 */
#ifndef FAKE_KERNEL_KINSTR_H
#define FAKE_KERNEL_KINSTR_H

#include "tests/fake_kernel/kernel.h"

struct kinstr_wish {
	uint64_t period_ns; /* 0: by hand */
	uint64_t mask[FAKE_BLOCKS][2];
	bool enabled[FAKE_BLOCKS];
};

/* Returns the new descriptor; fills setup->out. */
int fake_kinstr_open(const struct kinstr_wish *wish, union kb_prfcnt_setup *setup);

#endif
