/* SPDX-License-Identifier: MIT */
/*
 * A stub for each slot of the table: acts_before chooses the routine that goes on with the call,
 * acts_after sees its result. Up to eight arguments on the stack are passed on. Calling convention
 * of Windows.
 */
#define SLOTS 160

    .text
    .set slot, 0
    .globl acts_stubs
acts_stubs:
    .rept SLOTS
    .balign 16
    movl $slot, %eax
    jmp acts_common
    .set slot, slot + 1
    .endr

    .balign 16
#ifdef __ELF__
    .type acts_common, @function
#else
    .def acts_common; .scl 3; .type 32; .endef
    .seh_proc acts_common
#endif
acts_common:
#ifdef __ELF__
    .cfi_startproc
#endif
    pushq %rbp
#ifdef __ELF__
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
#else
    .seh_pushreg %rbp
#endif
    movq %rsp, %rbp
#ifdef __ELF__
    .cfi_def_cfa_register %rbp
#else
    .seh_setframe %rbp, 0
#endif
    subq $160, %rsp
#ifndef __ELF__
    .seh_stackalloc 160
    .seh_endprologue
#endif
    movq %rcx, -8(%rbp)
    movq %rdx, -16(%rbp)
    movq %r8, -24(%rbp)
    movq %r9, -32(%rbp)
    movq %rax, -40(%rbp)
    movq $0, -48(%rbp)
    leaq -48(%rbp), %rcx
    call acts_before
    .set word, 0
    .rept 8
    movq 48 + 8 * word(%rbp), %rdx
    movq %rdx, 32 + 8 * word(%rsp)
    .set word, word + 1
    .endr
    movq -8(%rbp), %rcx
    movq -16(%rbp), %rdx
    movq -24(%rbp), %r8
    movq -32(%rbp), %r9
    call *%rax
    movq %rax, -48(%rbp)
    leaq -48(%rbp), %rcx
    call acts_after
    movl %eax, %ecx
    movq -48(%rbp), %rax
    cmpl $1, %ecx
    je 1f
    cmpl $2, %ecx
    je 2f
    cmpl $3, %ecx
    je 3f
    cmpl $4, %ecx
    je 4f
    cmpl $5, %ecx
    je 5f
    jmp 9f
1:  std
    jmp 9f
2:  pushfq
    orl $0x40000, (%rsp)
    popfq
    jmp 9f
3:  movl $0x3f80, -56(%rbp)
    ldmxcsr -56(%rbp)
    jmp 9f
4:  movw $0x0f7f, -56(%rbp)
    fldcw -56(%rbp)
    jmp 9f
5:  xorl %ebx, %ebx
    notq %rsi
    notq %rdi
    pcmpeqb %xmm6, %xmm6
    notq %r12
    notq %r15
9:  movq %rbp, %rsp
    popq %rbp
    ret
#ifdef __ELF__
    .cfi_endproc
    .size acts_common, . - acts_common
    .section .note.GNU-stack, "", @progbits
#else
    .seh_endproc
#endif
