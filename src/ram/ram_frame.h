/* SPDX-License-Identifier: MIT */
/* Counts that keep a frame from being reused, and what becomes of one that is given back while it
 * is held. */
#ifndef DXGK_RAM_RAM_FRAME_H
#define DXGK_RAM_RAM_FRAME_H

#include <stdint.h>

struct ram;

/* A frame that is held, and was given back. */
void ram_frame_quarantine(struct ram *ram, uint64_t page);
/* Zeroed memory for the counts of so many frames, and its use. */
uint64_t ram_frame_counts_bytes(uint64_t pages);
void ram_frame_counts_init(struct ram *ram, char *memory);

#endif
