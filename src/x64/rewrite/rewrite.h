/* SPDX-License-Identifier: MIT */
/*
 * Cheap reads of CR8 in images, and reads of the virtual clock where the code has the processor's.
 *
 * `mov reg, cr8` is how compilers inline KeGetCurrentIrql, and it traps here, at the price of a
 * signal. While an image is loaded each one that can be changed without risk becomes a jump to a
 * few instructions behind the image, which read the level from the processor block and jump back.
 * It has four bytes, a jump five, so there are two ways:
 *
 *   by an island     the instruction becomes a short jump to the padding between two functions
 *                    nearby, and five bytes there the long one. Only the instruction itself is
 *                    replaced, so whoever jumps to it still finds one.
 *   by displacement  the next instruction moves behind the image, too. Nobody may jump to that one:
 *                    no direct branch of the image leads there, and the function has neither jumps
 *                    through tables nor handlers of exceptions, nor parts elsewhere. What could
 *                    fault, or looks at where it stands, is not moved.
 *
 * Either way the four bytes must be an instruction and not a part of one, or data: they are reached
 * from the beginning of the function by following its code. A function that the table does not have
 * begins where one that it has calls it. Where one of these proofs fails, the instruction stays and
 * traps (NT-172).
 *
 * RDTSC and RDTSCP do not trap, and would make each run another one. They become a software
 * interrupt of the same length, which is answered with virtual nanoseconds (NT-175).
 */
#ifndef DXGK_X64_REWRITE_H
#define DXGK_X64_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "x64/unwind/function_table.h"

struct x64_rewriting {
    uint32_t islands,
        displaced;       /* reads of CR8 that trap no more, by the way that was found for them */
    uint32_t stamps;     /* reads of the time stamp counter */
    uint32_t left;       /* byte sequences that look like one of these, and were left alone */
    uint32_t spare_used; /* bytes behind the image; whole pages of them are executable now */
};

/* Rewrite the section [begin, end), offsets from the base of the image, which is still writable and
 * does not run yet. Called for each executable section in turn with the same *counts, which begins
 * as zero. False: out of memory. Nothing is half done then, but what was rewritten before stays. */
bool x64_rewrite(const struct x64_function_table *table, uint32_t begin, uint32_t end,
                 struct x64_rewriting *counts);

#endif
