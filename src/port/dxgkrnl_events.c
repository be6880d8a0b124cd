/* SPDX-License-Identifier: MIT */
#include "port/dxgkrnl_events.h"
#include "port/record/adapter_info.h"
#include "port/record/adapter_record.h"
#include "vidmm/vidmm.h"
#include "vidsch/dxgkrnl_objects.h"
#include "wintrace/emit.h"

#define ADAPTER_RENDERS 1u  /* AdapterType, as D3DKMT_ADAPTERTYPE has its bits */
#define FIELDS          28u /* of the event */

static void tell(const struct port_adapter *adapter, enum wintrace_emitted kind)
{
    const DXGK_DRIVERCAPS *caps = &adapter->caps.driver;
    const UINT nodes = adapter->nodes.count;
    const uint64_t number = adapter->ddi.handles.adapter;
    uint64_t value[FIELDS + PORT_MAX_NODES] = {
        wintrace_handle(WINTRACE_DEVICE_OBJECT, number, number),
        wintrace_handle(WINTRACE_ADAPTER, number, number),
        0, /* no video present sources */
        (uint64_t)caps->HighestAcceptableAddress.QuadPart,
        caps->MaxAllocationListSlotId,
        caps->ApertureSegmentCommitLimit,
        caps->MaxPointerWidth,
        caps->MaxPointerHeight,
        caps->InterruptMessageNumber,
        caps->NumberOfSwizzlingRanges,
        caps->MaxOverlays,
        caps->MaxQueuedFlipOnVSync,
        caps->PointerCaps.Value,
        caps->GammaRampCaps.Value,
        caps->PresentationCaps.Value,
        caps->PresentationCaps.AlignmentShift,
        caps->PresentationCaps.MaxTextureWidthShift,
        caps->PresentationCaps.MaxTextureHeightShift,
        0,
        caps->FlipCaps.Value,
        caps->SchedulingCaps.Value,
        caps->MemoryManagementCaps.Value,
        adapter->caps.physical.PagingNodeIndex,
        nodes,
    };

    /* a topology, reserved, for each node; then power components, type, the driver's context */
    value[24 + nodes + 1] = ADAPTER_RENDERS;
    wintrace_record(kind, value, 24 + (size_t)nodes + 3);
}

void port_tell_start(const struct port_adapter *adapter)
{
    if (wintrace_on())
        tell(adapter, WINTRACE_ADAPTER_START);
}

void port_tell_stop(const struct port_adapter *adapter)
{
    if (wintrace_on())
        tell(adapter, WINTRACE_ADAPTER_STOP);
}

void port_tell_all(struct port *port)
{
    struct port_adapter *adapter = wintrace_on() ? port_adapter_first(port) : NULL;

    for (; adapter; adapter = port_adapter_next(adapter)) {
        if (adapter->state != PORT_STARTED || !port_adapter_vidmm(adapter) ||
            !port_adapter_vidsch(adapter))
            continue;
        tell(adapter, WINTRACE_ADAPTER_LISTED);
        vidmm_tell_all(port_adapter_vidmm(adapter));
        vidsch_tell_all(port_adapter_vidsch(adapter));
    }
}
