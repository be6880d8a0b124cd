/* SPDX-License-Identifier: MIT */
/*
 * Capturing and loading registers, and calling driver code from inside the exception machinery.
 * CONTEXT is the public structure; the offsets are asserted in context.c.
 *
 *   void x64_capture(CONTEXT *context)                                           (System V)
 *   void RtlCaptureContext(CONTEXT *context)                                     (Microsoft; here
 *                                                                                x64_capture_ms)
 *       Captures all registers as they are in the caller after the return.
 *
 *   _Noreturn void x64_load(const CONTEXT *context)                              (System V)
 *       Loads all registers. Nothing below the new stack pointer is written, since host code keeps
 *       values there.
 *
 *   uint64_t x64_call(const struct x64_crossing *crossing, const void *function, a, b, c, d)
 *                                                                                (System V)
 *       Calls function(a, b, c, d) with the Microsoft calling convention. Stack walks recognize the
 *       return address x64_call_return, and find the crossing (or NULL) 40 bytes above the stack
 *       pointer there.
 */
    .macro capture reg
    movq %rax, 0x78(\reg)
    movq %rcx, 0x80(\reg)
    movq %rdx, 0x88(\reg)
    movq %rbx, 0x90(\reg)
    leaq 8(%rsp), %rax
    movq %rax, 0x98(\reg)
    movq %rbp, 0xa0(\reg)
    movq %rsi, 0xa8(\reg)
    movq %rdi, 0xb0(\reg)
    movq %r8, 0xb8(\reg)
    movq %r9, 0xc0(\reg)
    movq %r10, 0xc8(\reg)
    movq %r11, 0xd0(\reg)
    movq %r12, 0xd8(\reg)
    movq %r13, 0xe0(\reg)
    movq %r14, 0xe8(\reg)
    movq %r15, 0xf0(\reg)
    movq (%rsp), %rax
    movq %rax, 0xf8(\reg)
    movw %cs, 0x38(\reg)
    movw %ds, 0x3a(\reg)
    movw %es, 0x3c(\reg)
    movw %fs, 0x3e(\reg)
    movw %gs, 0x40(\reg)
    movw %ss, 0x42(\reg)
    pushfq
    .cfi_adjust_cfa_offset 8
    popq %rax
    .cfi_adjust_cfa_offset -8
    movl %eax, 0x44(\reg)
    movl $0x10000f, 0x30(\reg) /* control, integer, segments, floating point */
    fxsave 0x100(\reg)
    stmxcsr 0x34(\reg)
    movq 0x78(\reg), %rax
    .endm

    .text
    .globl x64_capture
    .hidden x64_capture
    .type x64_capture, @function
x64_capture:
    .cfi_startproc
    capture %rdi
    ret
    .cfi_endproc
    .size x64_capture, . - x64_capture

    .globl x64_capture_ms
    .hidden x64_capture_ms
    .type x64_capture_ms, @function
x64_capture_ms:
    .cfi_startproc
    capture %rcx
    ret
    .cfi_endproc
    .size x64_capture_ms, . - x64_capture_ms

    .globl x64_load
    .hidden x64_load
    .type x64_load, @function
x64_load:
    fxrstor 0x100(%rdi)
    movl %ss, %eax
    pushq %rax
    pushq 0x98(%rdi)
    movl 0x44(%rdi), %eax
    pushq %rax
    movl %cs, %eax
    pushq %rax
    pushq 0xf8(%rdi)
    movq 0x78(%rdi), %rax
    movq 0x80(%rdi), %rcx
    movq 0x88(%rdi), %rdx
    movq 0x90(%rdi), %rbx
    movq 0xa0(%rdi), %rbp
    movq 0xa8(%rdi), %rsi
    movq 0xb8(%rdi), %r8
    movq 0xc0(%rdi), %r9
    movq 0xc8(%rdi), %r10
    movq 0xd0(%rdi), %r11
    movq 0xd8(%rdi), %r12
    movq 0xe0(%rdi), %r13
    movq 0xe8(%rdi), %r14
    movq 0xf0(%rdi), %r15
    movq 0xb0(%rdi), %rdi
    iretq
    .size x64_load, . - x64_load

    .globl x64_call
    .hidden x64_call
    .globl x64_call_return
    .hidden x64_call_return
    .type x64_call, @function
x64_call:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq %rdi
    subq $40, %rsp
    movq %rsi, %rax
    xchgq %rcx, %rdx
    call *%rax
x64_call_return:
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size x64_call, . - x64_call

    .section .note.GNU-stack, "", @progbits
