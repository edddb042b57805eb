/* SPDX-License-Identifier: MIT */
/* Preloaded: makes one allocation of passtally's libraries fail, or all from one on.
 *
 * FAIL_AT=N: the N-th (from 0). FAIL_FROM=N: that and all after it. Allocations of others are
 * left alone; the return address tells them apart.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* glibc's own functions, under names that no other library preloads. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

__attribute__((visibility("default"))) void *malloc(size_t size);
__attribute__((visibility("default"))) void *calloc(size_t n, size_t size);
__attribute__((visibility("default"))) void *realloc(void *old, size_t size);

static atomic_int calls;

static int
number(const char *name)
{
	const char *text = getenv(name);
	return text ? atoi(text) : -1;
}

static bool
fails(void *caller)
{
	static __thread bool inside; /* dladdr may allocate */
	Dl_info info;
	if (inside)
		return false;
	inside = true;
	bool result = false;
	int at = number("FAIL_AT"), from = number("FAIL_FROM");
	if ((at >= 0 || from >= 0) && dladdr(caller, &info) && info.dli_fname &&
	    strstr(info.dli_fname, "passtally")) {
		int now = atomic_fetch_add(&calls, 1);
		result = now == at || (from >= 0 && now >= from);
	}
	inside = false;
	return result;
}

void *
malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *old, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
