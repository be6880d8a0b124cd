/* SPDX-License-Identifier: MIT */
/* The page of system data that kernel code reads at a fixed address (NT-174). */
#ifndef DXGK_X64_SHARED_DATA_H
#define DXGK_X64_SHARED_DATA_H

#include <stdbool.h>
#include <stdint.h>

struct x64_machine;

#define X64_SHARED_DATA 0xFFFFF78000000000u

bool x64_shared_data_init(struct x64_machine *x64);
void x64_shared_data_finish(struct x64_machine *x64);
/* offset + bytes is at most the size of the page. */
void x64_shared_data_read(uint32_t offset, uint32_t bytes, void *to);

#endif
