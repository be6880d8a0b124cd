/* SPDX-License-Identifier: MIT */
/* The driver: the probe's answers, of which some go wrong. */
#include "hostile_display_fuzz.h"

#include "sim/irql.h"

static struct {
    bool full;
    bool pending;     /* a present is to be reported */
    uint64_t address; /* that is shown, as the hardware has it */
    NTSTATUS (*present)(struct probe *p, const DXGKARG_PRESENT_DISPLAYONLY *args);
    probe_hook *before[PROBE_DDI_COUNT], *after[PROBE_DDI_COUNT]; /* of the sound driver */
} driver;

static void answer(struct probe_call *call)
{
    call->answered = true;
    call->result = (uint64_t)(uint32_t)display_any_status();
    rig_trace("  %s answers 0x%x", call->name, (unsigned)call->result);
}

/* ---- calls with a VidPN ---- */

static D3DKMDT_HVIDPN vidpn_of(const struct probe_call *call)
{
    const void *args = (const void *)(uintptr_t)call->arg[1];

    switch (call->ddi) {
    case PROBE_IsSupportedVidPn:
        return ((const DXGKARG_ISSUPPORTEDVIDPN *)args)->hDesiredVidPn;
    case PROBE_RecommendFunctionalVidPn:
        return ((const DXGKARG_RECOMMENDFUNCTIONALVIDPN *)args)->hRecommendedFunctionalVidPn;
    case PROBE_EnumVidPnCofuncModality:
        return ((const DXGKARG_ENUMVIDPNCOFUNCMODALITY *)args)->hConstrainingVidPn;
    case PROBE_CommitVidPn:
        return ((const DXGKARG_COMMITVIDPN *)args)->hFunctionalVidPn;
    case PROBE_QueryVidPnHWCapability:
        return ((const DXGKARG_QUERYVIDPNHWCAPABILITY *)args)->hFunctionalVidPn;
    default:
        return 0; /* with what it has kept */
    }
}

/* Sizes of the structures that calls hand back. */
static size_t size_of(const struct probe_call *call)
{
    switch (call->ddi) {
    case PROBE_QueryChildRelations:
        return (size_t)call->arg[2];
    case PROBE_QueryChildStatus:
        return sizeof(DXGK_CHILD_STATUS);
    case PROBE_IsSupportedVidPn:
        return sizeof(DXGKARG_ISSUPPORTEDVIDPN);
    case PROBE_RecommendFunctionalVidPn:
        return sizeof(DXGKARG_RECOMMENDFUNCTIONALVIDPN);
    case PROBE_QueryVidPnHWCapability:
        return sizeof(DXGKARG_QUERYVIDPNHWCAPABILITY);
    case PROBE_GetScanLine:
        return sizeof(DXGKARG_GETSCANLINE);
    case PROBE_DescribeAllocation:
        return sizeof(DXGKARG_DESCRIBEALLOCATION);
    default:
        return 0;
    }
}

static void wrong_before(struct probe_call *call)
{
    rig_trace("  %s goes wrong at %u", call->name, (unsigned)(rig.end - rig.at));
    if (vidpn_of(call) || call->ddi == PROBE_UpdateActiveVidPnPresentPath)
        display_calls(vidpn_of(call));
    if (rig_below(4) == 0)
        answer(call);
    if (rig_below(8) == 0)
        display_tell();
}

static void before(struct probe *p, struct probe_call *call)
{
    if (display_goes_wrong())
        wrong_before(call);
    if (driver.before[call->ddi] && !call->answered)
        driver.before[call->ddi](p, call);
}

static void after(struct probe *p, struct probe_call *call)
{
    const size_t bytes = size_of(call);

    if (driver.after[call->ddi])
        driver.after[call->ddi](p, call);
    if (!display_goes_wrong())
        return;
    if (bytes && rig_below(4))
        display_spoil((void *)(uintptr_t)call->arg[1], bytes);
    else
        call->result = (uint64_t)(uint32_t)display_any_status();
    rig_trace("  %s ends with 0x%x", call->name, (unsigned)call->result);
}

/* ---- monitors ---- */

static void put_sum(uint8_t *block)
{
    uint8_t sum = 0;

    for (unsigned i = 0; i < 127; i++)
        sum = (uint8_t)(sum + block[i]);
    block[127] = (uint8_t)-sum;
}

