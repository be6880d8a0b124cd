/* SPDX-License-Identifier: MIT */
/* The full driver: flips, and vertical syncs of the display engine. Its device says what it scans
 * out. */
#include "bus/device_record.h"
#include "bus/memory.h"
#include "port/support/client.h"
#include "port/support/full_display.h"
#include "port/support/mistaken_parts.h"

#include <string.h>

#define PRIMARIES 3u
#define FLIPS     8u

static struct probe_gpu gpu;
static D3DKMT_HANDLE primary[PRIMARIES];

/* ---- what it reports ---- */

static DXGKCB_NOTIFY_INTERRUPT notify_host;

static void NTAPI notify(IN_CONST_HANDLE adapter, IN_CONST_PDXGKARGCB_NOTIFY_INTERRUPT_DATA told)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = *told;

    if (data.InterruptType == DXGK_INTERRUPT_CRTC_VSYNC) {
        if (mistaken_is(MISTAKE_SYNC_NEVER))
            return;
        if (mistaken_is(MISTAKE_SYNC_ADDRESS))
            data.CrtcVsync.PhysicalAddress.QuadPart += 4096;
        if (mistaken_is(MISTAKE_SYNC_ZERO))
            data.CrtcVsync.PhysicalAddress.QuadPart = 0;
        if (mistaken_is(MISTAKE_SYNC_TARGET))
            data.CrtcVsync.VidPnTargetId = 99;
        if (mistaken_is(MISTAKE_SYNC_OTHER))
            data.CrtcVsync.VidPnTargetId = DISPLAY_CHILD + 1;
        if (mistaken_is(MISTAKE_SYNC_TYPE))
            data.InterruptType = DXGK_INTERRUPT_DISPLAYONLY_VSYNC;
    }
    notify_host(adapter, &data);
}

static void started(struct probe *p, struct probe_call *call)
{
    struct probe_adapter *a = probe_adapter_of(p, call->arg[0]);

    notify_host = a->dxgk.DxgkCbNotifyInterrupt;
    a->dxgk.DxgkCbNotifyInterrupt = notify;
}

static probe_hook *address_default;

static void address(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETVIDPNSOURCEADDRESS *args = (const DXGKARG_SETVIDPNSOURCEADDRESS *)(uintptr_t)
                                                    call->arg[1];
    const struct probe_adapter *a = &p->state[0];
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    address_default(p, call);
    if (args->Flags.ModeChange)
        full_engine.latched = (uint64_t)args->PrimaryAddress.QuadPart; /* at once */
    else if (mistaken_is(MISTAKE_FLIP_FAILS))
        call->result = (uint64_t)STATUS_UNSUCCESSFUL;
    if (args->Flags.ModeChange || !mistaken_is(MISTAKE_FLIP_EARLY))
        return;
    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_CRTC_VSYNC;
    data.CrtcVsync.VidPnTargetId = DISPLAY_CHILD;
    data.CrtcVsync.PhysicalAddress = args->PrimaryAddress;
    a->dxgk.DxgkCbNotifyInterrupt(a->dxgk.DeviceHandle, &data);
    (void)a->dxgk.DxgkCbQueueDpc(a->dxgk.DeviceHandle);
}

