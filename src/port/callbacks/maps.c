/* SPDX-License-Identifier: MIT */
/* Ranges of the device that its driver has mapped (LIFE-096 to LIFE-101). */
#include <string.h>

#include "port/callbacks/maps.h"
#include "bus/device.h"
#include "bus/ports.h"
#include "bus/window.h"
#include "nt/base/current.h"
#include "nt/mm/address_query.h"
#include "nt/mm/user_range.h"
#include "port/callbacks/callback.h"
#include "port/callbacks/physical.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "port/running/post.h"
#include "ram/ram.h"
#include "sim/irql.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "verify/refusal.h"

struct map {
    struct list link; /* port_adapter.maps */
    void *address;
    uint64_t start, bytes;
    MEMORY_CACHING_TYPE cache;
    struct nt_process *process; /* the process of a user mode mapping; NULL: system space */
    bool ports;                 /* I/O ports: nothing is mapped, this is only a record */
    bool ram;                   /* the frame buffer of firmware, at its place in RAM */
    bool left;                  /* it outlived a StopDevice, and that was told */
};

static void unmap_range(struct port_adapter *adapter, struct map *map)
{
    if (!map->ports) {
        port_physical_view_ends(adapter->port, map->address, map->bytes, NULL);
        if (map->process)
            nt_user_range_remove(map->address);
        if (!map->ram)
            bus_unmap(adapter->port->config.bus, map->address);
    }
    list_remove(&map->link);
    util_free(map);
}

void port_maps_stopped(struct port_adapter *adapter, const char *when)
{
    LIST_FOR(node, &adapter->maps) {
        struct map *map = CONTAINER(node, struct map, link);

        if (!map->left && !adapter->ddi.gone)
            WARNING("LIFE-101", "the mapping of 0x%llx (%llu bytes) is still there %s",
                    (unsigned long long)map->start, (unsigned long long)map->bytes, when);
        map->left = true;
    }
}

void port_maps_remove(struct port_adapter *adapter)
{
    LIST_FOR_SAFE(node, next, &adapter->maps)
        unmap_range(adapter, CONTAINER(node, struct map, link));
}

/* Does the range lie inside one memory range that the device was assigned? */
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

/* Do the ports lie inside one port range that the device was assigned? */
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
                        struct map **out)
{
    struct map *map = util_zalloc(1, sizeof(*map));

    if (!map)
        return STATUS_INSUFFICIENT_RESOURCES;
    map->address = address;
    map->start = start;
    map->bytes = bytes;
    list_push_back(&adapter->maps, &map->link);
    *out = map;
    return STATUS_SUCCESS;
}

/* PHYS-033: ports are not mapped: the address of a port is its number. The cache type has no
 * effect, but must be valid (LIFE-098). */
