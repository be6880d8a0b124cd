/* SPDX-License-Identifier: MIT */
/*
 * The code around an instruction that runs on a copy of its operand.
 *
 *   x64_run(enter, f)     calls enter with the vector registers loaded from, and saved to, the
 *                         frame f (NULL: as they are).
 *   x64_template          copied to the start of a block of stubs: loads all registers from the
 *                         data behind the block, jumps to data.target, which comes back
 *                         x64_template_leave bytes from the start, and stores all registers.
 */
#include "x64/traps/frame.h"

    .text
    .globl x64_run
    .hidden x64_run
    .type x64_run, @function
x64_run:
    testq %rsi, %rsi
    jz 1f
    pushq %rbx
    subq $16, %rsp
    movq %rsi, %rbx
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    restore_vectors
    call *%rdi
    save_vectors
    fninit
    fldcw 4(%rsp)
    ldmxcsr (%rsp)
    addq $16, %rsp
    popq %rbx
    ret
1:  jmp *%rdi
    .size x64_run, . - x64_run

    .section .rodata
    .globl x64_template
    .hidden x64_template
    .globl x64_template_bytes
    .hidden x64_template_bytes
    .globl x64_template_leave
    .hidden x64_template_leave
    .p2align 4
#define DATA        x64_template + 0x8000
#define DATA_FLAGS  DATA + 128
#define DATA_STACK  DATA + 136
#define DATA_TARGET DATA + 144
x64_template:
    pushq %rbx
    pushq %rbp
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, DATA_STACK(%rip)
    pushq DATA_FLAGS(%rip)
    popfq
    movq DATA + 0(%rip), %rax
    movq DATA + 8(%rip), %rcx
    movq DATA + 16(%rip), %rdx
    movq DATA + 24(%rip), %rbx
    movq DATA + 32(%rip), %rsp
    movq DATA + 40(%rip), %rbp
    movq DATA + 48(%rip), %rsi
    movq DATA + 56(%rip), %rdi
    movq DATA + 64(%rip), %r8
    movq DATA + 72(%rip), %r9
    movq DATA + 80(%rip), %r10
    movq DATA + 88(%rip), %r11
    movq DATA + 96(%rip), %r12
    movq DATA + 104(%rip), %r13
    movq DATA + 112(%rip), %r14
    movq DATA + 120(%rip), %r15
    jmp *DATA_TARGET(%rip)
leave:
    movq %rax, DATA + 0(%rip)
    movq %rcx, DATA + 8(%rip)
    movq %rdx, DATA + 16(%rip)
    movq %rbx, DATA + 24(%rip)
    movq %rsp, DATA + 32(%rip)
    movq %rbp, DATA + 40(%rip)
    movq %rsi, DATA + 48(%rip)
    movq %rdi, DATA + 56(%rip)
    movq %r8, DATA + 64(%rip)
    movq %r9, DATA + 72(%rip)
    movq %r10, DATA + 80(%rip)
    movq %r11, DATA + 88(%rip)
    movq %r12, DATA + 96(%rip)
    movq %r13, DATA + 104(%rip)
    movq %r14, DATA + 112(%rip)
    movq %r15, DATA + 120(%rip)
    movq DATA_STACK(%rip), %rsp
    pushfq
    popq DATA_FLAGS(%rip)
    cld
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbp
    popq %rbx
    ret
end:
    .p2align 2
x64_template_bytes:
    .long end - x64_template
x64_template_leave:
    .long leave - x64_template

    .section .note.GNU-stack, "", @progbits
