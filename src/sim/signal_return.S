/* SPDX-License-Identifier: MIT */
/*
 * The return from the fault handler, instead of the C library's restorer.
 *
 * Usually it makes the system call that restores the interrupted context. If the handler has left
 * the mark DIRECT in the context (in uc_link, which signals do not use), the context only says
 * where to continue: at another address, on another stack, with an argument. That needs no system
 * call: only the vector state must be restored, since neither the signal mask nor the state of the
 * alternate signal stack has changed. The code at that address takes care of the other registers.
 */
#define UC_LINK    8
#define UC_RDI     104
#define UC_RSP     160
#define UC_RIP     168
#define UC_FPREGS  224
/* offset in the floating-point area: tells that an XSAVE area is there */
#define FX_MAGIC   464
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
