/* SPDX-License-Identifier: MIT */
/*
 * What the software GPU executes, for its driver and for clients: a DMA buffer is a row of commands, whose operands are GPU virtual
 * addresses. Operands and lengths are multiples of 4.
 */
#ifndef DXGK_TESTS_COMPUTE_HW_H
#define DXGK_TESTS_COMPUTE_HW_H

#include <stdint.h>

#define COMPUTE_OP_FILL 1u /* 32-bit words of dst become value */
#define COMPUTE_OP_COPY 2u /* dst becomes src */
#define COMPUTE_OP_ADD  3u /* each 32-bit word of src is added to the one of dst */

struct compute_command {
    uint32_t op, bytes;
    uint64_t dst, src;
    uint32_t value, zero;
};

/* Private data of an allocation. */
struct compute_allocation_data {
    uint32_t bytes, zero;
};

#endif
