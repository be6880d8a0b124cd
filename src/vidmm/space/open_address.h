/* SPDX-License-Identifier: MIT */
/* GPU virtual addresses for presents: of allocations, and of the buffers that the driver writes
 * commands to. For the scheduler. PASSIVE_LEVEL; waits for the paging. */
#ifndef DXGK_VIDMM_OPEN_ADDRESS_H
#define DXGK_VIDMM_OPEN_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "util/address.h"

struct vidmm_device;

/* Where the address space of the process has all of an allocation; the host maps it if it is
 * nowhere (for `write`: nowhere to be written), and then it stays until it is closed. */
NTSTATUS vidmm_open_address(struct vidmm_device *device, D3DKMT_HANDLE handle, bool write,
                            D3DGPU_VIRTUAL_ADDRESS *va);
/* Map pages of the host that the GPU fetches commands from. */
NTSTATUS vidmm_commands_map(struct vidmm_device *device, struct logical_page first, uint64_t pages,
                            struct gpu_va *va);
/* Does nothing for address 0. */
void vidmm_commands_unmap(struct vidmm_device *device, struct gpu_va va);

#endif
