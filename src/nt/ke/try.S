/* SPDX-License-Identifier: MIT */
/*
 * The start of a block of <dxgk_seh.h>, and the jump back to it. Layout of the record: Registers
 * (rbx rbp rdi rsi r12 r13 r14 r15 rsp rip), Xmm 6 to 15 from 80 on, MxCsr at 240.
 *
 *   LONG NTAPI DxgkTryEnter(DXGK_TRY_RECORD *record)
 *       Saves the registers that the Microsoft calling convention preserves, and continues in
 *       nt_try_link, which returns 0.
 *
 *   void nt_try_jump(const DXGK_TRY_RECORD *record)
 *       System V. Returns 1 from that DxgkTryEnter.
 */
    .text
    .globl DxgkTryEnter
    .type DxgkTryEnter, @function
DxgkTryEnter:
    movq %rbx, (%rcx)
    movq %rbp, 8(%rcx)
    movq %rdi, 16(%rcx)
    movq %rsi, 24(%rcx)
    movq %r12, 32(%rcx)
    movq %r13, 40(%rcx)
    movq %r14, 48(%rcx)
    movq %r15, 56(%rcx)
    leaq 8(%rsp), %rax
    movq %rax, 64(%rcx)
    movq (%rsp), %rax
    movq %rax, 72(%rcx)
    movups %xmm6, 80(%rcx)
    movups %xmm7, 96(%rcx)
    movups %xmm8, 112(%rcx)
    movups %xmm9, 128(%rcx)
    movups %xmm10, 144(%rcx)
    movups %xmm11, 160(%rcx)
    movups %xmm12, 176(%rcx)
    movups %xmm13, 192(%rcx)
    movups %xmm14, 208(%rcx)
    movups %xmm15, 224(%rcx)
    stmxcsr 240(%rcx)
    jmp nt_try_link
    .size DxgkTryEnter, . - DxgkTryEnter

    .globl nt_try_jump
    .hidden nt_try_jump
    .type nt_try_jump, @function
nt_try_jump:
    movq %rdi, %rdx
    movq (%rdx), %rbx
    movq 8(%rdx), %rbp
    movq 16(%rdx), %rdi
    movq 24(%rdx), %rsi
    movq 32(%rdx), %r12
    movq 40(%rdx), %r13
    movq 48(%rdx), %r14
    movq 56(%rdx), %r15
    movups 80(%rdx), %xmm6
    movups 96(%rdx), %xmm7
    movups 112(%rdx), %xmm8
    movups 128(%rdx), %xmm9
    movups 144(%rdx), %xmm10
    movups 160(%rdx), %xmm11
    movups 176(%rdx), %xmm12
    movups 192(%rdx), %xmm13
    movups 208(%rdx), %xmm14
    movups 224(%rdx), %xmm15
    ldmxcsr 240(%rdx)
    movq 64(%rdx), %rsp
    movl $1, %eax
    jmpq *72(%rdx)
    .size nt_try_jump, . - nt_try_jump

    .section .note.GNU-stack, "", @progbits
