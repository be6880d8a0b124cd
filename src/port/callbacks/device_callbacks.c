/* SPDX-License-Identifier: MIT */
/* The callbacks that describe the device: information, devices that are present, configuration
 * space (LIFE-084 to LIFE-095, LIFE-102). */
#include <string.h>

#include "port/callbacks/device_callbacks.h"
#include "bus/config.h"
#include "bus/device.h"
#include "port/callbacks/callback.h"
#include "port/callbacks/exclude.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "ram/ram.h"
#include "sim/irql.h"
#include "verify/refusal.h"

/* ---- information ---- */

static NTSTATUS NTAPI get_device_information(HANDLE DeviceHandle, PDXGK_DEVICE_INFO DeviceInfo)
{
    struct port_callback cb;
    DXGK_DEVICE_INFO info;
    NTSTATUS status = port_callback_begin(&cb, DeviceHandle, "DxgkCbGetDeviceInformation",
                                          PORT_CALLER, SIM_IRQL_PASSIVE, "THREAD-047", 0);
    struct port_adapter *adapter = cb.adapter;

    if (!NT_SUCCESS(status))
        return status;
    memset(&info, 0, sizeof(info));
    info.MiniportDeviceContext = adapter->ddi.context; /* LIFE-085 */
    info.PhysicalDeviceObject = &adapter->pdo;
    info.DeviceRegistryPath.Buffer = adapter->software_key_wide;
    info.DeviceRegistryPath.Length = (USHORT)(strlen(adapter->software_key) * sizeof(WCHAR));
    info.DeviceRegistryPath.MaximumLength = (USHORT)(info.DeviceRegistryPath.Length + sizeof(WCHAR));
    info.TranslatedResourceList = adapter->resource_loan.address;
    info.SystemMemorySize.QuadPart = (LONGLONG)ram_bytes(adapter->port->config.ram); /* LIFE-086 */
    info.HighestPhysicalAddress.QuadPart = (LONGLONG)ram_highest(adapter->port->config.ram).value;
    info.DockingState = DockStateUnsupported; /* LIFE-088 */
    if (!PORT_GIVE(DXGK_DEVICE_INFO, DeviceInfo, &info))
        status = STATUS_INVALID_PARAMETER;
    return port_callback_return(&cb, status);
}

static bool device_matches(const struct dxgk_device_description *d,
                           const PCI_DEVICE_PRESENCE_PARAMETERS *p)
{
    if ((p->Flags & PCI_USE_VENDEV_IDS) && (p->VendorID != d->vendor || p->DeviceID != d->device))
        return false;
    if ((p->Flags & PCI_USE_SUBSYSTEM_IDS) &&
        (p->SubVendorID != d->subsystem_vendor || p->SubSystemID != d->subsystem))
        return false;
    if ((p->Flags & PCI_USE_REVISION) && p->RevisionID != d->revision)
        return false;
    if ((p->Flags & PCI_USE_CLASS_SUBCLASS) &&
        (p->BaseClass != d->class_code >> 16 || p->SubClass != (d->class_code >> 8 & 0xFF)))
        return false;
    return !(p->Flags & PCI_USE_PROGIF) || p->ProgIf == (d->class_code & 0xFF);
}

/* LIFE-102: the only devices of this machine are those of its adapters. */
static NTSTATUS NTAPI is_device_present(HANDLE DeviceHandle,
                                        PPCI_DEVICE_PRESENCE_PARAMETERS Parameters, PBOOLEAN Present)
{
    struct port_callback cb;
    PCI_DEVICE_PRESENCE_PARAMETERS copy;
    BOOLEAN present = FALSE;
    NTSTATUS status = port_callback_begin(&cb, DeviceHandle, "DxgkCbIsDevicePresent", PORT_CALLER,
                                          SIM_IRQL_PASSIVE, "THREAD-047", 0);

    if (!NT_SUCCESS(status))
        return status;
    if (!Present || !PORT_TAKE(PCI_DEVICE_PRESENCE_PARAMETERS, &copy, Parameters) ||
        copy.Size < sizeof(copy)) {
        status = refuse(STATUS_INVALID_PARAMETER, NULL,
                        "Present is NULL, or Parameters cannot be read or have a smaller Size");
    } else {
        LIST_FOR(node, &cb.adapter->port->adapter_list)
            present |= device_matches(
                bus_device_description(CONTAINER(node, struct port_adapter, link)->device), &copy);
        if (!PORT_GIVE(BOOLEAN, Present, &present))
            status = STATUS_INVALID_PARAMETER;
    }
    return port_callback_return(&cb, status);
}

/* ---- configuration space (LIFE-092 to LIFE-095) ---- */

