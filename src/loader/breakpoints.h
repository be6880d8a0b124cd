/* SPDX-License-Identifier: MIT */
/*
 * Coverage of drivers that are not instrumented: a breakpoint at the beginning of each basic block,
 * which goes when it is hit. It costs a signal for each block that runs, once.
 *
 * Where code begins is known from the exception directory of a Windows image, and from the symbols
 * of an ELF one; blocks are found from there by following branches. What is reached by indirect
 * branches alone has none.
 */
#ifndef DXGK_LOADER_BREAKPOINTS_H
#define DXGK_LOADER_BREAKPOINTS_H

#include <stdbool.h>
#include <stdint.h>

struct coverage;

/* Places them in the images of the current machine, if none has told of places. Pages of their code
 * become writable. False: no coverage is recorded, or out of memory or of rights; the image is then
 * as it was. */
bool breakpoints_place(void);
/* Finds constants of comparisons alone, where blocks are not looked for. False: no coverage is
 * recorded, or out of memory. */
bool breakpoints_find_constants(void);
/* Places those again that were hit. */
void breakpoints_renew(struct coverage *coverage);

#endif
