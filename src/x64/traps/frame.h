/* SPDX-License-Identifier: MIT */
/* For assembly code: offsets of struct x64_interrupted (trap.c asserts them), and macros that save
 * vector registers to such a frame. */
#ifndef DXGK_X64_FRAME_H
#define DXGK_X64_FRAME_H
/* clang-format off */

#define FRAME_RIP    128
#define FRAME_FLAGS  136
#define FRAME_MASK   144
#define FRAME_SAVE   152
#define FRAME_VECTOR 192

/* Save vector registers to the frame in rbx, and restore them. Clobber rax and rdx. */
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

#endif
