/* SPDX-License-Identifier: MIT */
/*
 * Fiber switch and checked copy for x86-64 System V.
 *
 *   void sim_switch_stack(void **save, void *to)
 *       Pushes the callee-saved registers and the floating-point control words, stores the stack
 *       pointer in *save, and continues on the stack `to`, which was left the same way (or built by
 *       fiber_prepare).
 *
 *   int sim_copy_raw(void *to, const void *from, size_t bytes)
 *       1: copied. After a fault between sim_copy_raw_begin and sim_copy_raw_end, the fault handler
 *       continues at sim_copy_raw_fault, which returns 0.
 */
    .text
    .globl sim_switch_stack
    .hidden sim_switch_stack
    .type sim_switch_stack, @function
sim_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    ldmxcsr (%rsp)
    fldcw 4(%rsp)
    addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size sim_switch_stack, . - sim_switch_stack

    .globl sim_copy_raw
    .hidden sim_copy_raw
    .globl sim_copy_raw_begin
    .hidden sim_copy_raw_begin
    .globl sim_copy_raw_end
    .hidden sim_copy_raw_end
    .globl sim_copy_raw_fault
    .hidden sim_copy_raw_fault
    .type sim_copy_raw, @function
sim_copy_raw:
    movq %rdx, %rcx
sim_copy_raw_begin:
    cmpq $128, %rcx
    ja 2f
    shrq $3, %rcx
    jz 3f
1:  movq (%rsi), %rax
    movq %rax, (%rdi)
    addq $8, %rsi
    addq $8, %rdi
    decq %rcx
    jnz 1b
3:  movq %rdx, %rcx
    andq $7, %rcx
2:  rep movsb
sim_copy_raw_end:
    movl $1, %eax
    ret
sim_copy_raw_fault:
    xorl %eax, %eax
    ret
    .size sim_copy_raw, . - sim_copy_raw

    .section .note.GNU-stack, "", @progbits