static void describe(struct probe *p, struct probe_call *call)
{
    DXGKARG_DESCRIBEALLOCATION *args = (DXGKARG_DESCRIBEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    args->Width = 1024;
    args->Height = 768;
    args->Format = D3DDDIFMT_X8R8G8B8;
    call->answered = true;
}

/* Until full_engine_start. */
static void control(struct probe *p, struct probe_call *call)
{
    (void)p;
    if ((int)call->arg[1] == DXGK_INTERRUPT_CRTC_VSYNC)
        return;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_NOT_IMPLEMENTED;
}

static void created(DXGK_ALLOCATIONINFO *info)
{
    if (mistaken_is(MISTAKE_CACHED))
        info->FlagsWddm2.Cached = 1;
    if (mistaken_is(MISTAKE_HIDDEN))
        info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = 4;
}

/* ---- what its device scans out ---- */

static enum dxgk_scanout_state scan_out(void *device, unsigned output, struct dxgk_scanout *scanout)
{
    const uint8_t *memory = NULL;

    for (unsigned bar = 0; !memory && bar < DXGK_DEVICE_BARS; bar++)
        memory = bus_device_memory(probe->device[0], bar);
    (void)device;
    if (output || !memory || !full_engine.latched)
        return DXGK_SCANOUT_FIRMWARE;
    *scanout = (struct dxgk_scanout){.width = 1024,
                                     .height = 768,
                                     .pitch = 4096,
                                     .pixels = memory + full_engine.latched,
                                     .bytes = (size_t)4096 * 768};
    return DXGK_SCANOUT_ON;
}

static const struct dxgk_device_outputs outputs = {.count = 2, .scanout = scan_out};

struct probe *mistaken_full_create(const struct probe_options *options)
{
    struct probe *p = full_display_create(options);

    display.outputs = 2;
    display.connected[1] = false;
    full.in_create = created;
    if (mistaken_is(MISTAKE_HIDDEN)) {
        p->segment[2] = p->segment[0];
        p->segment[2].Flags.CpuVisible = 0;
        p->segment[2].BaseAddress.QuadPart = 2ll << 32;
        p->segments = 3;
    }
    p->before[PROBE_ControlInterrupt] = control;
    p->after[PROBE_StartDevice] = started;
    p->before[PROBE_DescribeAllocation] = describe;
    address_default = p->before[PROBE_SetVidPnSourceAddress];
    p->before[PROBE_SetVidPnSourceAddress] = address;
    return p;
}

/* ---- its life ---- */

static NTSTATUS create(D3DKMT_HANDLE *handle)
{
    const uint64_t bytes = 1024 * 768 * 4;
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION args;
    NTSTATUS status;

    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    info.pPrivateDriverData = (void *)(uintptr_t)&bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    info.Flags.Primary = 1;
    args.hDevice = gpu.device;
    args.NumAllocations = 1;
    args.pAllocationInfo2 = &info;
    status = D3DKMTCreateAllocation2(&args);
    *handle = info.hAllocation;
    return status;
}

static void flip_some(void)
{
    D3DKMT_PRESENT args;

    for (UINT i = 0; i < FLIPS; i++) {
        memset(&args, 0, sizeof(args));
        args.hContext = gpu.context;
        args.hSource = primary[i % PRIMARIES];
        args.FlipInterval = D3DDDI_FLIPINTERVAL_ONE;
        args.Flags.Flip = 1;
        (void)D3DKMTPresent(&args);
        probe_sleep(i % 4 * 9000000);
    }
    probe_sleep(100000000);
}

static void flip(struct probe *p)
{
    const D3DKMT_VIDPNSOURCEOWNER_TYPE type = D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE;
    const UINT source = 0;
    const D3DKMT_SETVIDPNSOURCEOWNER own = {
        .hDevice = gpu.device, .pType = &type, .pVidPnSourceId = &source, .VidPnSourceCount = 1};
    const D3DKMT_SETDISPLAYMODE mode = {.hDevice = gpu.device, .hPrimaryAllocation = primary[0]};

    (void)D3DKMTSetVidPnSourceOwner(&own);
    (void)D3DKMTSetDisplayMode(&mode);
    flip_some();
    (void)display_power(display_modes(p), DISPLAY_CHILD, false);
    flip_some();
    (void)display_power(display_modes(p), DISPLAY_CHILD, true);
    flip_some();
}

static void live(struct probe *p)
{
    (void)display_ask_mode(p, 0, 800, 600, 0);
    (void)display_ask_mode(p, 0, 1024, 768, 0);
    full_engine_start(p);
    if (NT_SUCCESS(probe_gpu_begin(&gpu))) {
        bool sound = true;

        for (UINT i = 0; i < PRIMARIES; i++)
            sound &= NT_SUCCESS(create(&primary[i]));
        if (sound)
            flip(p);
        (void)probe_gpu_end(&gpu);
    }
    full_engine_stop();
    display_indicate(p, 0, false);
    display_indicate(p, 0, true);
}

void mistaken_full_live(struct probe *p)
{
    memset(&full_engine, 0, sizeof(full_engine));
    probe_clients_begin(p);
    if (probe_start(p) == STATUS_SUCCESS) {
        p->adapter[0]->device->outputs = &outputs;
        probe_client_end(p, probe_client_run(p, live));
    }
    probe_clients_end(p);
    (void)probe_stop(p);
}
