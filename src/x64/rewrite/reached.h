/* SPDX-License-Identifier: MIT */
/*
 * The instructions of a section that are known to be code, for those who change their first bytes:
 * following the code from the beginning of a function of the table reaches them, or from the target
 * of a call or jump in what is reached so, or from a pointer to code.
 *
 * A pointer is what an instruction that is reached loads the address of, or one that the image
 * has (a table of entries that is filled by relocations). It may lead to data that lie between
 * functions. So code is taken for a function only if it begins at a multiple of 16, is instructions
 * as far as it goes, and ends where another function, or padding up to a multiple of 16, begins.
 */
#ifndef DXGK_X64_REACHED_H
#define DXGK_X64_REACHED_H

#include <stdint.h>

#include "x64/unwind/function_table.h"

/* Called once for each instruction of a function, with its offset in the image. */
typedef void x64_reached_visit(void *arg, uint32_t at);

/* Of the section [begin, end). `pointer`: offsets in the image that relocations of it point to, in
 * any order; it may be NULL. Short of memory, some are left out. */
void x64_reached(const struct x64_function_table *table, uint32_t begin, uint32_t end,
                 const uint32_t *pointer, uint32_t pointers, x64_reached_visit *visit, void *arg);

#endif
