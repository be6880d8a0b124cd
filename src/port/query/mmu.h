/* SPDX-License-Identifier: MIT */
/* The driver's description of the GPU's MMU: caps, and each level of page tables. */
#ifndef DXGK_PORT_MMU_H
#define DXGK_PORT_MMU_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_mmu_query(struct port_adapter *adapter);

/* Do the levels name memory segments? Called when the segments are known, which is later. */
NTSTATUS port_mmu_check_segments(struct port_adapter *adapter);

#endif
