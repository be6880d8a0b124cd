/* SPDX-License-Identifier: MIT */
/* What the device offers its driver: the translated resource list, device information, configuration space, BAR mappings. */
#include <string.h>

#include "port/port_private.h"

/* LIFE-089 to LIFE-091: memory ranges in BAR order, then one descriptor per message. */
NTSTATUS port_resources_create(struct port_adapter *adapter)
{
    const struct dxgk_device_description *d = bus_device_description(adapter->device);
    ULONG count = d->messages;
    CM_PARTIAL_RESOURCE_DESCRIPTOR *descriptor;

    for (unsigned bar = 0; bar < DXGK_DEVICE_BARS; bar++)
        count += d->bar[bar].kind != DXGK_BAR_NONE;
    adapter->resources = util_zalloc(1, sizeof(CM_RESOURCE_LIST) + count * sizeof(*descriptor));
    if (!adapter->resources)
        return STATUS_NO_MEMORY;
    adapter->resources->Count = count ? 1 : 0;
    adapter->resources->List[0].InterfaceType = 5; /* PCIBus */
    adapter->resources->List[0].PartialResourceList.Version = 1;
    adapter->resources->List[0].PartialResourceList.Revision = 1;
    adapter->resources->List[0].PartialResourceList.Count = count;
    descriptor = adapter->resources->List[0].PartialResourceList.PartialDescriptors;
    for (unsigned bar = 0; bar < DXGK_DEVICE_BARS; bar++) {
        uint64_t bytes = d->bar[bar].bytes;

        if (d->bar[bar].kind == DXGK_BAR_NONE)
            continue;
        descriptor->ShareDisposition = 1; /* CmResourceShareDeviceExclusive */
        descriptor->u.Memory.Start.QuadPart = (LONGLONG)bus_device_bar(adapter->device, bar).value;
        if (bytes <= UINT32_MAX) {
            descriptor->Type = CmResourceTypeMemory;
            descriptor->u.Memory.Length = (ULONG)bytes;
        } else {
            descriptor->Type = CmResourceTypeMemoryLarge;
            descriptor->Flags = CM_RESOURCE_MEMORY_LARGE_40;
            descriptor->u.Memory40.Length40 = (ULONG)(bytes >> 8);
        }
        if (d->bar[bar].kind == DXGK_BAR_MEMORY)
            descriptor->Flags |= CM_RESOURCE_MEMORY_PREFETCHABLE;
        descriptor++;
    }
    for (uint32_t message = 0; message < d->messages; message++, descriptor++) {
        descriptor->Type = CmResourceTypeInterrupt;
        descriptor->ShareDisposition = 1;
        descriptor->Flags = CM_RESOURCE_INTERRUPT_LATCHED | CM_RESOURCE_INTERRUPT_MESSAGE;
        descriptor->u.MessageInterrupt.Translated.Level = SIM_IRQL_DEVICE;
        descriptor->u.MessageInterrupt.Translated.Vector = 0x50 + message;
        descriptor->u.MessageInterrupt.Translated.Affinity = (1ull << sim_current->processors) - 1;
    }
    return STATUS_SUCCESS;
}

void port_resources_destroy(struct port_adapter *adapter)
{
    LIST_FOR_SAFE(node, next, &adapter->maps) {
        struct port_map *map = CONTAINER(node, struct port_map, link);

        /* LIFE-101 */
        VIOLATION("LIFE-101", "the mapping of 0x%llx (%llu bytes) is still there after StopDevice",
                  (unsigned long long)map->start, (unsigned long long)map->bytes);
        bus_unmap(adapter->port->config.bus, map->address);
        list_remove(&map->link);
        util_free(map);
    }
    util_free(adapter->resources);
    adapter->resources = NULL;
}

/* ---- callbacks ---- */

