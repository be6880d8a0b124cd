/* SPDX-License-Identifier: MIT */
#include "port/support/full_display.h"
#include "sim/machine.h"

#include <string.h>

#define PRIMARY 0x7072696du /* in the private data of shared primaries, behind their size */

struct full_record full_seen;
struct full_answers full;

D3DKMDT_VIDPN_TARGET_MODE full_target_mode(UINT width, UINT height, UINT hertz)
{
    D3DKMDT_VIDPN_TARGET_MODE mode = display_target_mode(width, height);
    const UINT columns = width + 160, lines = height + 30;

    mode.VideoSignalInfo.TotalSize = (D3DKMDT_2DREGION){columns, lines};
    mode.VideoSignalInfo.VSyncFreq = (D3DDDI_RATIONAL){hertz, 1};
    mode.VideoSignalInfo.HSyncFreq = (D3DDDI_RATIONAL){hertz * lines, 1};
    mode.VideoSignalInfo.PixelRate = (SIZE_T)hertz * lines * columns;
    return mode;
}

static void describe(struct probe *p, struct probe_call *call)
{
    DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *args =
        (DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *)(uintptr_t)call->arg[1];
    const D3DKMDT_SHAREDPRIMARYSURFACEDATA *surface = args->pCreateSharedPrimarySurfaceData;

    (void)p;
    if (args->StandardAllocationType != D3DKMDT_STANDARDALLOCATION_SHAREDPRIMARYSURFACE)
        return;
    call->answered = true;
    call->result = (uint64_t)full.described_status;
    full_seen.described++;
    full_seen.surface = *surface;
    if (!args->pAllocationPrivateDriverData && !args->pResourcePrivateDriverData) {
        args->AllocationPrivateDriverDataSize = 16;
        args->ResourcePrivateDriverDataSize = 4;
    } else {
        const uint64_t data[2] = {(uint64_t)surface->Width * surface->Height * 4, PRIMARY};
        const UINT word = 0x7265736f;

        memcpy(args->pAllocationPrivateDriverData, data, sizeof(data));
        memcpy(args->pResourcePrivateDriverData, &word, sizeof(word));
    }
    if (full.in_described)
        full.in_described(args);
}

static bool is_primary(const DXGK_ALLOCATIONINFO *info)
{
    uint64_t data[2];

    if (info->PrivateDriverDataSize != sizeof(data))
        return false;
    memcpy(data, info->pPrivateDriverData, sizeof(data));
    return data[1] == PRIMARY;
}

static void created(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->NumAllocations || !is_primary(&args->pAllocationInfo[0]))
        return;
    full_seen.created++;
    full_seen.primary = args->pAllocationInfo[0].hAllocation;
    full_seen.create_flags = args->Flags;
    full_seen.create_resource = args->hResource;
    full_seen.create_count = args->NumAllocations;
    full_seen.private_bytes = args->pAllocationInfo[0].PrivateDriverDataSize;
    full_seen.resource_bytes = args->PrivateDriverDataSize;
    if (full.in_create)
        full.in_create(&args->pAllocationInfo[0]);
}

static void address(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETVIDPNSOURCEADDRESS *args = (const DXGKARG_SETVIDPNSOURCEADDRESS *)(uintptr_t)
                                                    call->arg[1];

    (void)p;
    full_seen.address[full_seen.addresses++ % FULL_CALLS] = (struct full_address){
        .source = args->VidPnSourceId,
        .segment = args->PrimarySegment,
        .address = (uint64_t)args->PrimaryAddress.QuadPart,
        .allocation = args->hAllocation,
        .contexts = args->ContextCount,
        .context = args->Context[0],
        .flags = args->Flags.Value,
        .duration = args->Duration,
        .irql = sim_current->irql};
    call->answered = true;
    call->result = (uint64_t)full.address_status;
}

static void in_commit(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                      const DXGK_VIDPN_INTERFACE *vidpn)
{
    (void)p;
    (void)vidpn;
    full_seen.committed[(display_seen.commits - 1) % FULL_CALLS] = args->hPrimaryAllocation;
}

static NTSTATUS entry(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    display_outputs(p);
    return DxgkInitialize(object, path, &p->table);
}

struct probe *full_display_create(const struct probe_options *options)
{
    static const enum probe_ddi entries[] = {PROBE_SetVidPnSourceAddress, PROBE_Present,
                                             PROBE_GetScanLine, PROBE_ControlInterrupt};
    struct probe *p = probe_create(options);
    const DXGK_DRIVERCAPS caps = p->caps;

    display_prepare(p);
    p->caps = caps;
    p->caps.SupportNonVGA = p->caps.SupportSmoothRotation = p->caps.SupportDirectFlip = TRUE;
    p->caps.MaxQueuedFlipOnVSync = 1;
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        probe_set_entry(p, entries[i], true);
    memset(&full, 0, sizeof(full));
    memset(&full_seen, 0, sizeof(full_seen));
    display.target_mode[0] = full_target_mode(1024, 768, 60);
    display.target_mode[0].WireFormatAndPreference.Preference = D3DKMDT_MP_PREFERRED;
    display.in_commit = in_commit;
    p->driver_entry = entry;
    p->before[PROBE_GetStandardAllocationDriverData] = describe;
    p->after[PROBE_CreateAllocation] = created;
    p->before[PROBE_SetVidPnSourceAddress] = address;
    return p;
}
