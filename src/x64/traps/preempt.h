/* SPDX-License-Identifier: MIT */
/*
 * Accesses to memory in a Windows image at which a machine under stress may preempt, though the
 * image was not compiled for that (THREAD-074).
 *
 * The first byte of such an instruction is HLT, which faults, and leaves the instruction pointer
 * where it is: jumps to the instruction still work, nothing is moved, and debuggers, which have
 * breakpoints of their own, see no breakpoint. The landing (preempt_trap.c) lets others run, and
 * carries the instruction out on a copy of its operand. One that reads and writes lets other
 * processors run in between, too, as it is not interlocked.
 *
 * A place that is hit often rests: the byte is put right until a call into a driver begins some
 * time later. All of it depends on virtual time and on offsets in the image, so that it is the same
 * in each run.
 */
#ifndef DXGK_X64_PREEMPT_H
#define DXGK_X64_PREEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "x64/unwind/function_table.h"

struct x64_machine;

/* Make places of these instructions, offsets in the image in ascending order, while its code is
 * writable. Short of memory: of none. */
void x64_preempt_add(const struct x64_function_table *table, const uint32_t *at, uint32_t count);
/* This code goes away, or is not accessible any more. */
void x64_preempt_forget(uintptr_t base, uint64_t bytes);
/* Whether one is there that does not rest; *first becomes the byte in its place. Does not
 * allocate. */
bool x64_preempt_at(uintptr_t pc, uint8_t *first);
/* Let it rest; also in a signal handler. False: it cannot, as a debugger has a breakpoint there. */
bool x64_preempt_rest(uintptr_t pc);
/* It was hit, and may have to rest. */
void x64_preempt_count(uintptr_t pc);
/* It is none from now on. False: it cannot, as before. */
bool x64_preempt_drop(uintptr_t pc);
/* A call into a driver begins: those that have rested are places again. */
void x64_preempt_wake(void);
void x64_preempt_finish(struct x64_machine *x64);

#endif