NTSTATUS NTAPI port_cb_get_device_information(HANDLE DeviceHandle, PDXGK_DEVICE_INFO DeviceInfo)
{
    struct callback cb;
    DXGK_DEVICE_INFO info;
    NTSTATUS status = callback_begin(&cb, DeviceHandle, "DxgkCbGetDeviceInformation", CALLER, SIM_IRQL_PASSIVE, "THREAD-047", 0);

    if (!NT_SUCCESS(status))
        return status;
    memset(&info, 0, sizeof(info));
    info.MiniportDeviceContext = cb.adapter->ddi.context; /* LIFE-085 */
    info.PhysicalDeviceObject = &cb.adapter->pdo;
    info.TranslatedResourceList = cb.adapter->resources;
    info.SystemMemorySize.QuadPart = (LONGLONG)ram_bytes(cb.adapter->port->config.ram); /* LIFE-086 */
    info.HighestPhysicalAddress.QuadPart = (LONGLONG)ram_highest(cb.adapter->port->config.ram).value;
    info.DockingState = DockStateUnsupported; /* LIFE-088 */
    if (!DeviceInfo || !sim_copy_checked(DeviceInfo, &info, sizeof(info)))
        status = STATUS_INVALID_PARAMETER;
    callback_end(&cb);
    return status;
}

static NTSTATUS transfer_space(HANDLE handle, const char *name, uintptr_t caller, ULONG type, PVOID buffer, ULONG offset,
                               ULONG length, PULONG moved, bool write)
{
    struct callback cb;
    uint8_t bytes[256];
    ULONG done = 0;
    NTSTATUS status = callback_begin(&cb, handle, name, caller, SIM_IRQL_PASSIVE, "THREAD-047", 0);

    if (!NT_SUCCESS(status))
        return status;
    if (!buffer || (type != DXGK_WHICHSPACE_CONFIG && type != DXGK_WHICHSPACE_ROM && type != DXGK_WHICHSPACE_MCH && type != DXGK_WHICHSPACE_BRIDGE)) {
        status = STATUS_INVALID_PARAMETER;
    } else if (type == DXGK_WHICHSPACE_BRIDGE) {
        VIOLATION("LIFE-094", "bridge space is accessible only under exclusion with DXGK_EXCLUDE_BRIDGE_ACCESS");
        status = STATUS_UNSUCCESSFUL;
    } else if (type != DXGK_WHICHSPACE_CONFIG || offset >= sizeof(bytes)) {
        status = STATUS_UNSUCCESSFUL; /* LIFE-093 */
    } else {
        ULONG part = length < sizeof(bytes) - offset ? length : (ULONG)sizeof(bytes) - offset;

        if (write) {
            if (sim_copy_checked(bytes, buffer, part))
                done = bus_config_write(cb.adapter->device, offset, bytes, part);
            else
                status = STATUS_INVALID_PARAMETER;
        } else {
            done = bus_config_read(cb.adapter->device, offset, bytes, part);
            if (!sim_copy_checked(buffer, bytes, done))
                status = STATUS_INVALID_PARAMETER;
        }
    }
    if (moved && !sim_copy_checked(moved, &done, sizeof(done)))
        status = STATUS_INVALID_PARAMETER;
    callback_end(&cb);
    return status;
}

NTSTATUS NTAPI port_cb_read_device_space(HANDLE DeviceHandle, ULONG DataType, PVOID Buffer, ULONG Offset, ULONG Length, PULONG BytesRead)
{
    return transfer_space(DeviceHandle, "DxgkCbReadDeviceSpace", CALLER, DataType, Buffer, Offset, Length, BytesRead, false);
}

NTSTATUS NTAPI port_cb_write_device_space(HANDLE DeviceHandle, ULONG DataType, PVOID Buffer, ULONG Offset, ULONG Length, PULONG BytesWritten)
{
    return transfer_space(DeviceHandle, "DxgkCbWriteDeviceSpace", CALLER, DataType, Buffer, Offset, Length, BytesWritten, true);
}