/* A block of which most bytes are those of an EDID. */
static void descriptor(struct probe *p, struct probe_call *call)
{
    static const uint8_t base[] = {0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0x4C, 0x2D, 1, 0};
    DXGK_DEVICE_DESCRIPTOR *args = (DXGK_DEVICE_DESCRIPTOR *)(uintptr_t)call->arg[2];
    uint8_t block[128] = {0};
    const unsigned how = rig_byte();

    (void)p;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_GRAPHICS_CHILD_DESCRIPTOR_NOT_SUPPORTED;
    if (how < 128)
        return;
    if (how >= 240) {
        answer(call);
        return;
    }
    if (args->DescriptorOffset == 0)
        memcpy(block, base, sizeof(base));
    else
        block[0] = how & 1 ? 2 : (uint8_t)rig_byte();
    block[18] = 1;
    block[19] = 3 + (how & 1);
    block[126] = (how >> 1) & 3;
    for (unsigned i = 0; i < (how & 31); i++)
        block[rig_byte() % 126] = (uint8_t)rig_byte();
    if (how & 32)
        put_sum(block);
    memcpy(args->DescriptorBuffer, block,
           args->DescriptorLength < sizeof(block) ? args->DescriptorLength : sizeof(block));
    call->result = STATUS_SUCCESS;
}

static void monitor_modes(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (!display_goes_wrong())
        return;
    display_call_monitor();
    display_calls(0);
    if (rig_below(4) == 0)
        answer(call);
}

/* ---- pictures ---- */

static NTSTATUS present(struct probe *p, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    (void)p;
    for (ULONG i = 0; i < args->NumDirtyRects; i++) {
        const RECT *r = &args->pDirtyRect[i];
        const volatile uint8_t *at = args->pSource;

        (void)at[(SIZE_T)(r->bottom - 1) * (SIZE_T)args->Pitch + (SIZE_T)(r->right - 1) * 4];
    }
    if (!display_goes_wrong())
        return STATUS_SUCCESS;
    switch (rig_below(4)) {
    case 0:
        display_tell();
        return STATUS_SUCCESS;
    case 1:
        return display_any_status();
    default:
        driver.pending = true;
        return STATUS_PENDING;
    }
}

/* ---- what it tells ---- */

static DXGKARGCB_NOTIFY_INTERRUPT_DATA told;

static BOOLEAN NTAPI notify(PVOID context)
{
    const DXGKRNL_INTERFACE *dxgk = &rig.p->state[0].dxgk;

    (void)context;
    dxgk->DxgkCbNotifyInterrupt(dxgk->DeviceHandle, &told);
    if (rig_below(8))
        (void)dxgk->DxgkCbQueueDpc(dxgk->DeviceHandle);
    return TRUE;
}

static void tell_progress(void)
{
    told.InterruptType = DXGK_INTERRUPT_DISPLAYONLY_PRESENT_PROGRESS;
    told.DisplayOnlyPresentProgress.VidPnSourceId = display_goes_wrong() ? (UINT)rig_number(1) : 0;
    told.DisplayOnlyPresentProgress.ProgressId =
        display_goes_wrong() ? (DXGK_PRESENT_DISPLAY_ONLY_PROGRESS_ID)rig_number(4)
                             : DXGK_PRESENT_DISPLAYONLY_PROGRESS_ID_COMPLETE;
    driver.pending = false;
}

static void tell_sync(void)
{
    told.InterruptType = DXGK_INTERRUPT_CRTC_VSYNC;
    told.CrtcVsync.VidPnTargetId = display_goes_wrong() ? display_any_target() : DISPLAY_CHILD;
    told.CrtcVsync.PhysicalAddress.QuadPart = (LONGLONG)(display_goes_wrong()
                                                             ? display_changed(driver.address, 8)
                                                             : driver.address);
}

/* An interrupt, or the state of a child. */
void display_tell(void)
{
    struct probe_adapter *a = &rig.p->state[0];
    const DXGKRNL_INTERFACE *dxgk = &a->dxgk;
    DXGK_CHILD_STATUS status;
    BOOLEAN result;

    if (!a->started || !dxgk->DxgkCbNotifyInterrupt)
        return;
    if (rig_below(3) == 0) {
        memset(&status, 0, sizeof(status));
        status.Type = rig_below(8) ? StatusConnection : (DXGK_CHILD_STATUS_TYPE)rig_below(8);
        status.ChildUid = display_any_target();
        status.HotPlug.Connected = (BOOLEAN)rig_below(2);
        (void)dxgk->DxgkCbIndicateChildStatus(dxgk->DeviceHandle, &status);
        return;
    }
    if (sim_irql() > DISPATCH_LEVEL)
        return;
    memset(&told, 0, sizeof(told));
    if (driver.full)
        tell_sync();
    else
        tell_progress();
    if (display_goes_wrong() && rig_below(8) == 0)
        told.InterruptType = (DXGK_INTERRUPT_TYPE)rig_below(24);
    if (told.InterruptType == DXGK_INTERRUPT_NATIVE_FENCE_SIGNALED)
        told.NativeFenceSignaled.pSignaledNativeFenceArray = NULL;
    rig_trace("  interrupt %d", (int)told.InterruptType);
    (void)dxgk->DxgkCbSynchronizeExecution(dxgk->DeviceHandle, notify, NULL, 0, &result);
}

static void address(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETVIDPNSOURCEADDRESS *args = (const DXGKARG_SETVIDPNSOURCEADDRESS *)(uintptr_t)
                                                    call->arg[1];

    driver.address = (uint64_t)args->PrimaryAddress.QuadPart;
    before(p, call);
}

