/* SPDX-License-Identifier: MIT */
/* Escapes: to the driver, and those that address the host itself (KMT-421 to KMT-456). */
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "ddi/ddi.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "port/record/adapter_info.h"
#include "port/running/display.h"
#include "port/running/power.h"
#include "sim/fault.h"
#include "util/address.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/process.h"
#include "vidsch/client.h"
#include "vidsch/vidsch.h"

#define PRIVATE_ALIGNMENT 16u            /* KMT-425 */
#define IDLE_LIMIT        60000000000ull /* THREAD-037 */

struct escape {
    const D3DKMT_ESCAPE *args;
    struct kmt_adapter *adapter;
    struct kmt_device *device;      /* or NULL */
    struct vidsch_context *context; /* or NULL */
};

/* KMT-422, KMT-423. */

static NTSTATUS refuse_size(const D3DKMT_ESCAPE *args, size_t wanted)
{
    return refuse(STATUS_INVALID_PARAMETER, NULL, "private data of %u bytes, %zu are wanted",
                  args->PrivateDriverDataSize, wanted);
}
static NTSTATUS find_objects(struct kmt_call *call, struct escape *e)
{
    const D3DKMT_ESCAPE *args = e->args;

    e->adapter = kmt_handle_adapter(call, args->hAdapter);
    if (!e->adapter)
        return STATUS_INVALID_PARAMETER;
    if (args->hContext && !args->hDevice)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "hContext 0x%x without hDevice",
                      args->hContext);
    if (args->hDevice) {
        e->device = kmt_handle_device(call, args->hDevice);
        if (!e->device || e->device->adapter != e->adapter)
            return refuse(STATUS_INVALID_PARAMETER, "KMT-026",
                          "hDevice 0x%x is no device of hAdapter 0x%x", args->hDevice,
                          args->hAdapter);
    }
    if (args->hContext) {
        e->context = kmt_handle_context(call, args->hContext);
        if (!e->context || vidsch_context_device(e->context) != e->device->sch)
            return refuse(STATUS_INVALID_PARAMETER, "KMT-026",
                          "hContext 0x%x is no context of hDevice 0x%x", args->hContext,
                          args->hDevice);
    }
    return STATUS_SUCCESS;
}

/* ---- to the driver ---- */

/* KMT-123, KMT-424: a faulted device may still be asked for diagnostics. */
static NTSTATUS check_life(const struct escape *e)
{
    NTSTATUS status = kmt_adapter_check(e->adapter);

    if (!NT_SUCCESS(status) || !e->device)
        return status;
    return vidsch_device_check(e->device->sch, true) == STATUS_DEVICE_REMOVED
               ? STATUS_DEVICE_REMOVED
               : STATUS_SUCCESS;
}

/* KMT-429, THREAD-026: with HardwareAccess the GPU is idle and stays so until the driver
 * returns. */
static NTSTATUS call_idle(const struct escape *e, const DXGKARG_ESCAPE *args)
{
    struct vidsch *vidsch = port_adapter_vidsch(e->adapter->port);
    NTSTATUS status = vidsch ? vidsch_stand_still(vidsch, IDLE_LIMIT, "DxgkDdiEscape")
                             : STATUS_SUCCESS;

    if (!NT_SUCCESS(status))
        return status;
    status = ddi_escape(port_adapter_ddi(e->adapter->port), args);
    if (vidsch)
        vidsch_go_on(vidsch);
    return status;
}

static NTSTATUS call_driver(const struct escape *e, void *data)
{
    DXGKARG_ESCAPE args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hDevice = e->device ? vidsch_device_driver_handle(e->device->sch) : NULL;
    args.Flags = e->args->Flags;
    args.pPrivateDriverData = data;
    args.PrivateDriverDataSize = e->args->PrivateDriverDataSize;
    args.hContext = e->context ? vidsch_context_driver_handle(e->context) : NULL;
    args.hKmdProcessHandle = e->adapter->mm ? vidmm_process_driver_handle(e->adapter->mm) : NULL;
    if (args.Flags.NoAdapterSynchronization) /* LIFE-139: as the adapter is, asleep perhaps */
        return ddi_escape(port_adapter_ddi(e->adapter->port), &args);
    status = port_adapter_power_hold(e->adapter->port); /* KMT-432 */
    if (!NT_SUCCESS(status))
        return status;
    status = args.Flags.HardwareAccess ? call_idle(e, &args)
                                       : ddi_escape(port_adapter_ddi(e->adapter->port), &args);
    port_adapter_power_release(e->adapter->port);
    return status;
}

