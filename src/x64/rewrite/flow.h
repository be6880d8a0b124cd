/* SPDX-License-Identifier: MIT */
/* Control flow of one function, found by following its code from the beginning. */
#ifndef DXGK_X64_FLOW_H
#define DXGK_X64_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "x64/unwind/function_table.h"

struct x64_flow {
    uint32_t begin, end; /* offsets in the image; the function is entered at `begin` */
    uint8_t *reached;    /* a bit for each byte: an instruction that can be executed begins here */
    bool indirect;       /* it has a jump to an address from a register or memory */
};

/* False: out of memory, or some reached bytes are no instruction; x64_flow_finish is not needed
 * then. */
bool x64_flow_init(struct x64_flow *flow, const struct x64_function_table *table, uint32_t begin,
                   uint32_t end, bool *out_of_memory);
void x64_flow_finish(struct x64_flow *flow);

static inline bool x64_flow_reaches(const struct x64_flow *flow, uint32_t offset)
{
    uint32_t i = offset - flow->begin;

    return flow->reached[i / 8] >> i % 8 & 1;
}

/* The next position from *at on, below `end`, whose bytes could be a near call or jump to an offset
 * in [low, high). False: there is none. */
bool x64_next_branch(const struct x64_function_table *table, uint32_t *at, uint32_t end,
                     uint32_t low, uint32_t high, uint32_t *target);

/* Whether a direct branch anywhere in [begin, end) could lead to an offset in [low, high). Every
 * position is tried as the start of a branch, whether or not it is code, so the answer may be a
 * false yes but never a false no. `high` - `low` is less than 256. */
bool x64_branch_leads_to(const struct x64_function_table *table, uint32_t begin, uint32_t end,
                         uint32_t low, uint32_t high);

#endif
