/* SPDX-License-Identifier: MIT */
/*
 * The landing of a trap: the routine where execution continues after the signal handler.
 *
 *   x64_landing           continued at by the signal handler with the frame in rdi, on the stack
 *                         below the frame. Saves the vector registers, calls x64_trapped(frame),
 *                         and restores everything from the frame.
 */
#include "x64/traps/frame.h"

    .text
    .globl x64_landing
    .hidden x64_landing
    .type x64_landing, @function
x64_landing:
    cld
    movq %rdi, %rbx
    save_vectors
    movq %rbx, %rdi
    call x64_trapped
    restore_vectors
    /* Put the flags and the address to continue at below the red zone of the interrupted code. */
    movq 32(%rbx), %rax
    movq FRAME_RIP(%rbx), %rcx
    movq %rcx, -136(%rax)
    movq FRAME_FLAGS(%rbx), %rcx
    movq %rcx, -144(%rax)
    leaq -144(%rax), %rsp
    movq 0(%rbx), %rax
    movq 8(%rbx), %rcx
    movq 16(%rbx), %rdx
    movq 40(%rbx), %rbp
    movq 48(%rbx), %rsi
    movq 56(%rbx), %rdi
    movq 64(%rbx), %r8
    movq 72(%rbx), %r9
    movq 80(%rbx), %r10
    movq 88(%rbx), %r11
    movq 96(%rbx), %r12
    movq 104(%rbx), %r13
    movq 112(%rbx), %r14
    movq 120(%rbx), %r15
    movq 24(%rbx), %rbx
    popfq
    leaq 136(%rsp), %rsp
    jmp *-136(%rsp)
    .size x64_landing, . - x64_landing

    .section .note.GNU-stack, "", @progbits
