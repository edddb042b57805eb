/* SPDX-License-Identifier: MIT */
/* A preload with which perf_event_open is refused, as in sandboxes and on restricted systems:
 * with the errno that DENY_PERF names ("EACCES" when it is not set). */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((constructor)) static void
deny(void)
{
	const char *word = getenv("DENY_PERF");
	unsigned error = word && strcmp(word, "ENOSYS") == 0  ? ENOSYS
			 : word && strcmp(word, "EPERM") == 0 ? EPERM
							      : EACCES;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { .len = sizeof(code) / sizeof(code[0]), .filter = code };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
		static const char words[] = "deny_perf: the kernel takes no filter\n";
		ssize_t n = write(2, words, sizeof(words) - 1);
		_exit(n > 0 ? 77 : 78);
	}
}
