/* SPDX-License-Identifier: MIT */
/* What the device offers its driver: the translated resource list, device information, configuration space, BAR mappings. */
#include <string.h>

#include "nt/user_range.h"
#include "port/port_private.h"
#include "sim/fault.h"
#include "sim/irql.h"
#include "sim/machine.h"

/* ---- the resource list: on loan, read-only, until StopDevice (LIFE-089 to LIFE-091) ---- */

static void describe_memory(CM_PARTIAL_RESOURCE_DESCRIPTOR *descriptor, uint64_t start,
                            uint64_t bytes, bool prefetchable)
{
    descriptor->ShareDisposition = 1; /* CmResourceShareDeviceExclusive */
    descriptor->u.Memory.Start.QuadPart = (LONGLONG)start;
    if (bytes <= UINT32_MAX) {
        descriptor->Type = CmResourceTypeMemory;
        descriptor->u.Memory.Length = (ULONG)bytes;
    } else if (bytes >> 8 <= UINT32_MAX) {
        descriptor->Type = CmResourceTypeMemoryLarge;
        descriptor->Flags = CM_RESOURCE_MEMORY_LARGE_40;
        descriptor->u.Memory40.Length40 = (ULONG)(bytes >> 8);
    } else {
        descriptor->Type = CmResourceTypeMemoryLarge;
        descriptor->Flags = CM_RESOURCE_MEMORY_LARGE_48;
        descriptor->u.Memory48.Length48 = (ULONG)(bytes >> 16);
    }
    if (prefetchable)
        descriptor->Flags |= CM_RESOURCE_MEMORY_PREFETCHABLE;
}

static void describe_ports(CM_PARTIAL_RESOURCE_DESCRIPTOR *descriptor, uint32_t start,
                           uint64_t count)
{
    descriptor->Type = CmResourceTypePort;
    descriptor->ShareDisposition = 1; /* CmResourceShareDeviceExclusive */
    descriptor->Flags = CM_RESOURCE_PORT_IO | CM_RESOURCE_PORT_16_BIT_DECODE;
    descriptor->u.Port.Start.QuadPart = start;
    descriptor->u.Port.Length = (ULONG)count;
}

/* Memory and port ranges in BAR order, then one descriptor per message. */
static void describe(const struct port_adapter *adapter, CM_PARTIAL_RESOURCE_DESCRIPTOR *descriptor)
{
    const struct dxgk_device_description *d = bus_device_description(adapter->device);

    for (unsigned bar = 0; bar < DXGK_DEVICE_BARS; bar++)
        if (d->bar[bar].kind == DXGK_BAR_PORTS)
            describe_ports(descriptor++, bus_device_port(adapter->device, bar), d->bar[bar].bytes);
        else if (d->bar[bar].kind != DXGK_BAR_NONE)
            describe_memory(descriptor++, bus_device_bar(adapter->device, bar).value,
                            d->bar[bar].bytes, d->bar[bar].kind == DXGK_BAR_MEMORY);
    for (uint32_t message = 0; message < d->messages; message++, descriptor++) {
        descriptor->Type = CmResourceTypeInterrupt;
        descriptor->ShareDisposition = 1;
        descriptor->Flags = CM_RESOURCE_INTERRUPT_LATCHED | CM_RESOURCE_INTERRUPT_MESSAGE;
        descriptor->u.MessageInterrupt.Translated.Level = SIM_IRQL_DEVICE;
        descriptor->u.MessageInterrupt.Translated.Vector = 0x50 + message;
        descriptor->u.MessageInterrupt.Translated.Affinity =
            sim_current->processors < 64 ? (1ull << sim_current->processors) - 1 : ~0ull;
    }
}

