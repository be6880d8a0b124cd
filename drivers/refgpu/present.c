/* SPDX-License-Identifier: MIT */
/* Presents: what may be flipped to. */
#include "driver.h"

/* A flip needs no commands: SetVidPnSourceAddress makes it. */
static NTSTATUS check_flip(const DXGKARG_PRESENT *args)
{
    const struct refgpu_open *source =
        args->pAllocationList[DXGK_PRESENT_SOURCE_INDEX].hDeviceSpecificAllocation;

    return source && (source->allocation->data.flags & REFGPU_ALLOCATION_PRIMARY)
               ? STATUS_SUCCESS
               : STATUS_INVALID_PARAMETER;
}

NTSTATUS NTAPI RefGpuPresent(IN_CONST_HANDLE hContext, INOUT_PDXGKARG_PRESENT pPresent)
{
    (void)hContext;
    if (pPresent->Flags.Flip)
        return check_flip(pPresent);
    return STATUS_NOT_SUPPORTED;
}