/* ---- the frame buffer ---- */

static void started(struct probe *p, struct probe_call *call)
{
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    DXGK_DISPLAY_INFORMATION info;

    if (!driver.full && rig_below(2))
        (void)dxgk->DxgkCbAcquirePostDisplayOwnership(dxgk->DeviceHandle,
                                                      rig_below(8) ? &info : NULL);
    if (display_goes_wrong() && rig_below(8) == 0)
        call->result = (uint64_t)(uint32_t)display_any_status();
}

static void release(struct probe *p, struct probe_call *call)
{
    driver.before[call->ddi](p, call);
    if (display_goes_wrong())
        display_spoil((void *)(uintptr_t)call->arg[2], sizeof(DXGK_DISPLAY_INFORMATION));
    if (display_goes_wrong())
        answer(call);
}

/* ---- allocations ---- */

static void describe(struct probe *p, struct probe_call *call)
{
    DXGKARG_DESCRIBEALLOCATION *args = (DXGKARG_DESCRIBEALLOCATION *)(uintptr_t)call->arg[1];

    args->Width = 1024;
    args->Height = 768;
    args->Format = D3DDDIFMT_X8R8G8B8;
    call->answered = true;
    before(p, call);
}

static void standard(DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *args)
{
    if (!display_goes_wrong())
        return;
    if (rig_below(2))
        full.described_status = display_any_status();
    else if (!args->pAllocationPrivateDriverData)
        args->AllocationPrivateDriverDataSize = (UINT)rig_number(2);
}

static void primary_created(DXGK_ALLOCATIONINFO *info)
{
    if (display_goes_wrong())
        display_spoil(info, sizeof(*info));
    info->Size &= 0xFFFFFFF; /* gigabytes are allocated as asked */
}

/* ---- who it is ---- */

static void spoil_children(struct probe *p)
{
    for (unsigned i = 0; i < 3; i++) {
        if (!display_goes_wrong())
            continue;
        p->child[i].ChildDeviceType = (DXGK_CHILD_DEVICE_TYPE)(rig_below(4));
        p->child[i].ChildUid = display_any_target();
        p->child[i].ChildCapabilities.HpdAwareness = (DXGK_CHILD_DEVICE_HPD_AWARENESS)rig_below(6);
        p->child[i].ChildCapabilities.Type.VideoOutput.InterfaceTechnology =
            (D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY)rig_below(20);
        p->child[i].ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness =
            (D3DKMDT_MONITOR_ORIENTATION_AWARENESS)rig_below(5);
    }
}

static void spoil_modes(void)
{
    if (driver.full) {
        display.target_mode[1] = full_target_mode(800, 600, 75);
        display.target_modes = 2;
    }
    if (display_goes_wrong())
        display_spoil(&display.source_mode[rig_below(3)], sizeof(display.source_mode[0]));
    if (display_goes_wrong())
        display_spoil(&display.target_mode[0], sizeof(display.target_mode[0]));
    if (display_goes_wrong())
        display.supported = FALSE;
    for (unsigned i = 0; i < 4; i++)
        display.connected[i] = !display_goes_wrong();
}

void display_driver(struct probe *p, bool is_full)
{
    static const enum probe_ddi any[] = {PROBE_IsSupportedVidPn,
                                         PROBE_RecommendFunctionalVidPn,
                                         PROBE_EnumVidPnCofuncModality,
                                         PROBE_CommitVidPn,
                                         PROBE_QueryVidPnHWCapability,
                                         PROBE_UpdateActiveVidPnPresentPath,
                                         PROBE_QueryChildStatus,
                                         PROBE_SetVidPnSourceVisibility,
                                         PROBE_SetPointerShape,
                                         PROBE_SetPointerPosition,
                                         PROBE_ControlInterrupt,
                                         PROBE_GetScanLine,
                                         PROBE_Present,
                                         PROBE_QueryChildRelations};

    memset(&driver, 0, sizeof(driver));
    driver.full = is_full;
    for (unsigned i = 0; i < PROBE_DDI_COUNT; i++) {
        driver.before[i] = p->before[i];
        driver.after[i] = p->after[i];
    }
    for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++) {
        p->before[any[i]] = before;
        p->after[any[i]] = after;
    }
    p->before[PROBE_QueryDeviceDescriptor] = descriptor;
    p->before[PROBE_RecommendMonitorModes] = monitor_modes;
    p->before[PROBE_DescribeAllocation] = describe;
    p->before[PROBE_StopDeviceAndReleasePostDisplayOwnership] = release;
    p->after[PROBE_StartDevice] = started;
    display.in_present = present;
    if (is_full) {
        p->before[PROBE_SetVidPnSourceAddress] = address;
        full.in_described = standard;
        full.in_create = primary_created;
    }
    spoil_children(p);
    spoil_modes();
}
