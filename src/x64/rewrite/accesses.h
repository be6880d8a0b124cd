/* SPDX-License-Identifier: MIT */
/* Which accesses to memory of an image become places of preemption (x64/traps/preempt.h): a number
 * that the seed has drawn chooses among the instructions that are known to be code (reached.h).
 * Accesses relative to the stack pointer are left out, as are string and vector instructions,
 * pushes, pops, and branches through memory. */
#ifndef DXGK_X64_ACCESSES_H
#define DXGK_X64_ACCESSES_H

#include <stdint.h>

#include "x64/unwind/function_table.h"

struct x64_accesses {
    uint64_t choice; /* draws them, with their offsets in the image */
    uint32_t one_of; /* how many on average */
    uint32_t *at;    /* offsets in the image */
    uint32_t count, room;
};

/* Find those in a section, [begin, end), which is still writable; short of memory, only some.
 * `pointer`: as x64_reached has it. */
void x64_accesses_find(struct x64_accesses *found, const struct x64_function_table *table,
                       uint32_t begin, uint32_t end, const uint32_t *pointer, uint32_t pointers);
/* Make places of those that are still there, and free the list. */
void x64_accesses_place(struct x64_accesses *found, const struct x64_function_table *table);

#endif
