/* SPDX-License-Identifier: MIT */
/*
 * DXGKRNL_INTERFACE: which callbacks a driver is given, and the ones that are short: handle lookups, context allocations,
 * features, events. Callbacks of displays and of services that this host does not have are stubs that say so (LIFE-059).
 */
#include <string.h>

#include "port/port_private.h"

/* ---- handle lookups: they name no adapter; the one whose DDI is in progress is meant ---- */

static bool begin_lookup(struct ddi_frame *frame, const char *name, uintptr_t caller, uint8_t max_irql)
{
    struct ddi_adapter *adapter;

    if (!sim_current || sim_current->stopped)
        return false;
    adapter = ddi_current_adapter();
    ddi_callback_enter(frame, adapter, name, caller);
    if (sim_irql() > max_irql) {
        VIOLATION("THREAD-048", "%s was called at %s", name, nt_irql_name(sim_irql()));
        if (sim_irql() >= SIM_IRQL_DISPATCH) {
            ddi_callback_leave(frame);
            return false;
        }
    }
    return true;
}

static void *NTAPI get_handle_data(IN_CONST_PDXGKARGCB_GETHANDLEDATA args)
{
    struct ddi_frame frame;
    DXGKARGCB_GETHANDLEDATA copy;
    void *data = NULL;

    if (!begin_lookup(&frame, "DxgkCbGetHandleData", CALLER, SIM_IRQL_APC))
        return NULL;
    if (args && sim_copy_checked(&copy, args, sizeof(copy)))
        data = vidmm_cb_get_handle_data(frame.adapter, &copy);
    ddi_callback_leave(&frame);
    return data;
}

static D3DKMT_HANDLE NTAPI get_handle_parent(IN_D3DKMT_HANDLE allocation)
{
    struct ddi_frame frame;
    D3DKMT_HANDLE parent;

    if (!begin_lookup(&frame, "DxgkCbGetHandleParent", CALLER, SIM_IRQL_APC))
        return 0;
    parent = vidmm_cb_get_handle_parent(frame.adapter, allocation);
    ddi_callback_leave(&frame);
    return parent;
}

static D3DKMT_HANDLE NTAPI enum_handle_children(IN_CONST_PDXGKARGCB_ENUMHANDLECHILDREN args)
{
    struct ddi_frame frame;
    DXGKARGCB_ENUMHANDLECHILDREN copy;
    D3DKMT_HANDLE child = 0;

    if (!begin_lookup(&frame, "DxgkCbEnumHandleChildren", CALLER, SIM_IRQL_PASSIVE))
        return 0;
    if (args && sim_copy_checked(&copy, args, sizeof(copy)))
        child = vidmm_cb_enum_handle_children(frame.adapter, &copy);
    ddi_callback_leave(&frame);
    return child;
}

/* ---- context allocations and GPU virtual addresses ---- */

static NTSTATUS NTAPI create_context_allocation(INOUT_PDXGKARGCB_CREATECONTEXTALLOCATION args)
{
    struct callback cb;
    HANDLE handle = NULL;
    NTSTATUS status;

    if (!args || !sim_copy_checked(&handle, &args->hAdapter, sizeof(handle)))
        return STATUS_INVALID_PARAMETER;
    status = callback_begin(&cb, handle, "DxgkCbCreateContextAllocation", CALLER, SIM_IRQL_PASSIVE, "THREAD-047", 0);
    if (!NT_SUCCESS(status))
        return status;
    status = vidmm_cb_create_context_allocation(&cb.adapter->ddi, args);
    callback_end(&cb);
    return status;
}

static NTSTATUS NTAPI destroy_context_allocation(IN_CONST_HANDLE adapter, IN_CONST_HANDLE allocation)
{
    struct callback cb;
    NTSTATUS status = callback_begin(&cb, adapter, "DxgkCbDestroyContextAllocation", CALLER, SIM_IRQL_PASSIVE, "THREAD-047", CALLBACK_FREEING);

    if (!NT_SUCCESS(status))
        return status;
    status = vidmm_cb_destroy_context_allocation(&cb.adapter->ddi, allocation);
    callback_end(&cb);
    return status;
}

