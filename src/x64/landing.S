/* SPDX-License-Identifier: MIT */
/*
 * Landing of a trap, and the code around an instruction that runs on a copy of its operand.
 *
 *   x64_landing           continued at by the signal handler with the frame in rdi, on the stack below the frame. Saves the
 *                         vector registers, calls x64_trapped(frame), and restores everything from the frame.
 *   x64_run(enter, f)     calls enter with the vector registers loaded from, and saved to, the frame f (NULL: as they are).
 *   x64_template          copied to the start of a block of stubs: loads all registers from the data behind the block, jumps
 *                         to data.target, which comes back x64_template_leave bytes from the start, and stores all registers.
 */
#define FRAME_RIP    128
#define FRAME_FLAGS  136
#define FRAME_MASK   144
#define FRAME_SAVE   152
#define FRAME_VECTOR 192

/* Vector registers to the frame in rbx, and back. Clobber rax and rdx. */
    .macro save_vectors
    movl FRAME_MASK(%rbx), %eax
    movl FRAME_MASK + 4(%rbx), %edx
    cmpl $1, FRAME_SAVE(%rbx)
    ja 11f
    je 12f
    fxsave64 FRAME_VECTOR(%rbx)
    jmp 13f
11: xsavec64 FRAME_VECTOR(%rbx)
    jmp 13f
12: xsave64 FRAME_VECTOR(%rbx)
13:
    .endm

    .macro restore_vectors
    movl FRAME_MASK(%rbx), %eax
    movl FRAME_MASK + 4(%rbx), %edx
    cmpl $0, FRAME_SAVE(%rbx)
    je 14f
    xrstor64 FRAME_VECTOR(%rbx)
    jmp 15f
14: fxrstor64 FRAME_VECTOR(%rbx)
15:
    .endm

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
    /* Flags and the place to go on, below the red zone of the interrupted code. */
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