static NTSTATUS map_ports(struct port_adapter *adapter, uint64_t start, uint64_t count,
                          MEMORY_CACHING_TYPE cache, struct map **out)
{
    NTSTATUS status;

    if (!count || cache < MmNonCached || cache > MmWriteCombined)
        return refuse(STATUS_INVALID_PARAMETER, "LIFE-098", "%llu ports with cache type %d",
                      (unsigned long long)count, (int)cache);
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
static bool give_to_process(const struct map *map, const struct port_adapter *adapter,
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
                          MEMORY_CACHING_TYPE cache, struct nt_process *process, struct map **out)
{
    const bool ram = port_post_is_in_ram(adapter, start, bytes); /* PRES-004 */
    NTSTATUS status;
    void *address;

    if (!bytes || cache < MmNonCached || cache > MmWriteCombined)
        return refuse(STATUS_INVALID_PARAMETER, "LIFE-098", "%llu bytes with cache type %d",
                      (unsigned long long)bytes, (int)cache);
    if (!granted(adapter, start, bytes) && !ram) {
        VIOLATION("PHYS-027", "0x%llx + 0x%llx lies in no memory range of the adapter",
                  (unsigned long long)start, (unsigned long long)bytes);
        return STATUS_INVALID_PARAMETER;
    }
    LIST_FOR(node, &adapter->maps) {
        const struct map *other = CONTAINER(node, struct map, link);

        if (!other->ports && other->cache != cache &&
            ranges_overlap(start, bytes, other->start, other->bytes)) {
            VIOLATION("LIFE-098", "0x%llx is already mapped with another cache type",
                      (unsigned long long)start);
            return STATUS_CONFLICTING_ADDRESSES;
        }
    }
    address = ram ? ram_direct(adapter->port->config.ram, (struct phys_addr){start})
                  : bus_map(adapter->port->config.bus, (struct phys_addr){start}, bytes);
    if (!address)
        return STATUS_INSUFFICIENT_RESOURCES; /* PHYS-036 */
    status = new_map(adapter, start, bytes, address, out);
    if (NT_SUCCESS(status) && process && !give_to_process(*out, adapter, process)) {
        list_remove(&(*out)->link);
        util_free(*out);
        status = STATUS_INSUFFICIENT_RESOURCES;
    }
    if (!NT_SUCCESS(status)) {
        if (!ram)
            bus_unmap(adapter->port->config.bus, address);
        *out = NULL;
        return status;
    }
    (*out)->ram = ram;
    if (!ram)
        bus_set_cache(adapter->port->config.bus, address, nt_address_cache_type(cache));
    (*out)->cache = cache;
    (*out)->process = process;
    return STATUS_SUCCESS;
}

void port_maps_process_ended(struct port_adapter *adapter, const struct nt_process *process)
{
    LIST_FOR_SAFE(node, next, &adapter->maps) {
        struct map *map = CONTAINER(node, struct map, link);

        if (map->process != process)
            continue;
        VIOLATION("PHYS-040", "a process ended with 0x%llx bytes of the device mapped into it",
                  (unsigned long long)map->bytes);
        unmap_range(adapter, map);
    }
}

/* Hosted code has one address space, so a user mode mapping is one that belongs to a process. */
static NTSTATUS NTAPI map_memory(HANDLE DeviceHandle, PHYSICAL_ADDRESS TranslatedAddress,
                                 ULONG Length, BOOLEAN InIoSpace, BOOLEAN MapToUserMode,
                                 MEMORY_CACHING_TYPE CacheType, PVOID *VirtualAddress)
{
    struct port_callback cb;
    struct map *map = NULL;
    void *const nothing = NULL;
    NTSTATUS status = port_callback_begin(&cb, DeviceHandle, "DxgkCbMapMemory", PORT_CALLER,
                                          SIM_IRQL_PASSIVE, "THREAD-047", 0);

    if (!NT_SUCCESS(status)) {
        (void)PORT_GIVE(PVOID, VirtualAddress, &nothing); /* PHYS-018 */
        return status;
    }
    if (!VirtualAddress)
        status = refuse(STATUS_INVALID_PARAMETER, "PHYS-036", "VirtualAddress is NULL");
    else if (InIoSpace)
        status = map_ports(cb.adapter, (uint64_t)TranslatedAddress.QuadPart, Length, CacheType,
                           &map);
    else
        status = map_range(cb.adapter, (uint64_t)TranslatedAddress.QuadPart, Length, CacheType,
                           MapToUserMode ? nt_process_current() : NULL, &map);
    if (VirtualAddress &&
        !PORT_GIVE(PVOID, VirtualAddress, NT_SUCCESS(status) ? &map->address : &nothing)) {
        if (map)
            unmap_range(cb.adapter, map);
        status = STATUS_INVALID_PARAMETER;
    }
    return port_callback_return(&cb, status);
}

static NTSTATUS NTAPI unmap_memory(HANDLE DeviceHandle, PVOID VirtualAddress)
{
    struct port_callback cb;
    NTSTATUS status = port_callback_begin(&cb, DeviceHandle, "DxgkCbUnmapMemory", PORT_CALLER,
                                          SIM_IRQL_PASSIVE, "THREAD-047", PORT_CALLBACK_FREEING);

    if (!NT_SUCCESS(status))
        return status;
    status = STATUS_INVALID_PARAMETER;
    LIST_FOR_SAFE(node, next, &cb.adapter->maps) {
        struct map *map = CONTAINER(node, struct map, link);

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
    return port_callback_return(&cb, status);
}

void port_maps_fill(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbMapMemory = map_memory;
    interface->DxgkCbUnmapMemory = unmap_memory;
}