NTSTATUS port_resources_create(struct port_adapter *adapter)
{
    const struct dxgk_device_description *d = bus_device_description(adapter->device);
    ULONG count = d->messages;
    CM_RESOURCE_LIST *list;

    for (unsigned bar = 0; bar < DXGK_DEVICE_BARS; bar++)
        count += d->bar[bar].kind != DXGK_BAR_NONE;
    ddi_loan_finish(&adapter->resource_loan); /* of an earlier start */
    if (!ddi_loan_init(&adapter->resource_loan,
                       sizeof(*list) + count * sizeof(CM_PARTIAL_RESOURCE_DESCRIPTOR), "LIFE-091",
                       "the translated resource list, which is read-only and gone after StopDevice"))
        return STATUS_NO_MEMORY;
    list = adapter->resource_loan.address;
    list->Count = count ? 1 : 0;
    list->List[0].InterfaceType = PCIBus;
    list->List[0].PartialResourceList.Version = 1;
    list->List[0].PartialResourceList.Revision = 1;
    list->List[0].PartialResourceList.Count = count;
    describe(adapter, list->List[0].PartialResourceList.PartialDescriptors);
    ddi_loan_protect(&adapter->resource_loan);
    return STATUS_SUCCESS;
}

void port_resources_revoke(struct port_adapter *adapter)
{
    if (adapter->resource_loan.address)
        ddi_loan_revoke(&adapter->resource_loan);
}

static void unmap_range(struct port_adapter *adapter, struct port_map *map)
{
    if (!map->ports) {
        port_view_ends(adapter->port, map->address, map->bytes, NULL);
        if (map->process)
            nt_user_range_remove(map->address);
        bus_unmap(adapter->port->config.bus, map->address);
    }
    list_remove(&map->link);
    util_free(map);
}

void port_maps_remove(struct port_adapter *adapter)
{
    LIST_FOR_SAFE(node, next, &adapter->maps) {
        struct port_map *map = CONTAINER(node, struct port_map, link);

        VIOLATION("LIFE-101", "the mapping of 0x%llx (%llu bytes) is still there after StopDevice",
                  (unsigned long long)map->start, (unsigned long long)map->bytes);
        unmap_range(adapter, map);
    }
}

/* ---- information ---- */

