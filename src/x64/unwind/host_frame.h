/* SPDX-License-Identifier: MIT */
/*
 * Stack frames of ELF code: of the host, the C library, and drivers built as shared objects. They
 * are unwound by their DWARF call frame information (.eh_frame), which compilers for x86-64 always
 * write, and which covers the XMM registers that functions of the Microsoft calling convention
 * preserve. Where there is none (hand-written assembly), unwinding ends.
 */
#ifndef DXGK_X64_HOST_FRAME_H
#define DXGK_X64_HOST_FRAME_H

#include "x64/unwind/unwind_info.h"

/* Go from the registers in a function to those in its caller. `interrupted`: Rip is the next
 * instruction to execute, not a return address. False: there is no information, or it does not
 * match the stack; `context` is unchanged. Takes no lock and allocates nothing. */
bool x64_host_unwind(const struct x64_stack *stack, bool interrupted, CONTEXT *context);
/* Where the function begins that contains `pc`, or its part that does; 0: not known. */
uintptr_t x64_host_function(uintptr_t pc);

#endif
