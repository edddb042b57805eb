/* SPDX-License-Identifier: MIT */
/* dlsym() and dlvsym() for x86-64: see entry.c. */
#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

	.text

/* Frame: 0 answer, 8 handle, 16 name, 24 version, 32 alignment; 40 the return address. */
.macro hook name, versioned
	.globl \name
	.type \name, @function
	.p2align 4
\name:
	.cfi_startproc
	_CET_ENDBR
	sub $40, %rsp
	.cfi_adjust_cfa_offset 40
	mov %rdi, 8(%rsp)
	mov %rsi, 16(%rsp)
	mov %rdx, 24(%rsp)
.if \versioned == 0
	xor %edx, %edx
.endif
	mov 40(%rsp), %rcx
	mov %rsp, %r8
	call gl_dl_filter
	mov %rax, %r11
	test %rax, %rax
	jz 1f
	mov 8(%rsp), %rdi
	mov 16(%rsp), %rsi
	mov 24(%rsp), %rdx
	add $40, %rsp
	.cfi_adjust_cfa_offset -40
	jmp *%r11
1:
	.cfi_adjust_cfa_offset 40
	mov (%rsp), %rax
	add $40, %rsp
	.cfi_adjust_cfa_offset -40
	ret
	.cfi_endproc
	.size \name, . - \name
.endm

	hook dlsym, 0
	hook dlvsym, 1

	.section .note.GNU-stack, "", @progbits