static D3DGPU_VIRTUAL_ADDRESS NTAPI map_context_allocation(IN_CONST_HANDLE adapter, IN_CONST_PDXGKARGCB_MAPCONTEXTALLOCATION args)
{
    struct callback cb;
    DXGKARGCB_MAPCONTEXTALLOCATION copy;
    D3DGPU_VIRTUAL_ADDRESS va = 0;

    if (!NT_SUCCESS(callback_begin(&cb, adapter, "DxgkCbMapContextAllocation", CALLER, SIM_IRQL_PASSIVE, "THREAD-047", 0)))
        return 0;
    if (args && sim_copy_checked(&copy, args, sizeof(copy)))
        va = vidmm_cb_map_context_allocation(&cb.adapter->ddi, &copy);
    callback_end(&cb);
    return va;
}

static NTSTATUS NTAPI update_context_allocation(IN_CONST_HANDLE adapter, IN_CONST_PDXGKARGCB_UPDATECONTEXTALLOCATION args)
{
    struct callback cb;
    DXGKARGCB_UPDATECONTEXTALLOCATION copy;
    NTSTATUS status = callback_begin(&cb, adapter, "DxgkCbUpdateContextAllocation", CALLER, SIM_IRQL_PASSIVE, "THREAD-047", 0);

    if (!NT_SUCCESS(status))
        return status;
    if (args && sim_copy_checked(&copy, args, sizeof(copy)))
        status = vidmm_cb_update_context_allocation(&cb.adapter->ddi, &copy);
    else
        status = STATUS_INVALID_PARAMETER;
    callback_end(&cb);
    return status;
}

static NTSTATUS NTAPI reserve_gpu_va(IN_CONST_HANDLE adapter, INOUT_PDXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE args)
{
    struct callback cb;
    NTSTATUS status = callback_begin(&cb, adapter, "DxgkCbReserveGpuVirtualAddressRange", CALLER, SIM_IRQL_PASSIVE, "THREAD-047", 0);

    if (!NT_SUCCESS(status))
        return status;
    status = args ? vidmm_cb_reserve_gpu_va(&cb.adapter->ddi, args) : STATUS_INVALID_PARAMETER;
    callback_end(&cb);
    return status;
}

/* ---- features, events, children ---- */

static NTSTATUS NTAPI is_feature_enabled(INOUT_PDXGKARGCB_ISFEATUREENABLED args)
{
    struct callback cb;
    DXGKARGCB_ISFEATUREENABLED copy;
    NTSTATUS status;

    if (!args || !sim_copy_checked(&copy, args, sizeof(copy)))
        return STATUS_INVALID_PARAMETER;
    status = callback_begin(&cb, copy.DeviceHandle, "DxgkCbIsFeatureEnabled", CALLER, SIM_IRQL_PASSIVE, "THREAD-047", 0);
    if (!NT_SUCCESS(status))
        return status;
    copy.Enabled = FALSE; /* no optional feature is switched on */
    status = sim_copy_checked(args, &copy, sizeof(copy)) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
    callback_end(&cb);
    return status;
}

static NTSTATUS NTAPI query_feature_support(INOUT_PDXGKARGCB_QUERYFEATURESUPPORT args)
{
    struct callback cb;
    DXGKARGCB_QUERYFEATURESUPPORT copy;
    NTSTATUS status;

    if (!args || !sim_copy_checked(&copy, args, sizeof(copy)))
        return STATUS_INVALID_PARAMETER;
    status = callback_begin(&cb, copy.DeviceHandle, "DxgkCbQueryFeatureSupport", CALLER, SIM_IRQL_PASSIVE, "THREAD-054", 0);
    if (!NT_SUCCESS(status))
        return status;
    copy.Enabled = FALSE;
    status = sim_copy_checked(args, &copy, sizeof(copy)) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
    callback_end(&cb);
    return status;
}