NTSTATUS NTAPI port_cb_get_device_information(HANDLE DeviceHandle, PDXGK_DEVICE_INFO DeviceInfo)
{
    struct callback cb;
    DXGK_DEVICE_INFO info;
    NTSTATUS status = callback_begin(&cb, DeviceHandle, "DxgkCbGetDeviceInformation", CALLER,
                                     SIM_IRQL_PASSIVE, "THREAD-047", 0);
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
    if (!DeviceInfo || !sim_copy_checked(DeviceInfo, &info, sizeof(info)))
        status = STATUS_INVALID_PARAMETER;
    callback_end(&cb);
    return status;
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

/* LIFE-102: the devices of this machine are those that adapters were made for. */
NTSTATUS NTAPI port_cb_is_device_present(HANDLE DeviceHandle,
                                         PPCI_DEVICE_PRESENCE_PARAMETERS Parameters,
                                         PBOOLEAN Present)
{
    struct callback cb;
    PCI_DEVICE_PRESENCE_PARAMETERS copy;
    BOOLEAN present = FALSE;
    NTSTATUS status = callback_begin(&cb, DeviceHandle, "DxgkCbIsDevicePresent", CALLER,
                                     SIM_IRQL_PASSIVE, "THREAD-047", 0);

    if (!NT_SUCCESS(status))
        return status;
    if (!Parameters || !Present || !sim_copy_checked(&copy, Parameters, sizeof(copy)) ||
        copy.Size < sizeof(copy)) {
        status = STATUS_INVALID_PARAMETER;
    } else {
        LIST_FOR(node, &cb.adapter->port->adapter_list)
            present |= device_matches(
                bus_device_description(CONTAINER(node, struct port_adapter, link)->device), &copy);
        if (!sim_copy_checked(Present, &present, sizeof(present)))
            status = STATUS_INVALID_PARAMETER;
    }
    callback_end(&cb);
    return status;
}

/* ---- configuration space (LIFE-092 to LIFE-095) ---- */

static NTSTATUS transfer_config(struct port_adapter *adapter, PVOID buffer, ULONG offset,
                                ULONG length, ULONG *done, bool write)
{
    uint8_t bytes[256];
    ULONG part;

    if (offset >= sizeof(bytes))
        return STATUS_UNSUCCESSFUL; /* LIFE-093 */
    part = length < sizeof(bytes) - offset ? length : (ULONG)sizeof(bytes) - offset;
    if (write) {
        if (!sim_copy_checked(bytes, buffer, part))
            return STATUS_INVALID_PARAMETER;
        if (!bus_config_writable(adapter->device, offset, part))
            WARNING("LIFE-095", "read-only bytes of the configuration space at 0x%x are written",
                    offset);
        *done = bus_config_write(adapter->device, offset, bytes, part);
        return STATUS_SUCCESS;
    }
    *done = bus_config_read(adapter->device, offset, bytes, part);
    return sim_copy_checked(buffer, bytes, *done) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

static NTSTATUS transfer_space(HANDLE handle, const char *name, uintptr_t caller, ULONG type,
                               PVOID buffer, ULONG offset, ULONG length, PULONG moved, bool write)
{
    struct callback cb;
    ULONG done = 0;
    NTSTATUS status = callback_begin(&cb, handle, name, caller, SIM_IRQL_PASSIVE, "THREAD-047", 0);

    if (!NT_SUCCESS(status))
        return status;
    if (!buffer || (type != DXGK_WHICHSPACE_CONFIG && type != DXGK_WHICHSPACE_ROM &&
                    type != DXGK_WHICHSPACE_MCH && type != DXGK_WHICHSPACE_BRIDGE)) {
        status = STATUS_INVALID_PARAMETER;
    } else if (type == DXGK_WHICHSPACE_BRIDGE) {
        if (!cb.adapter->bridge_open)
            VIOLATION(
                "LIFE-094",
                "bridge space is accessible only under exclusion with DXGK_EXCLUDE_BRIDGE_ACCESS");
        status = STATUS_UNSUCCESSFUL; /* no bridge stands above the device */
    } else if (type != DXGK_WHICHSPACE_CONFIG) {
        status = STATUS_UNSUCCESSFUL; /* LIFE-093 */
    } else {
        status = transfer_config(cb.adapter, buffer, offset, length, &done, write);
    }
    if (moved && !sim_copy_checked(moved, &done, sizeof(done)))
        status = STATUS_INVALID_PARAMETER;
    callback_end(&cb);
    return status;
}

NTSTATUS NTAPI port_cb_read_device_space(HANDLE DeviceHandle, ULONG DataType, PVOID Buffer,
                                         ULONG Offset, ULONG Length, PULONG BytesRead)
{
    return transfer_space(DeviceHandle, "DxgkCbReadDeviceSpace", CALLER, DataType, Buffer, Offset,
                          Length, BytesRead, false);
}

NTSTATUS NTAPI port_cb_write_device_space(HANDLE DeviceHandle, ULONG DataType, PVOID Buffer,
                                          ULONG Offset, ULONG Length, PULONG BytesWritten)
{
    return transfer_space(DeviceHandle, "DxgkCbWriteDeviceSpace", CALLER, DataType, Buffer, Offset,
                          Length, BytesWritten, true);
}

/* ---- mappings (LIFE-096 to LIFE-101) ---- */

/* Inside one granted memory range? */
static bool granted(const struct port_adapter *adapter, uint64_t start, uint64_t bytes)
{
    const struct dxgk_device_description *d = bus_device_description(adapter->device);

    for (unsigned bar = 0; bar < DXGK_DEVICE_BARS; bar++) {
        uint64_t base = bus_device_bar(adapter->device, bar).value;

        if (d->bar[bar].kind != DXGK_BAR_NONE && d->bar[bar].kind != DXGK_BAR_PORTS &&
            start >= base && range_inside(start - base, bytes, d->bar[bar].bytes))
            return true;
    }
    return false;
}

/* Inside one granted range of ports? */
static bool ports_granted(const struct port_adapter *adapter, uint64_t start, uint64_t count)
{
    const struct dxgk_device_description *d = bus_device_description(adapter->device);

    for (unsigned bar = 0; bar < DXGK_DEVICE_BARS; bar++) {
        uint64_t base = bus_device_port(adapter->device, bar);

        if (d->bar[bar].kind == DXGK_BAR_PORTS && start >= base &&
            range_inside(start - base, count, d->bar[bar].bytes))
            return true;
    }
    return false;
}

static NTSTATUS new_map(struct port_adapter *adapter, uint64_t start, uint64_t bytes, void *address,
                        struct port_map **out)
{
    struct port_map *map = util_zalloc(1, sizeof(*map));

    if (!map)
        return STATUS_INSUFFICIENT_RESOURCES;
    map->address = address;
    map->start = start;
    map->bytes = bytes;
    list_push_back(&adapter->maps, &map->link);
    *out = map;
    return STATUS_SUCCESS;
}

/* PHYS-033: nothing is mapped; the address of a port is its number. The cache type means nothing, but must be one (LIFE-098). */
static NTSTATUS map_ports(struct port_adapter *adapter, uint64_t start, uint64_t count,
                          MEMORY_CACHING_TYPE cache, struct port_map **out)
{
    NTSTATUS status;

    if (!count || cache < MmNonCached || cache > MmWriteCombined)
        return STATUS_INVALID_PARAMETER;
    if (!ports_granted(adapter, start, count)) {
        VIOLATION("PHYS-027", "0x%llx + 0x%llx lies in no port range of the adapter",
                  (unsigned long long)start, (unsigned long long)count);
        return STATUS_INVALID_PARAMETER;
    }
    status = new_map(adapter, start, count, (void *)(uintptr_t)(uint32_t)start, out);
    if (NT_SUCCESS(status))
        (*out)->ports = true;
    return status;
}

/* PHYS-195. */
static bool give_to_process(const struct port_map *map, const struct port_adapter *adapter,
                            struct nt_process *process)
{
    const struct bus *bus = adapter->port->config.bus;
    char what[80] = "a view of ";

    (void)bus_describe(bus, (struct phys_addr){map->start}, what + strlen(what),
                       sizeof(what) - strlen(what));
    return nt_user_range_add(process, map->address, map->bytes,
                             bus_register_space(bus, map->address) ? NT_USER_TRAPPED : NT_USER_WRITE,
                             "PHYS-195", what);
}

static NTSTATUS map_range(struct port_adapter *adapter, uint64_t start, uint64_t bytes,
                          MEMORY_CACHING_TYPE cache, struct nt_process *process,
                          struct port_map **out)
{
    NTSTATUS status;
    void *address;

    if (!bytes || cache < MmNonCached || cache > MmWriteCombined)
        return STATUS_INVALID_PARAMETER; /* LIFE-098 */
    if (!granted(adapter, start, bytes)) {
        VIOLATION("PHYS-027", "0x%llx + 0x%llx lies in no memory range of the adapter",
                  (unsigned long long)start, (unsigned long long)bytes);
        return STATUS_INVALID_PARAMETER;
    }
    LIST_FOR(node, &adapter->maps) {
        const struct port_map *other = CONTAINER(node, struct port_map, link);

        if (!other->ports && other->cache != cache &&
            ranges_overlap(start, bytes, other->start, other->bytes)) {
            VIOLATION("LIFE-098", "0x%llx is already mapped with another cache type",
                      (unsigned long long)start);
            return STATUS_CONFLICTING_ADDRESSES;
        }
    }
    address = bus_map(adapter->port->config.bus, (struct phys_addr){start}, bytes);
    if (!address)
        return STATUS_INSUFFICIENT_RESOURCES; /* PHYS-036 */
    status = new_map(adapter, start, bytes, address, out);
    if (NT_SUCCESS(status) && process && !give_to_process(*out, adapter, process)) {
        list_remove(&(*out)->link);
        util_free(*out);
        status = STATUS_INSUFFICIENT_RESOURCES;
    }
    if (!NT_SUCCESS(status)) {
        bus_unmap(adapter->port->config.bus, address);
        *out = NULL;
        return status;
    }
    bus_set_cache(adapter->port->config.bus, address, nt_cache_type(cache));
    (*out)->cache = cache;
    (*out)->process = process;
    return STATUS_SUCCESS;
}

/* PHYS-040: of a process that ends. */
void port_maps_process_ended(struct port_adapter *adapter, const struct nt_process *process)
{
    LIST_FOR_SAFE(node, next, &adapter->maps) {
        struct port_map *map = CONTAINER(node, struct port_map, link);

        if (map->process != process)
            continue;
        VIOLATION("PHYS-040", "a process ended with 0x%llx bytes of the device mapped into it",
                  (unsigned long long)map->bytes);
        unmap_range(adapter, map);
    }
}

/* One address space holds the system and all processes: a user mapping is a mapping with an owner. */
NTSTATUS NTAPI port_cb_map_memory(HANDLE DeviceHandle, PHYSICAL_ADDRESS TranslatedAddress,
                                  ULONG Length, BOOLEAN InIoSpace, BOOLEAN MapToUserMode,
                                  MEMORY_CACHING_TYPE CacheType, PVOID *VirtualAddress)
{
    struct callback cb;
    struct port_map *map = NULL;
    void *const nothing = NULL;
    NTSTATUS status = callback_begin(&cb, DeviceHandle, "DxgkCbMapMemory", CALLER, SIM_IRQL_PASSIVE,
                                     "THREAD-047", 0);

    if (!NT_SUCCESS(status)) {
        if (VirtualAddress) /* PHYS-018 */
            (void)sim_copy_checked(VirtualAddress, &nothing, sizeof(nothing));
        return status;
    }
    if (!VirtualAddress)
        status = STATUS_INVALID_PARAMETER; /* PHYS-036 */
    else if (InIoSpace)
        status = map_ports(cb.adapter, (uint64_t)TranslatedAddress.QuadPart, Length, CacheType,
                           &map);
    else
        status = map_range(cb.adapter, (uint64_t)TranslatedAddress.QuadPart, Length, CacheType,
                           MapToUserMode ? nt_process_current() : NULL, &map);
    if (VirtualAddress &&
        !sim_copy_checked(VirtualAddress, NT_SUCCESS(status) ? &map->address : &nothing,
                          sizeof(map->address))) {
        if (map)
            unmap_range(cb.adapter, map);
        status = STATUS_INVALID_PARAMETER;
    }
    callback_end(&cb);
    return status;
}

NTSTATUS NTAPI port_cb_unmap_memory(HANDLE DeviceHandle, PVOID VirtualAddress)
{
    struct callback cb;
    NTSTATUS status = callback_begin(&cb, DeviceHandle, "DxgkCbUnmapMemory", CALLER,
                                     SIM_IRQL_PASSIVE, "THREAD-047", CALLBACK_FREEING);

    if (!NT_SUCCESS(status))
        return status;
    status = STATUS_INVALID_PARAMETER;
    LIST_FOR_SAFE(node, next, &cb.adapter->maps) {
        struct port_map *map = CONTAINER(node, struct port_map, link);

        if (map->address != VirtualAddress || (map->process && map->process != nt_process_current()))
            continue;
        unmap_range(cb.adapter, map);
        status = STATUS_SUCCESS;
        break;
    }
    if (!NT_SUCCESS(status))
        VIOLATION(
            "LIFE-100",
            "DxgkCbUnmapMemory was given an address that starts no live mapping of this adapter");
    callback_end(&cb);
    return status;
}
