/* SPDX-License-Identifier: MIT */
/* cli/install/elf_file.h - identifies the kind of program or library in a file by its first
 * bytes.
 *
 * For hints only: nothing is refused because of the result. Reads at most a few KiB; a malformed
 * header sets `elf` to false.
 */
#ifndef PASSTALLY_CLI_INSTALL_ELF_FILE_H
#define PASSTALLY_CLI_INSTALL_ELF_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct tally_elf_file {
	bool readable;
	bool elf;
	unsigned bits; /* 32 or 64 */
	uint16_t machine; /* EM_* */
	bool dynamic; /* a program that names a dynamic loader; false for a library */
	/* set-user-ID, set-group-ID or file capabilities: preloading has no effect */
	bool privileged;
};

struct tally_elf_file tally_elf_file_read(const char *path);
/* "x86-64", "i386", ...; for other machines "machine N" in a static buffer. */
const char *tally_elf_machine_name(const struct tally_elf_file *file);

#endif
