/* SPDX-License-Identifier: MIT */
/* The driver's description of the GPU's MMU: caps, and each level of page tables. */
#ifndef DXGK_PORT_MMU_H
#define DXGK_PORT_MMU_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_mmu_query(struct port_adapter *adapter);

#endif
