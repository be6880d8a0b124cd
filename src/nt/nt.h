/* SPDX-License-Identifier: MIT */
/*
 * Kernel services: the routines that a driver imports from ntoskrnl and hal, under their own names,
 * implemented on simulated processors and IRQLs. This header has their creation and destruction;
 * each other header of this room has one concept. Drivers see include/wdk.
 */
#ifndef DXGK_NT_NT_H
#define DXGK_NT_NT_H

#include <stdint.h>

#include "nt/base/nt_config.h"

struct nt;

/* The kernel services of the current machine. NULL: out of memory. */
struct nt *nt_create(const struct nt_config *config);
void nt_destroy(struct nt *nt);
/* The Windows build that is reported to drivers. */
uint32_t nt_build(void);

#endif
