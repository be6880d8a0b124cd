/* SPDX-License-Identifier: MIT */
/*
 * Rewriting of images: cheap reads of CR8, and reads of the virtual clock instead of the
 * processor's.
 *
 * `mov reg, cr8` is how compilers inline KeGetCurrentIrql, and it traps here, which costs a signal.
 * When an image is loaded, each one that can be changed safely becomes a jump to a few instructions
 * after the image, which read the level from the processor block and jump back. The instruction has
 * four bytes and a jump five, so there are two ways:
 *
 *   by an island     the instruction becomes a short jump to the padding between two functions
 *                    nearby, and five bytes there become the long jump. Only the instruction
 *                    itself is replaced, so jumps to it still work.
 *   by displacement  the next instruction is moved after the image, too. Nothing may jump to that
 *                    one: no direct branch of the image leads there, and the function has no jump
 *                    tables, no exception handlers and no parts elsewhere. An instruction that
 *                    could fault, or depends on its own address, is not moved.
 *
 * Either way the four bytes must be an instruction, not a part of one, or data: following the code
 * from the beginning of the function must reach them. A function that the table does not have
 * begins where a function of the table calls it. If one of these proofs fails, the instruction
 * stays and traps (NT-172).
 *
 * RDTSC and RDTSCP do not trap, and would make each run different. They are replaced by a software
 * interrupt of the same length, which returns virtual nanoseconds (NT-175).
 */
#ifndef DXGK_X64_REWRITE_H
#define DXGK_X64_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "x64/unwind/function_table.h"

struct x64_rewriting {
    uint32_t islands, displaced; /* reads of CR8 that no longer trap, by the way that was used */
    uint32_t stamps;             /* reads of the time stamp counter */
    uint32_t left;       /* byte sequences that look like one of these, but were not changed */
    uint32_t spare_used; /* bytes used after the image; their whole pages are executable now */
};

/* Rewrite the section [begin, end), offsets from the base of the image, which is still writable and
 * does not run yet. Called for each executable section in turn with the same *counts, which starts
 * at zero. False: out of memory. Then no instruction is half rewritten, but earlier rewrites
 * stay. */
bool x64_rewrite(const struct x64_function_table *table, uint32_t begin, uint32_t end,
                 struct x64_rewriting *counts);

#endif
