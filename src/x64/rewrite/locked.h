/* SPDX-License-Identifier: MIT */
/*
 * Interlocked instructions of an image in a machine that detects races. They give order, but are
 * seen only where their operand is on a guarded page. So each becomes a breakpoint (x64/traps/
 * locked.h), of which only the first byte is changed: jumps to the instruction still work, and
 * nothing is moved.
 *
 * What is changed must be an instruction, not a part of one, or data: following the code from the
 * beginning of a function of the table must reach it, or from the target of a call or jump in what
 * is reached so. Code that only a jump through a table or a pointer leads to stays as it is.
 */
#ifndef DXGK_X64_LOCKED_H
#define DXGK_X64_LOCKED_H

#include <stdint.h>

#include "race/table.h"
#include "x64/unwind/function_table.h"

struct x64_locked {
    uint32_t *at; /* offsets in the image */
    uint32_t count, room;
    struct race_table leaves; /* functions that the table does not have, by offset */
};

/* Find those in a section, [begin, end), which is still writable; short of memory, only some. */
void x64_locked_find(struct x64_locked *found, const struct x64_function_table *table,
                     uint32_t begin, uint32_t end);
/* Replace those that are still there, and free the list. */
void x64_locked_replace(struct x64_locked *found, const struct x64_function_table *table);

#endif
