/* SPDX-License-Identifier: MIT */
/*
 * Functions with the frames that Microsoft's compiler makes with /GS, and others that no C compiler here makes: language handlers
 * and their data, as the public descriptions of .xdata have them. What follows the handler's address:
 *
 *     __GSHandlerCheck        a word: offset of the cookie from the frame, a multiple of 8, and three bits: 1 the handler is wanted for
 *                             exceptions, 2 for unwinding, 4 the frame is aligned; then, if it is, two words more: what to add
 *                             to the frame before aligning it, and the alignment
 *     __GSHandlerCheck_SEH    the scopes, as for __C_specific_handler; then the same
 *
 * Each function takes in ecx whether it shall overrun its cookie.
 */
    .text

/* The cookie of a frame is the image's, combined with the stack pointer. */
.macro begin_cookie at
    movq    __security_cookie(%rip), %rax
    xorq    %rsp, %rax
    movq    %rax, \at(%rsp)
    testl   %ecx, %ecx
    je      1f
    notq    \at(%rsp)
1:
.endm

.macro function name
    .globl  \name
    .def    \name
    .scl    2
    .type   32
    .endef
    .p2align 4
    .seh_proc \name
\name:
.endm

/* unsigned frame_plain(unsigned overrun): nothing in it takes the exception. */
function frame_plain
    .seh_handler __GSHandlerCheck, @except, @unwind
    subq    $0x48, %rsp
    .seh_stackalloc 0x48
    .seh_endprologue
    begin_cookie 0x38
    callq   fault_now
    nop
    xorl    %eax, %eax
    addq    $0x48, %rsp
    retq
    .seh_handlerdata
    .long   0x38 | 3
    .text
    .seh_endproc

/* The same with a frame register, and the cookie in a part of the frame that is aligned to 64. */
function frame_aligned
    .seh_handler __GSHandlerCheck, @except, @unwind
    pushq   %rbp
    .seh_pushreg %rbp
    subq    $0xC0, %rsp
    .seh_stackalloc 0xC0
    leaq    0x80(%rsp), %rbp
    .seh_setframe %rbp, 0x80
    .seh_endprologue
    movq    __security_cookie(%rip), %rax
    xorq    %rbp, %rax
    leaq    0x3F(%rsp), %rdx
    andq    $-64, %rdx
    movq    %rax, 0x28(%rdx)
    testl   %ecx, %ecx
    je      1f
    notq    0x28(%rdx)
1:
    callq   fault_now
    nop
    xorl    %eax, %eax
    leaq    0x40(%rbp), %rsp
    popq    %rbp
    retq
    .seh_handlerdata
    .long   0x28 | 7
    .long   0x3F
    .long   64
    .text
    .seh_endproc

/* unsigned frame_seh(unsigned overrun): takes the exception and returns 1. */
function frame_seh
    .seh_handler __GSHandlerCheck_SEH, @except, @unwind
    subq    $0x48, %rsp
    .seh_stackalloc 0x48
    .seh_endprologue
    begin_cookie 0x38
.Lseh_begin:
    callq   fault_now
    nop
.Lseh_end:
    xorl    %eax, %eax
    jmp     .Lseh_out
.Lseh_target:
    movl    $1, %eax
.Lseh_out:
    addq    $0x48, %rsp
    retq
    .seh_handlerdata
    .long   1
    .long   .Lseh_begin@IMGREL
    .long   .Lseh_end@IMGREL
    .long   guard_filter@IMGREL
    .long   .Lseh_target@IMGREL
    .long   0x38 | 3
    .text
    .seh_endproc

/* A termination handler, and nothing that takes the exception. */
function frame_finally
    .seh_handler __GSHandlerCheck_SEH, @except, @unwind
    subq    $0x48, %rsp
    .seh_stackalloc 0x48
    .seh_endprologue
    begin_cookie 0x38
.Lfinally_begin:
    callq   fault_now
    nop
.Lfinally_end:
    xorl    %eax, %eax
    addq    $0x48, %rsp
    retq
    .seh_handlerdata
    .long   1
    .long   .Lfinally_begin@IMGREL
    .long   .Lfinally_end@IMGREL
    .long   guard_finally@IMGREL
    .long   0
    .long   0x38 | 3
    .text
    .seh_endproc

/* A jump out of a guarded body, as Microsoft's compiler makes one. Returns 5. */
function frame_local_unwind
    .seh_handler __C_specific_handler, @except, @unwind
    subq    $0x28, %rsp
    .seh_stackalloc 0x28
    .seh_endprologue
.Llocal_begin:
    movq    %rsp, %rcx
    leaq    .Llocal_target(%rip), %rdx
    callq   *__imp__local_unwind(%rip)
    nop
.Llocal_end:
    ud2
.Llocal_target:
    movl    $5, %eax
    addq    $0x28, %rsp
    retq
    .seh_handlerdata
    .long   1
    .long   .Llocal_begin@IMGREL
    .long   .Llocal_end@IMGREL
    .long   guard_finally@IMGREL
    .long   0
    .text
    .seh_endproc

/* unsigned long long frame_own(void): its handler unwinds to the place named in the handler data, with a value. */
function frame_own
    .seh_handler own_handler, @except, @unwind
    pushq   %rbx
    .seh_pushreg %rbx
    subq    $0x20, %rsp
    .seh_stackalloc 0x20
    .seh_endprologue
    movl    $1000, %ebx
    callq   frame_between
    nop
    ud2
.Lown_target:
    addq    %rbx, %rax
    addq    $0x20, %rsp
    popq    %rbx
    retq
    .seh_handlerdata
    .long   .Lown_target@IMGREL
    .text
    .seh_endproc

/* Clobbers what a callee keeps, so that unwinding has to bring it back; and a termination handler on the way. */
function frame_between
    .seh_handler __C_specific_handler, @except, @unwind
    pushq   %rbx
    .seh_pushreg %rbx
    subq    $0x20, %rsp
    .seh_stackalloc 0x20
    .seh_endprologue
    xorl    %ebx, %ebx
.Lbetween_begin:
    callq   fault_now
    nop
.Lbetween_end:
    addq    $0x20, %rsp
    popq    %rbx
    retq
    .seh_handlerdata
    .long   1
    .long   .Lbetween_begin@IMGREL
    .long   .Lbetween_end@IMGREL
    .long   guard_finally@IMGREL
    .long   0
    .text
    .seh_endproc
