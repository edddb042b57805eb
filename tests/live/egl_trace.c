/* SPDX-License-Identifier: MIT */
/* tests/live/egl_trace.c - what the driver sees: an EGL vendor that logs each gl* call.
 *
 * libglvnd loads it in place of Mesa's (__EGL_VENDOR_LIBRARY_FILENAMES); it hands everything to
 * Mesa, but for gl* functions it gives stubs that note name and arguments and jump on. So it is
 * below passtally, whichever way that finds its functions, and the test can compare the
 * driver's call stream with and without it. EGL_TRACE_FILE names the output, one line a call:
 * thread, name, arguments. x86-64 only. Any thread; one mutex keeps lines whole.
 */
#include <dlfcn.h>
#include <glvnd/libeglabi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct command {
	const char *name;
	const char *letters;
};
#include "egl_trace_table.h"

#define STUB_SIZE 16

static void *real[N_COMMANDS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards `out` */
static FILE *out;
static void *(*next_get_proc)(const char *);
static _Atomic int n_threads;
static __thread int thread;

/* N_COMMANDS stubs of STUB_SIZE bytes: push the index, jump to the common part. That saves the
 * argument registers, calls note(index, integers, floats), and jumps to what it returns. */
#define STRING(x) #x
#define EXPAND(x) STRING(x)
__asm__(".text\n"
	".balign 16\n"
	"stubs:\n"
	".set index, 0\n"
	".rept " EXPAND(N_COMMANDS) "\n"
	".balign 16\n"
	"	.byte 0x68\n" /* push, always with a 32-bit operand */
	"	.long index\n"
	"	jmp common\n"
	".set index, index + 1\n"
	".endr\n"
	".balign 16\n"
	"common:\n"
	"	push %r9\n"
	"	push %r8\n"
	"	push %rcx\n"
	"	push %rdx\n"
	"	push %rsi\n"
	"	push %rdi\n"
	"	sub $128, %rsp\n"
	"	movups %xmm0, 0(%rsp)\n"
	"	movups %xmm1, 16(%rsp)\n"
	"	movups %xmm2, 32(%rsp)\n"
	"	movups %xmm3, 48(%rsp)\n"
	"	movups %xmm4, 64(%rsp)\n"
	"	movups %xmm5, 80(%rsp)\n"
	"	movups %xmm6, 96(%rsp)\n"
	"	movups %xmm7, 112(%rsp)\n"
	"	mov 176(%rsp), %rdi\n"
	"	lea 128(%rsp), %rsi\n"
	"	mov %rsp, %rdx\n"
	"	call egl_trace_note\n"
	"	mov %rax, %r11\n"
	"	movups 0(%rsp), %xmm0\n"
	"	movups 16(%rsp), %xmm1\n"
	"	movups 32(%rsp), %xmm2\n"
	"	movups 48(%rsp), %xmm3\n"
	"	movups 64(%rsp), %xmm4\n"
	"	movups 80(%rsp), %xmm5\n"
	"	movups 96(%rsp), %xmm6\n"
	"	movups 112(%rsp), %xmm7\n"
	"	add $128, %rsp\n"
	"	pop %rdi\n"
	"	pop %rsi\n"
	"	pop %rdx\n"
	"	pop %rcx\n"
	"	pop %r8\n"
	"	pop %r9\n"
	"	add $8, %rsp\n"
	"	jmp *%r11\n");
extern const char stubs[] __attribute__((visibility("hidden")));

static void
print_argument(char letter, uint64_t word, const double *number)
{
	float narrow;
	memcpy(&narrow, number, sizeof(narrow));
	switch (letter) {
	case 'f':
		fprintf(out, " %g", (double)narrow);
		return;
	case 'd':
		fprintf(out, " %g", *number);
		return;
	case 'p':
		fputs(word ? " ptr" : " null", out);
		return;
	case 'b':
		fprintf(out, " %u", (unsigned)(word & 0xff));
		return;
	case 'l':
		fprintf(out, " %lld", (long long)word);
		return;
	default:
		fprintf(out, " %u", (unsigned)word);
		return;
	}
}

/* Arguments on the stack are left out. */
__attribute__((used, visibility("hidden"))) void *egl_trace_note(uint64_t index,
								 const uint64_t *words,
								 const double (*numbers)[2]);
void *
egl_trace_note(uint64_t index, const uint64_t *words, const double (*numbers)[2])
{
	static const double none[2];
	const struct command *command = &commands[index];
	if (!thread)
		thread = ++n_threads;
	pthread_mutex_lock(&mutex);
	fprintf(out, "%d %s", thread, command->name);
	unsigned n_words = 0, n_numbers = 0;
	for (const char *letter = command->letters; *letter; letter++) {
		bool real_number = *letter == 'f' || *letter == 'd';
		if (real_number ? n_numbers >= 8 : n_words >= 6)
			continue;
		print_argument(*letter, real_number ? 0 : words[n_words],
			       real_number ? numbers[n_numbers] : none);
		if (real_number)
			n_numbers++;
		else
			n_words++;
	}
	fputc('\n', out);
	pthread_mutex_unlock(&mutex);
	return real[index];
}

static int
compare(const void *key, const void *row)
{
	return strcmp(key, ((const struct command *)row)->name);
}

static void *
get_proc(const char *name)
{
	void *found = next_get_proc(name);
	if (!found || !out)
		return found;
	const struct command *row =
		bsearch(name, commands, N_COMMANDS, sizeof(commands[0]), compare);
	if (!row)
		return found;
	size_t index = (size_t)(row - commands);
	real[index] = found;
	return (void *)(uintptr_t)(stubs + index * STUB_SIZE);
}

__attribute__((visibility("default"))) EGLBoolean
__egl_Main(uint32_t version, const __EGLapiExports *exports, __EGLvendorInfo *vendor,
	   __EGLapiImports *imports);

EGLBoolean
__egl_Main(uint32_t version, const __EGLapiExports *exports, __EGLvendorInfo *vendor,
	   __EGLapiImports *imports)
{
	void *mesa = dlopen("libEGL_mesa.so.0", RTLD_NOW | RTLD_LOCAL);
	__PFNEGLMAINPROC next = mesa ? (__PFNEGLMAINPROC)dlsym(mesa, "__egl_Main") : NULL;
	if (!next || !next(version, exports, vendor, imports))
		return EGL_FALSE;
	const char *path = getenv("EGL_TRACE_FILE");
	out = path ? fopen(path, "we") : NULL;
	next_get_proc = imports->getProcAddress;
	imports->getProcAddress = get_proc;
	return EGL_TRUE;
}
