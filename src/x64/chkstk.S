/* SPDX-License-Identifier: MIT */
/*
 * __chkstk: a function whose frame takes more than a page calls it, with the size in rax, before it
 * moves the stack pointer, so that each page is touched in order and none can skip the guard page
 * below the stack. All registers are preserved; only the flags change.
 */
    .text
    .globl x64_chkstk
    .hidden x64_chkstk
    .type x64_chkstk, @function
x64_chkstk:
    pushq %rcx
    pushq %rax
    leaq 24(%rsp), %rcx             /* the caller's stack pointer */
    cmpq $0x1000, %rax
    jb 2f
1:  subq $0x1000, %rcx
    testq %rcx, (%rcx)
    subq $0x1000, %rax
    cmpq $0x1000, %rax
    jae 1b
2:  subq %rax, %rcx
    testq %rcx, (%rcx)
    popq %rax
    popq %rcx
    ret
    .size x64_chkstk, . - x64_chkstk
    .section .note.GNU-stack, "", @progbits
