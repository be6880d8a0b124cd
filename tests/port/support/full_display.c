/* SPDX-License-Identifier: MIT */
#include "port/support/full_display.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "support/test.h"

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

        /* as much as it has said before, which a test may have changed */
        if (args->AllocationPrivateDriverDataSize >= sizeof(data))
            memcpy(args->pAllocationPrivateDriverData, data, sizeof(data));
        if (args->ResourcePrivateDriverDataSize >= sizeof(word))
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
    full_engine.pending = (uint64_t)args->PrimaryAddress.QuadPart;
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

/* ---- the display engine ---- */

struct full_engine full_engine;

static void control(struct probe *p, struct probe_call *call)
{
    (void)p;
    CHECK((int)call->arg[1] == DXGK_INTERRUPT_CRTC_VSYNC);
    full_engine.enabled = (call->arg[2] & 0xFF) != 0;
    full_engine.enables += full_engine.enabled;
    full_engine.disables += !full_engine.enabled;
    call->answered = true;
}

static bool due;

static void interrupt(struct probe *p, struct probe_call *call)
{
    struct probe_adapter *a = &p->state[0];
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    if (!due)
        return;
    due = false;
    (void)READ_REGISTER_ULONG(a->registers + PROBE_REG_STATUS / 4);
    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_CRTC_VSYNC;
    data.CrtcVsync.VidPnTargetId = full_engine.target;
    data.CrtcVsync.PhysicalAddress.QuadPart = (LONGLONG)full_engine.latched;
    if (full_engine.tell)
        full_engine.tell(&data);
    a->dxgk.DxgkCbNotifyInterrupt(a->dxgk.DeviceHandle, &data);
    (void)a->dxgk.DxgkCbQueueDpc(a->dxgk.DeviceHandle);
    call->answered = true;
    call->result = TRUE;
}

static void engine_main(void *arg)
{
    (void)arg;
    while (!full_engine.ends) {
        sim_block(sim_now() + 16666667, NULL);
        if (!full_engine.stuck)
            full_engine.latched = full_engine.pending;
        if (full_engine.latch)
            full_engine.latch();
        full_engine.ticks++;
        if (!full_engine.enabled || full_engine.silent || full_engine.ends)
            continue;
        full_engine.reports++;
        due = true;
        probe_device_cause(0, 1, 0);
    }
    full_engine.runs = false;
}

void full_engine_start(struct probe *p)
{
    struct sim_thread *thread;

    full_engine = (struct full_engine){.runs = true, .target = DISPLAY_CHILD};
    if (full_seen.addresses)
        full_engine.pending = full_seen.address[(full_seen.addresses - 1) % FULL_CALLS].address;
    p->before[PROBE_InterruptRoutine] = interrupt;
    p->before[PROBE_ControlInterrupt] = control;
    thread = sim_thread_create("display engine", SIM_THREAD_KERNEL, engine_main, NULL);
    CHECK(thread != NULL);
    sim_thread_release(thread);
}

void full_engine_await(void)
{
    const UINT ticks = full_engine.ticks;

    while (full_engine.ticks == ticks)
        probe_sleep(100000);
}

void full_engine_stop(void)
{
    full_engine.ends = true;
    while (full_engine.runs)
        probe_sleep(1000000);
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
