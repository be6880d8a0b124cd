/* SPDX-License-Identifier: MIT */
/* A failure of any of these queries is an answer: the driver leaves the choice to the host, or has
 * no such thing. */
#include <string.h>

#include "port/query/later_types.h"
#include "port/query/query.h"
#include "port/record/adapter_record.h"
#include "util/address.h"
#include "util/checked.h"

#include <dxgk_wddm3_2.h>

/* GPUVA-228 */
static void query_paging_space(struct port_adapter *adapter)
{
    const UINT physical_adapter = 0;
    UINT megabytes = 0;

    if (NT_SUCCESS(port_query(adapter, DXGKQAITYPE_PAGINGPROCESSGPUVASIZE, &physical_adapter,
                              sizeof(physical_adapter), &megabytes, sizeof(megabytes))))
        adapter->caps.paging_space_mb = megabytes;
}

static void query_tracked_segment(struct port_adapter *adapter, UINT id)
{
    DXGK_DIRTY_BIT_TRACKING_SEGMENT_CAPS caps = {0};

    if (!NT_SUCCESS(port_query(adapter, DXGKQAITYPE_DIRTYBITTRACKINGSEGMENTCAPS, &id, sizeof(id),
                               &caps, sizeof(caps))))
        return;
    if (caps.PageSize < PAGE_BYTES || (caps.PageSize & (caps.PageSize - 1)) != 0)
        VIOLATION("CAPS-120",
                  "segment %u: dirty bits are of pages of %u bytes: no power of two from 4096 on",
                  id, caps.PageSize);
}

static void query_dirty_bits(struct port_adapter *adapter)
{
    DXGK_DIRTY_BIT_TRACKING_CAPS caps = {.Value = 0};

    if (!NT_SUCCESS(
            port_query(adapter, DXGKQAITYPE_DIRTYBITTRACKINGCAPS, NULL, 0, &caps, sizeof(caps))))
        return;
    if (caps.Reserved)
        VIOLATION("CAPS-120", "reserved bits of DXGK_DIRTY_BIT_TRACKING_CAPS are set: 0x%x",
                  caps.Value);
    for (UINT i = 0; caps.DirtyBitTrackingSupported && i < adapter->segments.count; i++)
        if (!port_segment(adapter, i)->Flags.Aperture)
            query_tracked_segment(adapter, i + 1);
}

/* CAPS-121 */
static void query_native_fences(struct port_adapter *adapter)
{
    DXGK_NATIVE_FENCE_CAPS *caps = &adapter->caps.native_fence;

    if (adapter->caps.driver.SchedulingCaps.NativeGpuFence &&
        !NT_SUCCESS(port_query(adapter, DXGKQAITYPE_NATIVE_FENCE_CAPS, NULL, 0, caps, sizeof(*caps))))
        memset(caps, 0, sizeof(*caps));
}

/* CAPS-121. The doorbells of a queue are whole pages, since they are mapped for a process. */
static void query_user_mode(struct port_adapter *adapter)
{
    DXGK_USERMODESUBMISSION_CAPS *caps = &adapter->caps.user_mode;

    if (!ddi_feature_granted(&adapter->ddi, DXGK_FEATURE_USER_MODE_SUBMISSION))
        return;
    if (!NT_SUCCESS(
            port_query(adapter, DXGKQAITYPE_USERMODESUBMISSION_CAPS, NULL, 0, caps, sizeof(*caps))))
        memset(caps, 0, sizeof(*caps));
    if (caps->DoorbellSizeInBytes > DXGK_MAX_DOORBELL_SIZE_BYTES ||
        caps->SecondaryDoorbellSizeInBytes > DXGK_MAX_DOORBELL_SIZE_BYTES) {
        VIOLATION("SUBMIT-122", "doorbells of %u and %u bytes, at most %u are possible",
                  caps->DoorbellSizeInBytes, caps->SecondaryDoorbellSizeInBytes,
                  DXGK_MAX_DOORBELL_SIZE_BYTES);
        memset(caps, 0, sizeof(*caps));
    }
}

NTSTATUS port_later_types_query(struct port_adapter *adapter)
{
    adapter->caps.paging_space_mb = 0;
    memset(&adapter->caps.native_fence, 0, sizeof(adapter->caps.native_fence));
    memset(&adapter->caps.user_mode, 0, sizeof(adapter->caps.user_mode));
    if (!adapter->port->config.wddm_3_2 ||
        port_driver_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM3_1)
        return STATUS_SUCCESS;
    if (adapter->caps.gpu_mmu)
        query_paging_space(adapter);
    query_dirty_bits(adapter);
    query_native_fences(adapter);
    query_user_mode(adapter);
    return STATUS_SUCCESS;
}