static void NTAPI log_etw_event(const LPCGUID guid, UCHAR type, USHORT bytes, PVOID buffer)
{
    struct ddi_frame frame;

    (void)guid;
    (void)buffer;
    if (!sim_current || sim_current->stopped)
        return;
    ddi_callback_enter(&frame, ddi_current_adapter(), "DxgkCbLogEtwEvent", CALLER);
    if (bytes > 256 && sim_irql() != SIM_IRQL_PASSIVE)
        VIOLATION("LIFE-105", "DxgkCbLogEtwEvent was called with %u bytes at %s", bytes, nt_irql_name(sim_irql()));
    else
        trace_instant(TRACE_PROCESSOR(sim_current->processor), "driver event", "type", type, "bytes", bytes);
    ddi_callback_leave(&frame);
}

static NTSTATUS NTAPI indicate_child_status(HANDLE handle, PDXGK_CHILD_STATUS status_in)
{
    struct callback cb;
    NTSTATUS status = callback_begin(&cb, handle, "DxgkCbIndicateChildStatus", CALLER, SIM_IRQL_DISPATCH, "THREAD-050", 0);

    (void)status_in;
    if (!NT_SUCCESS(status))
        return status;
    VIOLATION("LIFE-083", "the adapter has no child devices");
    callback_end(&cb);
    return STATUS_INVALID_PARAMETER;
}

static NTSTATUS NTAPI eval_acpi_method(HANDLE handle, ULONG uid, PACPI_EVAL_INPUT_BUFFER_COMPLEX input, ULONG input_bytes,
                                       PACPI_EVAL_OUTPUT_BUFFER output, ULONG output_bytes)
{
    struct callback cb;
    NTSTATUS status = callback_begin(&cb, handle, "DxgkCbEvalAcpiMethod", CALLER, SIM_IRQL_PASSIVE, "THREAD-047", 0);

    (void)uid;
    (void)input;
    (void)input_bytes;
    (void)output;
    (void)output_bytes;
    if (!NT_SUCCESS(status))
        return status;
    callback_end(&cb);
    return STATUS_OBJECT_NAME_NOT_FOUND; /* LIFE-104 */
}

/* ---- stubs ---- */