/* A transfer from or to a space of the device, as the driver asked for it. */
struct transfer {
    ULONG space; /* DXGK_WHICHSPACE_* */
    PVOID buffer;
    ULONG offset, length;
    PULONG moved; /* output: bytes transferred; may be NULL */
    bool write;
};

static NTSTATUS transfer_config(struct port_adapter *adapter, const struct transfer *transfer,
                                ULONG *done)
{
    const ULONG offset = transfer->offset, length = transfer->length;
    uint8_t bytes[256];
    ULONG part;

    if (offset >= sizeof(bytes))
        return refuse(STATUS_UNSUCCESSFUL, "LIFE-093",
                      "offset 0x%x, configuration space has 0x%zx bytes", (unsigned)offset,
                      sizeof(bytes));
    part = length < sizeof(bytes) - offset ? length : (ULONG)sizeof(bytes) - offset;
    if (transfer->write) {
        if (!port_boundary_take_bytes(bytes, transfer->buffer, part))
            return STATUS_INVALID_PARAMETER;
        if (!bus_config_writable(adapter->device, offset, part))
            WARNING("LIFE-095", "read-only bytes of the configuration space at 0x%x are written",
                    offset);
        *done = bus_config_write(adapter->device, offset, bytes, part);
        return STATUS_SUCCESS;
    }
    *done = bus_config_read(adapter->device, offset, bytes, part);
    return port_boundary_give_bytes(transfer->buffer, bytes, *done) ? STATUS_SUCCESS
                                                                    : STATUS_INVALID_PARAMETER;
}

static bool known_space(ULONG space)
{
    return space == DXGK_WHICHSPACE_CONFIG || space == DXGK_WHICHSPACE_ROM ||
           space == DXGK_WHICHSPACE_MCH || space == DXGK_WHICHSPACE_BRIDGE;
}

static NTSTATUS transfer_space(HANDLE handle, const char *name, uintptr_t caller,
                               const struct transfer *transfer)
{
    struct port_callback cb;
    ULONG done = 0;
    NTSTATUS status = port_callback_begin(&cb, handle, name, caller, SIM_IRQL_PASSIVE, "THREAD-047",
                                          0);

    if (!NT_SUCCESS(status))
        return status;
    if (!transfer->buffer || !known_space(transfer->space)) {
        status = refuse(STATUS_INVALID_PARAMETER, "LIFE-092", "space %u, buffer %p",
                        (unsigned)transfer->space, transfer->buffer);
    } else if (transfer->space == DXGK_WHICHSPACE_BRIDGE) {
        if (!port_exclude_bridge_open(cb.adapter))
            VIOLATION(
                "LIFE-094",
                "bridge space is accessible only under exclusion with DXGK_EXCLUDE_BRIDGE_ACCESS");
        status = refuse(STATUS_UNSUCCESSFUL, "LIFE-094", "there is no bridge above the device");
    } else if (transfer->space != DXGK_WHICHSPACE_CONFIG) {
        status = refuse(STATUS_UNSUCCESSFUL, "LIFE-093", "the device has no space of type %u",
                        (unsigned)transfer->space);
    } else {
        status = transfer_config(cb.adapter, transfer, &done);
    }
    if (transfer->moved && !PORT_GIVE(ULONG, transfer->moved, &done))
        status = STATUS_INVALID_PARAMETER;
    return port_callback_return(&cb, status);
}

static NTSTATUS NTAPI read_device_space(HANDLE DeviceHandle, ULONG DataType, PVOID Buffer,
                                        ULONG Offset, ULONG Length, PULONG BytesRead)
{
    const struct transfer transfer = {
        .space = DataType, .buffer = Buffer, .offset = Offset, .length = Length, .moved = BytesRead};

    return transfer_space(DeviceHandle, "DxgkCbReadDeviceSpace", PORT_CALLER, &transfer);
}

static NTSTATUS NTAPI write_device_space(HANDLE DeviceHandle, ULONG DataType, PVOID Buffer,
                                         ULONG Offset, ULONG Length, PULONG BytesWritten)
{
    const struct transfer transfer = {.space = DataType,
                                      .buffer = Buffer,
                                      .offset = Offset,
                                      .length = Length,
                                      .moved = BytesWritten,
                                      .write = true};

    return transfer_space(DeviceHandle, "DxgkCbWriteDeviceSpace", PORT_CALLER, &transfer);
}

void port_device_callbacks_fill(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbGetDeviceInformation = get_device_information;
    interface->DxgkCbIsDevicePresent = is_device_present;
    interface->DxgkCbReadDeviceSpace = read_device_space;
    interface->DxgkCbWriteDeviceSpace = write_device_space;
}
