/* SPDX-License-Identifier: MIT */
/* tests/unit/sandbox.h - a filter of system calls that ends the process, as that of Chromium's GPU
 * process does, at those calls that the injected libraries make at times. One call, getsid(), it
 * turns into SIGSYS, as that one does with openat().
 *
 * For good, and for all threads: enter it in a test's subprocess.
 */
#ifndef PASSTALLY_TESTS_UNIT_SANDBOX_H
#define PASSTALLY_TESTS_UNIT_SANDBOX_H

#include <errno.h>
#include <glib.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The number of the call is loaded. */
#define SANDBOX_FORBID(call) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static inline void
sandbox_use(struct sock_filter *code, unsigned short n)
{
	const struct sock_fprog program = { n, code };
	g_assert_cmpint(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), ==, 0);
	g_assert_cmpint(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
				&program),
			==, 0);
}

static inline void
sandbox_enter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		SANDBOX_FORBID(SYS_perf_event_open),
		SANDBOX_FORBID(SYS_getsockopt),
		SANDBOX_FORBID(SYS_setsockopt),
		SANDBOX_FORBID(SYS_rt_sigpending),
		SANDBOX_FORBID(SYS_process_vm_readv),
		SANDBOX_FORBID(SYS_prlimit64),
		SANDBOX_FORBID(SYS_flock),
		SANDBOX_FORBID(SYS_dup),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 3),
		/* The clock of another thread or process. */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x80000000u, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	sandbox_use(code, G_N_ELEMENTS(code));
}

/* The same, and no file can be opened any more. */
static inline void
sandbox_shut_in(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		SANDBOX_FORBID(SYS_getrusage),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	sandbox_enter();
	sandbox_use(code, G_N_ELEMENTS(code));
}

/* True in the subprocess of a test that enters it; else runs that, which has to pass. */
static inline gboolean
sandbox_is_entered(void)
{
	if (!g_test_subprocess()) {
		g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
		g_test_trap_assert_passed();
		return FALSE;
	}
	return TRUE;
}

#endif