static NTSTATUS absent(const char *name)
{
    if (!sim_current || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    VIOLATION("LIFE-059", "%s is not offered by this host", name);
    return STATUS_NOT_SUPPORTED;
}

#define STUBS(X)                                                                                                        \
    X(DxgkCbQueryServices)                                                                                              \
    X(DxgkCbIsDevicePresent)                                                                                            \
    X(DxgkCbQueryVidPnInterface)                                                                                        \
    X(DxgkCbQueryMonitorInterface)                                                                                      \
    X(DxgkCbGetCaptureAddress)                                                                                          \
    X(DxgkCbExcludeAdapterAccess)                                                                                       \
    X(DxgkCbSetPowerComponentActive)                                                                                    \
    X(DxgkCbSetPowerComponentIdle)                                                                                      \
    X(DxgkCbAcquirePostDisplayOwnership)                                                                                \
    X(DxgkCbPowerRuntimeControlRequest)                                                                                 \
    X(DxgkCbSetPowerComponentLatency)                                                                                   \
    X(DxgkCbSetPowerComponentResidency)                                                                                 \
    X(DxgkCbCompleteFStateTransition)                                                                                   \
    X(DxgkCbCompletePStateTransition)                                                                                   \
    X(DxgkCbAcquireHandleData)                                                                                          \
    X(DxgkCbReleaseHandleData)                                                                                          \
    X(DxgkCbHardwareContentProtectionTeardown)                                                                          \
    X(DxgkCbMultiPlaneOverlayDisabled)                                                                                  \
    X(DxgkCbMitigatedRangeUpdate)                                                                                       \
    X(DxgkCbInvalidateHwContext)                                                                                        \
    X(DxgkCbIndicateConnectorChange)                                                                                    \
    X(DxgkCbUnblockUEFIFrameBufferRanges)                                                                               \
    X(DxgkCbAcquirePostDisplayOwnership2)                                                                               \
    X(DxgkCbSetProtectedSessionStatus)                                                                                  \
    X(DxgkCbReportDiagnostic)                                                                                           \
    X(DxgkCbSignalEvent)                                                                                                \
    X(DxgkCbSaveMemoryForHotUpdate)                                                                                     \
    X(DxgkCbNotifyCursorSupportChange)                                                                                  \
    X(DxgkCbDisconnectDoorbell)

/* One register holds any result; the x64 convention makes the caller clean up, so the parameters do not matter. */
#define STUB(name)                     \
    static ULONG_PTR NTAPI stub_##name(void) \
    {                                  \
        return (ULONG_PTR)(ULONG)absent(#name); \
    }
STUBS(STUB)

/* A stub that returns a pointer must return NULL. */
static void *NTAPI stub_pointer_acquire(IN_CONST_PDXGKARGCB_GETHANDLEDATA args, PDXGKARG_RELEASE_HANDLE release)
{
    void *data;

    data = get_handle_data(args); /* nothing is destroyed while a DDI of the same process runs: no hold is needed */
    if (release)
        *release = data;
    return data;
}

static void NTAPI release_handle_data(IN_CONST_DXGKARGCB_RELEASEHANDLEDATA args)
{
    (void)args;
}

static void set_slot(DXGKRNL_INTERFACE *interface, size_t offset, ULONG_PTR(NTAPI *stub)(void))
{
    memcpy((char *)interface + offset, &stub, sizeof(stub));
}

/* Sizes of DXGKRNL_INTERFACE by version (tests/abi/tables.tsv). */
ULONG port_interface_bytes(UINT version)
{
    static const struct {
        UINT version;
        ULONG bytes;
    } sizes[] = {
        {0x10004, 576}, {0xE003, 568}, {0xD001, 488}, {0xB004, 480}, {0xA00B, 464}, {0x9006, 456}, {0x8001, 368},
        {0x700A, 360},  {0x6003, 328}, {0x5023, 312}, {0x4002, 264}, {0x300E, 256},
    };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (version >= sizes[i].version)
            return sizes[i].bytes;
    return 184;
}

void port_fill_interface(struct port_adapter *adapter, DXGKRNL_INTERFACE *interface, UINT version)
{
    memset(interface, 0, sizeof(*interface));
#define SET_STUB(name) set_slot(interface, offsetof(DXGKRNL_INTERFACE, name), stub_##name);
    STUBS(SET_STUB)
    interface->Size = port_interface_bytes(version); /* LIFE-057, LIFE-058 */
    interface->Version = version;
    interface->DeviceHandle = (HANDLE)(uintptr_t)adapter->handle;
    interface->DxgkCbEvalAcpiMethod = eval_acpi_method;
    interface->DxgkCbGetDeviceInformation = port_cb_get_device_information;
    interface->DxgkCbIndicateChildStatus = indicate_child_status;
    interface->DxgkCbMapMemory = port_cb_map_memory;
    interface->DxgkCbUnmapMemory = port_cb_unmap_memory;
    interface->DxgkCbQueueDpc = port_cb_queue_dpc;
    interface->DxgkCbReadDeviceSpace = port_cb_read_device_space;
    interface->DxgkCbWriteDeviceSpace = port_cb_write_device_space;
    interface->DxgkCbSynchronizeExecution = port_cb_synchronize_execution;
    interface->DxgkCbGetHandleData = get_handle_data;
    interface->DxgkCbGetHandleParent = get_handle_parent;
    interface->DxgkCbEnumHandleChildren = enum_handle_children;
    interface->DxgkCbNotifyInterrupt = port_cb_notify_interrupt;
    interface->DxgkCbNotifyDpc = port_cb_notify_dpc;
    interface->DxgkCbLogEtwEvent = log_etw_event;
    interface->DxgkCbCreateContextAllocation = create_context_allocation;
    interface->DxgkCbDestroyContextAllocation = destroy_context_allocation;
    interface->DxgkCbMapContextAllocation = map_context_allocation;
    interface->DxgkCbUpdateContextAllocation = update_context_allocation;
    interface->DxgkCbReserveGpuVirtualAddressRange = reserve_gpu_va;
    interface->DxgkCbAcquireHandleData = stub_pointer_acquire;
    interface->DxgkCbReleaseHandleData = release_handle_data;
    interface->DxgkCbIsFeatureEnabled = is_feature_enabled;
    interface->DxgkCbQueryFeatureSupport = query_feature_support;
    port_fill_memory_callbacks(interface);
}
