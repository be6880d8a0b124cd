/* SPDX-License-Identifier: MIT */
/* Processor blocks (KPCR), to which the GS base points; rewritten code reads the level from
 * them. */
#ifndef DXGK_X64_BLOCK_H
#define DXGK_X64_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct x64_machine;

/* Where rewritten code finds a pointer to the current level, relative to the GS base. */
#define X64_BLOCK_LEVEL (-8)

bool x64_blocks_init(struct x64_machine *x64);
void x64_blocks_finish(struct x64_machine *x64);
/* Whether the address is in the part of a processor block that is not provided here. */
bool x64_block_gap(const struct x64_machine *x64, uintptr_t address);
uintptr_t x64_gs_base(void);
/* The processor block (KPCR) of a processor of the current machine. */
void *x64_processor_block(unsigned processor);

#endif
