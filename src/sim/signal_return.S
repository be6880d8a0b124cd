/* SPDX-License-Identifier: MIT */
/*
 * Where the handler of a fault returns to, in place of the C library's restorer.
 *
 * As a rule it makes the system call that restores the interrupted context. When the handler has
 * left the mark DIRECT in it (uc_link, which a signal does not use), the context only says where to
 * go on: at another place, on another stack, with an argument. That takes no system call: no more
 * than the vector state has to come back, since neither the mask of signals nor the flags of a
 * stack for signals have changed. What remains of the registers is the business of the code at that
 * place.
 */
#define UC_LINK    8
#define UC_RDI     104
#define UC_RSP     160
#define UC_RIP     168
#define UC_FPREGS  224
#define FX_MAGIC   464        /* in the area for floating point: an XSAVE area stands there */
#define MAGIC      0x46505853
#define SIGRETURN  15

    .text
    .globl sim_signal_return
    .hidden sim_signal_return
    .type sim_signal_return, @function
sim_signal_return:
    cmpq $0, UC_LINK(%rsp)
    jne 1f
    movq $SIGRETURN, %rax
    syscall
1:  movq UC_FPREGS(%rsp), %rcx
    cmpl $MAGIC, FX_MAGIC(%rcx)
    jne 2f
    movl $-1, %eax
    movl $-1, %edx
    xrstor64 (%rcx)
    jmp 3f
2:  fxrstor64 (%rcx)
3:  movq UC_RIP(%rsp), %rcx
    movq UC_RDI(%rsp), %rdi
    movq UC_RSP(%rsp), %rsp
    cld
    jmp *%rcx
    .size sim_signal_return, . - sim_signal_return

    .section .note.GNU-stack, "", @progbits