/* Inside one granted memory range? */
static bool granted(const struct port_adapter *adapter, uint64_t start, uint64_t bytes)
{
    const struct dxgk_device_description *d = bus_device_description(adapter->device);

    for (unsigned bar = 0; bar < DXGK_DEVICE_BARS; bar++) {
        uint64_t base = bus_device_bar(adapter->device, bar).value;

        if (d->bar[bar].kind != DXGK_BAR_NONE && start >= base && bytes <= d->bar[bar].bytes && start - base <= d->bar[bar].bytes - bytes)
            return true;
    }
    return false;
}

static NTSTATUS map_range(struct port_adapter *adapter, uint64_t start, uint64_t bytes, MEMORY_CACHING_TYPE cache, void **address)
{
    struct port_map *map;

    if (!bytes || cache < MmNonCached || cache > MmWriteCombined || !granted(adapter, start, bytes))
        return STATUS_INVALID_PARAMETER; /* LIFE-098 */
    LIST_FOR(node, &adapter->maps) {
        const struct port_map *other = CONTAINER(node, struct port_map, link);

        if (other->cache != cache && start < other->start + other->bytes && other->start < start + bytes) {
            VIOLATION("LIFE-098", "0x%llx is already mapped with another cache type", (unsigned long long)start);
            return STATUS_CONFLICTING_ADDRESSES;
        }
    }
    map = util_zalloc(1, sizeof(*map));
    if (!map)
        return STATUS_NO_MEMORY;
    map->address = bus_map(adapter->port->config.bus, (struct phys_addr){start}, bytes);
    if (!map->address) {
        util_free(map);
        return STATUS_NO_MEMORY;
    }
    map->start = start;
    map->bytes = bytes;
    map->cache = cache;
    list_push_back(&adapter->maps, &map->link);
    *address = map->address;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI port_cb_map_memory(HANDLE DeviceHandle, PHYSICAL_ADDRESS TranslatedAddress, ULONG Length, BOOLEAN InIoSpace,
                                  BOOLEAN MapToUserMode, MEMORY_CACHING_TYPE CacheType, PVOID *VirtualAddress)
{
    struct callback cb;
    void *address = NULL;
    NTSTATUS status = callback_begin(&cb, DeviceHandle, "DxgkCbMapMemory", CALLER, SIM_IRQL_PASSIVE, "THREAD-047", 0);

    (void)MapToUserMode; /* one address space: a user mapping is a mapping */
    if (!NT_SUCCESS(status))
        return status;
    if (InIoSpace || !VirtualAddress)
        status = STATUS_INVALID_PARAMETER; /* no port ranges are granted */
    else
        status = map_range(cb.adapter, (uint64_t)TranslatedAddress.QuadPart, Length, CacheType, &address);
    if (NT_SUCCESS(status) && !sim_copy_checked(VirtualAddress, &address, sizeof(address)))
        status = STATUS_INVALID_PARAMETER;
    callback_end(&cb);
    return status;
}

NTSTATUS NTAPI port_cb_unmap_memory(HANDLE DeviceHandle, PVOID VirtualAddress)
{
    struct callback cb;
    NTSTATUS status = callback_begin(&cb, DeviceHandle, "DxgkCbUnmapMemory", CALLER, SIM_IRQL_PASSIVE, "THREAD-047", CALLBACK_FREEING);

    if (!NT_SUCCESS(status))
        return status;
    status = STATUS_INVALID_PARAMETER;
    LIST_FOR_SAFE(node, next, &cb.adapter->maps) {
        struct port_map *map = CONTAINER(node, struct port_map, link);

        if (map->address != VirtualAddress)
            continue;
        bus_unmap(cb.adapter->port->config.bus, map->address);
        list_remove(&map->link);
        util_free(map);
        status = STATUS_SUCCESS;
        break;
    }
    if (!NT_SUCCESS(status))
        VIOLATION("LIFE-100", "DxgkCbUnmapMemory was given an address that starts no live mapping of this adapter");
    callback_end(&cb);
    return status;
}
