/* SPDX-License-Identifier: MIT */
/*
 * Kernel services: the routines that a driver imports from ntoskrnl and hal, under their own names,
 * as real services over simulated processors and levels. Here is the life of the whole; the other
 * headers of this room have one concept each. Drivers see include/wdk.
 */
#ifndef DXGK_NT_NT_H
#define DXGK_NT_NT_H

#include <stdint.h>

#include "nt/base/config.h"

struct nt;

/* State of the kernel services of the machine that is entered. NULL: out of memory. */
struct nt *nt_create(const struct nt_config *config);
void nt_destroy(struct nt *nt);
/* The Windows build that is reported to drivers. */
uint32_t nt_build(void);

#endif