static NTSTATUS driver_private(const struct escape *e)
{
    const D3DKMT_ESCAPE *args = e->args;
    NTSTATUS status = check_life(e);
    void *block = NULL, *data = NULL;

    if (!NT_SUCCESS(status))
        return status;
    if (!ddi_has(port_adapter_ddi(e->adapter->port), DxgkDdiEscape))
        return refuse(STATUS_NOT_SUPPORTED, "KMT-428", "the driver has no DxgkDdiEscape");
    if (args->PrivateDriverDataSize) {
        block = util_alloc(args->PrivateDriverDataSize + PRIVATE_ALIGNMENT);
        if (!block)
            return STATUS_NO_MEMORY;
        data = (void *)align_up((uintptr_t)block, PRIVATE_ALIGNMENT);
        if (!sim_copy_checked(data, args->pPrivateDriverData, args->PrivateDriverDataSize))
            status = kmt_client_refuse(args->pPrivateDriverData, args->PrivateDriverDataSize,
                                       "read");
    }
    if (NT_SUCCESS(status))
        status = call_driver(e, data);
    if (NT_SUCCESS(status) &&
        !kmt_client_put(args->pPrivateDriverData, data, args->PrivateDriverDataSize))
        status = STATUS_INVALID_PARAMETER;
    util_free(block);
    return status;
}

/* KMT-429 to KMT-432. */
static NTSTATUS check_flags(const D3DKMT_ESCAPE *args)
{
    D3DDDI_ESCAPEFLAGS f = args->Flags;

    if (args->Type != D3DKMT_ESCAPE_DRIVERPRIVATE)
        return f.Value ? refuse(STATUS_INVALID_PARAMETER, NULL, "Flags 0x%x with escape type %d",
                                f.Value, (int)args->Type)
                       : STATUS_SUCCESS;
    if (f.DeviceStatusQuery || f.ChangeFrameLatency || f.VirtualMachineData || f.Reserved ||
        f.Reserved2)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "reserved bits in Flags 0x%x", f.Value);
    if (f.HardwareAccess && f.NoAdapterSynchronization)
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "HardwareAccess together with NoAdapterSynchronization");
    return STATUS_SUCCESS;
}

/* ---- to the host ---- */

static NTSTATUS force_timeout(const struct escape *e, const D3DKMT_TDRDBGCTRL_ESCAPE *control,
                              UINT bytes)
{
    struct vidsch *vidsch = port_adapter_vidsch(e->adapter->port);
    NTSTATUS status = kmt_adapter_check(e->adapter);

    if (!NT_SUCCESS(status))
        return status;
    if (!vidsch && (control->TdrControl == D3DKMT_TDRDBGCTRLTYPE_FORCEDODTDR ||
                    control->TdrControl == D3DKMT_TDRDBGCTRLTYPE_FORCEDODVSYNCTDR))
        return port_display_force_recovery(e->adapter->port); /* PRES-307 */
    if (!vidsch)
        return kmt_adapter_refuse_display_only("it has no engines to reset");
    switch (control->TdrControl) {
    case D3DKMT_TDRDBGCTRLTYPE_FORCETDR:
    case D3DKMT_TDRDBGCTRLTYPE_GPUTDR:
        return vidsch_force_reset(vidsch, true); /* TDR-079 */
    case D3DKMT_TDRDBGCTRLTYPE_ENGINETDR:
        if (bytes != sizeof(*control) ||
            control->NodeOrdinal >= port_adapter_nodes(e->adapter->port))
            return refuse(STATUS_INVALID_PARAMETER, "KMT-444",
                          "a control of %u bytes for node %u, the adapter has %u nodes", bytes,
                          (UINT)control->NodeOrdinal, (UINT)port_adapter_nodes(e->adapter->port));
        return vidsch_force_engine_reset(vidsch, control->NodeOrdinal);
    case D3DKMT_TDRDBGCTRLTYPE_DISABLEBREAK:
    case D3DKMT_TDRDBGCTRLTYPE_ENABLEBREAK:
    case D3DKMT_TDRDBGCTRLTYPE_UNCONDITIONAL:
        return STATUS_SUCCESS;
    case D3DKMT_TDRDBGCTRLTYPE_VSYNCTDR: /* PRES-307 */
        return port_adapter_sources(e->adapter->port)
                   ? vidsch_force_reset(vidsch, true)
                   : refuse(STATUS_NOT_SUPPORTED, "KMT-444", "the adapter has no display");
    case D3DKMT_TDRDBGCTRLTYPE_FORCEDODTDR:
    case D3DKMT_TDRDBGCTRLTYPE_FORCEDODVSYNCTDR:
        return refuse(STATUS_NOT_SUPPORTED, NULL, "a reset of a display");
    default:
        return refuse(STATUS_INVALID_PARAMETER, NULL, "type %d of TDR control is unknown",
                      (int)control->TdrControl);
    }
}

