/* SPDX-License-Identifier: MIT */
/* dlsym() and dlvsym() for i386: see entry.c. */
#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

	.text

/* Frame: 0..16 the filter's arguments, 20 answer, 24 alignment; 28 the return address, 32 handle,
 * 36 name, 40 version. The arguments stay where they are for the function jumped to. */
.macro hook name, versioned
	.globl \name
	.type \name, @function
	.p2align 4
\name:
	.cfi_startproc
	_CET_ENDBR
	sub $28, %esp
	.cfi_adjust_cfa_offset 28
	mov 32(%esp), %eax
	mov %eax, (%esp)
	mov 36(%esp), %eax
	mov %eax, 4(%esp)
.if \versioned
	mov 40(%esp), %eax
.else
	xor %eax, %eax
.endif
	mov %eax, 8(%esp)
	mov 28(%esp), %eax
	mov %eax, 12(%esp)
	lea 20(%esp), %eax
	mov %eax, 16(%esp)
	call gl_dl_filter
	test %eax, %eax
	jz 1f
	add $28, %esp
	.cfi_adjust_cfa_offset -28
	jmp *%eax
1:
	.cfi_adjust_cfa_offset 28
	mov 20(%esp), %eax
	add $28, %esp
	.cfi_adjust_cfa_offset -28
	ret
	.cfi_endproc
	.size \name, . - \name
.endm

	hook dlsym, 0
	hook dlvsym, 1

	.section .note.GNU-stack, "", @progbits
