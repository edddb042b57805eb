/* cli/install/elf_file.h - what kind of program or library a file is, from its first bytes.
 *
 * For hints only: nothing is refused because of what is found here. Reads at most a few KiB;
 * odd headers just give `elf` false. One thread.
 */
#ifndef PASSTALLY_CLI_ELF_FILE_H
#define PASSTALLY_CLI_ELF_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct tally_elf_file {
	bool readable;
	bool elf;
	bool script; /* starts with #! */
	unsigned bits; /* 32 or 64 */
	uint16_t machine; /* EM_* */
	bool dynamic; /* a program that names a dynamic loader; false for libraries */
	bool privileged; /* set-user-ID, set-group-ID or file capabilities: no preload */
};

struct tally_elf_file tally_elf_file_read(const char *path);
/* "x86-64", "i386", ...; "machine N" in a static buffer for others. */
const char *tally_elf_machine_name(const struct tally_elf_file *file);

#endif