static NTSTATUS timeout_control(const struct escape *e)
{
    const D3DKMT_ESCAPE *args = e->args;
    D3DKMT_TDRDBGCTRL_ESCAPE control;

    memset(&control, 0, sizeof(control));
    if (args->PrivateDriverDataSize != sizeof(control) &&
        args->PrivateDriverDataSize != sizeof(control.TdrControl))
        return refuse_size(args, sizeof(control));
    if (!kmt_client_get(&control, args->pPrivateDriverData, args->PrivateDriverDataSize))
        return STATUS_INVALID_PARAMETER;
    return force_timeout(e, &control, args->PrivateDriverDataSize);
}

/* KMT-456. */
static NTSTATUS machine_crash(const struct escape *e)
{
    D3DKMT_REQUEST_MACHINE_CRASH_ESCAPE crash;

    if (e->args->PrivateDriverDataSize != sizeof(crash))
        return refuse_size(e->args, sizeof(crash));
    if (!kmt_client_get(&crash, e->args->pPrivateDriverData, sizeof(crash)))
        return STATUS_INVALID_PARAMETER;
    /* 0xE2: MANUALLY_INITIATED_CRASH */
    verify_client_fatal("KMT-456", 0xE2, crash.Param1, crash.Param2, crash.Param3,
                        "a client asked for a bug check");
    return STATUS_SUCCESS;
}

/* KMT-455. */
static NTSTATUS history_buffers(const struct escape *e)
{
    D3DKMT_HISTORY_BUFFER_STATUS status;

    if (e->args->PrivateDriverDataSize != sizeof(status))
        return refuse_size(e->args, sizeof(status));
    memset(&status, 0, sizeof(status));
    status.Enabled = port_adapter_stamps(e->adapter->port);
    return kmt_client_put(e->args->pPrivateDriverData, &status, sizeof(status))
               ? STATUS_SUCCESS
               : STATUS_INVALID_PARAMETER;
}

/* KMT-441: known but not implemented, or unknown. */
static NTSTATUS other_type(D3DKMT_ESCAPETYPE type)
{
    bool known = ((int)type >= 0 && type <= D3DKMT_ESCAPE_QUERY_DMA_REMAPPING_STATUS && type != 7 &&
                  type != 19 && type != 22 && type != 26 && type != 35) ||
                 (type >= D3DKMT_ESCAPE_WIN32K_START &&
                  type <= D3DKMT_ESCAPE_WIN32K_SPECIALIZED_DISPLAY_TEST);

    return refuse(known ? STATUS_NOT_SUPPORTED : STATUS_INVALID_PARAMETER, NULL,
                  known ? "this host does not carry out escape type %d"
                        : "escape type %d is unknown",
                  (int)type);
}

static NTSTATUS escape(struct kmt_call *call, void *arguments)
{
    struct escape e = {.args = arguments};
    const D3DKMT_ESCAPE *args = e.args;
    NTSTATUS status = check_flags(args);

    if (!NT_SUCCESS(status))
        return status;
    if (args->PrivateDriverDataSize > KMT_MAX_PRIVATE_BYTES ||
        (args->PrivateDriverDataSize && !args->pPrivateDriverData))
        return kmt_client_refuse_private(args->pPrivateDriverData, args->PrivateDriverDataSize);
    status = find_objects(call, &e);
    if (!NT_SUCCESS(status))
        return status;
    switch (args->Type) {
    case D3DKMT_ESCAPE_DRIVERPRIVATE:
        if (args->Flags.DriverCommonEscape || args->Flags.DriverKnownEscape)
            return refuse(STATUS_NOT_SUPPORTED, "KMT-431",
                          "DriverCommonEscape and DriverKnownEscape, Flags 0x%x", args->Flags.Value);
        return driver_private(&e);
    case D3DKMT_ESCAPE_TDRDBGCTRL:
        return timeout_control(&e);
    case D3DKMT_ESCAPE_REQUEST_MACHINE_CRASH:
        return machine_crash(&e);
    case D3DKMT_ESCAPE_HISTORY_BUFFER_STATUS:
        return history_buffers(&e);
    default:
        return other_type(args->Type);
    }
}

KMT_IN(D3DKMTEscape, D3DKMT_ESCAPE, escape)
