/* SPDX-License-Identifier: MIT */
/*
 * Interlocked instructions of an image in a machine that detects races. They give order, but are
 * seen only where their operand is on a guarded page. So each becomes a breakpoint (x64/traps/
 * locked.h), of which only the first byte is changed: jumps to the instruction still work, and
 * nothing is moved.
 *
 * What is changed must be an instruction, not a part of one, or data (reached.h). Code that only a
 * jump through a table leads to stays as it is.
 */
#ifndef DXGK_X64_LOCKED_H
#define DXGK_X64_LOCKED_H

#include <stdint.h>

#include "x64/unwind/function_table.h"

struct x64_locked {
    uint32_t *at; /* offsets in the image */
    uint32_t count, room;
};

/* Find those in a section, [begin, end), which is still writable; short of memory, only some.
 * `pointer`: as x64_reached has it. */
void x64_locked_find(struct x64_locked *found, const struct x64_function_table *table,
                     uint32_t begin, uint32_t end, const uint32_t *pointer, uint32_t pointers);
/* Replace those that are still there, and free the list. */
void x64_locked_replace(struct x64_locked *found, const struct x64_function_table *table);

#endif
