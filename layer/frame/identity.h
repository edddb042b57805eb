/* SPDX-License-Identifier: MIT */
/* layer/frame/identity.h - the header's information about the machine of the run.
 *
 * Filled once, when the log is opened: a few system calls, the processor's own name and one
 * small file; 0.1 ms in a busy virtual machine. Nothing here prints, and errno is preserved;
 * facts that cannot be determined are left out. Any thread.
 */
#ifndef PASSTALLY_LAYER_FRAME_IDENTITY_H
#define PASSTALLY_LAYER_FRAME_IDENTITY_H

#include "layer/config/config.h"
#include "layer/record.h"

struct tally_identity {
	char run[37], os[128], kernel[256], cpu[128], host[65];
	struct tally_key_text tags[TALLY_MAX_TAGS];
	char tag_values[TALLY_MAX_TAGS][257]; /* only with --no-argv */
};

/* Sets the header's run, tags, os, kernel, cpu, cpus, memory_bytes, session and, with --host,
 * host. The strings live as long as *identity and *config. */
void
tally_identity_read(struct tally_identity *identity, const struct tally_config *config,
		    struct tally_header_record *header);

/* Prints a UUID as 8-4-4-4-12 hexadecimal digits: 37 bytes with the NUL; "" when all of it is
 * zero, which means none. */
void tally_uuid_print(const unsigned char uuid[16], char out[37]);

/* With --no-argv: replaces the beginning of each path inside a home folder, this user's or
 * anyone's (/home/NAME, /root, C:\users\NAME), by '~', in place. */
void tally_identity_hide_homes(char *text);

#endif
