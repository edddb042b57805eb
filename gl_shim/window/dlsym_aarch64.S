/* SPDX-License-Identifier: MIT */
/* dlsym() and dlvsym() for aarch64: see entry.c. */
	.text

/* Frame: 0 frame record, 16 handle, 24 name, 32 version, 40 answer. `hint 34` is bti c, a no-op
 * on processors without it; a jump through x16 may enter a function that begins with bti c. */
.macro hook name, versioned
	.globl \name
	.type \name, %function
	.p2align 4
\name:
	.cfi_startproc
	hint 34
	stp x29, x30, [sp, -48]!
	.cfi_def_cfa_offset 48
	.cfi_offset 29, -48
	.cfi_offset 30, -40
	mov x29, sp
	stp x0, x1, [sp, 16]
	str x2, [sp, 32]
.if \versioned == 0
	mov x2, xzr
.endif
	mov x3, x30
	add x4, sp, 40
	bl gl_dl_filter
	mov x16, x0
	cbz x0, 1f
	ldp x0, x1, [sp, 16]
	ldr x2, [sp, 32]
	ldp x29, x30, [sp], 48
	.cfi_remember_state
	.cfi_def_cfa_offset 0
	.cfi_restore 29
	.cfi_restore 30
	br x16
1:
	.cfi_restore_state
	ldr x0, [sp, 40]
	ldp x29, x30, [sp], 48
	.cfi_def_cfa_offset 0
	.cfi_restore 29
	.cfi_restore 30
	ret
	.cfi_endproc
	.size \name, . - \name
.endm

	hook dlsym, 0
	hook dlvsym, 1

	.section .note.GNU-stack, "", %progbits
