/* SPDX-License-Identifier: MIT */
/* What can be known of the code of one function by following it from its beginning. */
#ifndef DXGK_X64_FLOW_H
#define DXGK_X64_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "x64/unwind/function_table.h"

struct x64_flow {
    uint32_t begin,
        end; /* of the function, offsets in the image; what begins here is where it is entered */
    uint8_t *reached; /* a bit for each byte: an instruction that is executed begins here */
    bool indirect;    /* it jumps to where a register or memory tells */
};

/* False: out of memory, or something that is reached is no instruction; *flow needs no finish
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

/* Could a direct branch anywhere in [begin, end) lead to an offset in [low, high)? Every position
 * is taken for the start of a branch, so no knowledge of what is code is needed, and the answer
 * errs only to yes. `low` is less than 256 from `high`. */
bool x64_branch_leads_to(const struct x64_function_table *table, uint32_t begin, uint32_t end,
                         uint32_t low, uint32_t high);

#endif
