/* SPDX-License-Identifier: MIT */
/* Interlocked instructions that are breakpoints in their place (x64/rewrite/locked.h): the order
 * that they give is seen wherever their operand is. */
#ifndef DXGK_X64_LOCKED_TRAP_H
#define DXGK_X64_LOCKED_TRAP_H

#include <stdbool.h>
#include <stdint.h>

/* Put a breakpoint there, where the code is still writable. */
void x64_locked_add(uintptr_t pc);
/* The code goes away. */
void x64_locked_forget(uintptr_t base, uint64_t bytes);
/* Whether one is there; *first becomes the byte in its place. Does not allocate. */
bool x64_locked_at(uintptr_t pc, uint8_t *first);
struct x64_machine;
void x64_locked_finish(struct x64_machine *x64);

#endif
