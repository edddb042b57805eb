/* SPDX-License-Identifier: MIT */
#include "cli/install/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Whether a program header names a dynamic loader. Both layouts start with p_type. */
static bool
has_interpreter(int fd, const struct tally_elf_file *file, const unsigned char *head)
{
	Elf64_Ehdr e64;
	Elf32_Ehdr e32;
	memcpy(&e64, head, sizeof(e64));
	memcpy(&e32, head, sizeof(e32));
	unsigned n = file->bits == 64 ? e64.e_phnum : e32.e_phnum;
	unsigned size = file->bits == 64 ? e64.e_phentsize : e32.e_phentsize;
	uint64_t offset = file->bits == 64 ? e64.e_phoff : e32.e_phoff;
	for (unsigned i = 0; i < n && i < 128; i++) {
		uint32_t type;
		uint64_t at = offset + (uint64_t)i * size;
		if (at > INT64_MAX || pread(fd, &type, sizeof(type), (off_t)at) != sizeof(type))
			return false;
		if (type == PT_INTERP)
			return true;
	}
	return false;
}

struct tally_elf_file
tally_elf_file_read(const char *path)
{
	struct tally_elf_file file = { 0 };
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return file;
	unsigned char head[sizeof(Elf64_Ehdr)] = { 0 };
	ssize_t n = pread(fd, head, sizeof(head), 0);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && n >= 2) {
		file.readable = true;
		/* Of others: a program that gets only what this user has anyway is not one. */
		file.privileged =
			((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
			((st.st_mode & S_ISGID) && st.st_gid != getegid()) ||
			(geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0);
	}
	if (file.readable && n == (ssize_t)sizeof(head) && memcmp(head, ELFMAG, SELFMAG) == 0) {
		file.elf = head[EI_CLASS] == ELFCLASS32 || head[EI_CLASS] == ELFCLASS64;
		file.bits = head[EI_CLASS] == ELFCLASS64 ? 64 : 32;
		memcpy(&file.machine, head + 18, sizeof(file.machine));
		file.dynamic = file.elf && has_interpreter(fd, &file, head);
	}
	close(fd);
	return file;
}

const char *
tally_elf_machine_name(const struct tally_elf_file *file)
{
	static char other[24];
	switch (file->machine) {
	case EM_X86_64:
		return file->bits == 64 ? "x86-64" : "x32";
	case EM_386:
		return "i386";
	case EM_AARCH64:
		return "aarch64";
	case EM_ARM:
		return "arm";
	case EM_RISCV:
		return file->bits == 64 ? "riscv64" : "riscv32";
	default:
		snprintf(other, sizeof(other), "machine %u", file->machine);
		return other;
	}
}
