/* SPDX-License-Identifier: MIT */
#include "vidsch/reference.h"
#include "verify/refusal.h"
#include "vidmm/allocation/renaming.h"
#include "vidmm/residency/open_place.h"
#include "vidsch/device.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/scheduler.h"

NTSTATUS vidsch_reference_usable(const struct vidsch_device *device, const struct vidmm_open *open,
                                 const struct dma_reference *reference, UINT i)
{
    if (!open || vidmm_open_device(open) != device->mm)
        return refuse(STATUS_INVALID_HANDLE, NULL,
                      "element %u of the allocation list, handle 0x%x, is no allocation of this "
                      "device",
                      i, reference->handle);
    if (vidmm_open_offered(open))
        return refuse(STATUS_GRAPHICS_ALLOCATION_INVALID, "KMT-310",
                      "element %u of the allocation list, handle 0x%x, is offered", i,
                      reference->handle);
    if (reference->write && vidmm_open_read_only(open))
        return refuse(STATUS_ACCESS_DENIED, "KMT-311",
                      "element %u of the allocation list, handle 0x%x, is to be written and was "
                      "opened for reading only",
                      i, reference->handle);
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_reference_check(const struct vidsch_device *device, const struct vidmm_open *open,
                                const struct dma_reference *reference, UINT i)
{
    const NTSTATUS status = vidsch_reference_usable(device, open, reference, i);

    if (!NT_SUCCESS(status))
        return status;
    if (!vidmm_open_accessed_physically(open))
        return refuse(STATUS_INVALID_PARAMETER, "RES-032",
                      "element %u of the allocation list, handle 0x%x, is an allocation that the "
                      "driver created without AccessedPhysically",
                      i, reference->handle);
    if (vidmm_open_retired(open))
        return refuse(STATUS_GRAPHICS_ALLOCATION_INVALID, "ALLOC-122", /* KMT-310 */
                      "element %u of the allocation list, handle 0x%x, is a retired instance: work "
                      "submitted before uses a newer one",
                      i, reference->handle);
    if (vidsch_is_1x(device->vidsch) && vidmm_open_locked(open) &&
        !vidmm_open_may_leave_memory(open)) /* RES-008 */
        return refuse(STATUS_GRAPHICS_CANT_RENDER_LOCKED_ALLOCATION, "PATCH-079",
                      "element %u of the allocation list, handle 0x%x, is locked, and it is pinned "
                      "or its segment set has no aperture to which it could move",
                      i, reference->handle);
    return STATUS_SUCCESS;
}
