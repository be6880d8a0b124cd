/* SPDX-License-Identifier: MIT */
/* What a client is told of a lack of memory. */
#include "verify/refusal.h"
#include "vidmm/record/vidmm_record.h"

NTSTATUS vidmm_host_is_full(void)
{
    if (refusal_current && refusal_current->status == STATUS_INSUFFICIENT_RESOURCES)
        return STATUS_NO_MEMORY;
    return refuse(STATUS_NO_MEMORY, NULL,
                  "no memory of the host, pages of RAM or IOMMU addresses are left for it");
}
