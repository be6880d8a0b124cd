/* SPDX-License-Identifier: MIT */
/* Requests that the host only passes on to the driver: for interfaces, and I/O requests. Both are
 * DDIs of level two (LIFE-131, LIFE-132). */
#include <string.h>

#include "port/running/query_interface.h"
#include "nt/base/status_name.h"
#include "ddi/ddi.h"
#include "port/record/adapter_info.h"
#include "port/record/adapter_record.h"
#include "port/running/managers.h"
#include "port/running/restarting.h"
#include "util/alloc.h"

/* Check what the driver filled in. */
static NTSTATUS check_answer(NTSTATUS status, const INTERFACE *answer, USHORT room)
{
    if (!NT_SUCCESS(status)) {
        if (status != STATUS_NOT_SUPPORTED)
            WARNING("LIFE-131",
                    "DxgkDdiQueryInterface returned %s for an interface; one that it does not "
                    "know is STATUS_NOT_SUPPORTED",
                    nt_status_text(status).text);
        return STATUS_NOT_SUPPORTED;
    }
    if (answer->Size > room || answer->Size < sizeof(*answer)) {
        VIOLATION("LIFE-131", "DxgkDdiQueryInterface set Size to %u; it was given %u", answer->Size,
                  room);
        return STATUS_NOT_SUPPORTED;
    }
    if (!answer->InterfaceReference || !answer->InterfaceDereference) {
        VIOLATION("LIFE-131", "DxgkDdiQueryInterface left %s NULL",
                  answer->InterfaceReference ? "InterfaceDereference" : "InterfaceReference");
        return STATUS_NOT_SUPPORTED;
    }
    return STATUS_SUCCESS;
}

NTSTATUS port_child_query_interface(struct port_adapter *adapter, ULONG uid, const GUID *type,
                                    PINTERFACE interface)
{
    const USHORT room = interface->Size, version = interface->Version;
    QUERY_INTERFACE query;
    uint8_t *buffer;
    NTSTATUS status;

    if (!ddi_has(&adapter->ddi, DxgkDdiQueryInterface))
        return STATUS_NOT_SUPPORTED;
    if (room < sizeof(*interface))
        return STATUS_INVALID_PARAMETER;
    buffer = util_zalloc(1, room);
    if (!buffer)
        return STATUS_NO_MEMORY;
    memset(&query, 0, sizeof(query));
    query.InterfaceType = type;
    query.Size = room;
    query.Version = version;
    query.Interface = (PINTERFACE)(void *)buffer;
    query.DeviceUid = uid;
    status = port_stand_still(adapter, "DxgkDdiQueryInterface");
    if (NT_SUCCESS(status)) {
        status = ddi_query_interface(&adapter->ddi, &query);
        port_go_on(adapter);
        status = check_answer(status, (const INTERFACE *)(const void *)buffer, room);
    }
    if (NT_SUCCESS(status))
        memcpy(interface, buffer, room);
    util_free(buffer);
    return status;
}

NTSTATUS port_adapter_query_interface(struct port_adapter *adapter, const GUID *type,
                                      PINTERFACE interface)
{
    return port_child_query_interface(adapter, DISPLAY_ADAPTER_HW_ID, type, interface);
}

NTSTATUS port_adapter_dispatch_io(struct port_adapter *adapter, ULONG source,
                                  PVIDEO_REQUEST_PACKET packet)
{
    NTSTATUS status;

    if (!ddi_has(&adapter->ddi, DxgkDdiDispatchIoRequest))
        return STATUS_NOT_SUPPORTED;
    port_restarting_await(adapter);
    if (!port_runs(adapter))
        return STATUS_INVALID_DEVICE_STATE;
    status = port_stand_still(adapter, "DxgkDdiDispatchIoRequest");
    if (!NT_SUCCESS(status))
        return status;
    status = ddi_dispatch_io_request(&adapter->ddi, source, packet);
    port_go_on(adapter);
    return status;
}
