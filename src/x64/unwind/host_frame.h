/* SPDX-License-Identifier: MIT */
/*
 * Frames of ELF code: of the host, of the C library, of drivers built as shared objects. They are
 * unwound by their DWARF call frame information (.eh_frame), which compilers for x86-64 always
 * write, and which covers the XMM registers that functions of the Microsoft calling convention
 * keep. Where there is none (hand-written assembly), unwinding ends.
 */
#ifndef DXGK_X64_HOST_FRAME_H
#define DXGK_X64_HOST_FRAME_H

#include "x64/unwind/unwind_info.h"

/* From the registers in a function to those in its caller. `interrupted`: Rip is the next
 * instruction to execute, and not one behind a call. False: no information, or the stack does not
 * hold what it says; `context` is as before then. Takes no lock and allocates nothing. */
bool x64_host_unwind(const struct x64_stack *stack, bool interrupted, CONTEXT *context);

#endif
