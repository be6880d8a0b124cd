/* SPDX-License-Identifier: MIT */
/*
 * Frame buffer save: a section for each physical adapter whose frame buffer may have to be saved
 * across a power transition.
 *
 *   pin     makes the first CommitSize bytes resident, locks them and maps them for the device; the
 *           driver gets an MDL (version 1) or an ADL (version 2). One pin at a time
 *   map     gives a view of any part for the CPU, without a pin: the way out when pinning fails
 *
 * The sections are the host's; what the driver holds, and may leak, are pins and mappings.
 */
#include "physmem/physical_save.h"

#include "physmem/physical_adl.h"
#include "physmem/physical_gate.h"
#include "physmem/physical_host_mdl.h"
#include "physmem/physical_mapping.h"
#include "physmem/physical_object.h"
#include "physmem/physical_record.h"
#include "physmem/physical_refuse.h"
#include "physmem/physical_services.h"
#include "physmem/physical_tracked.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "util/checked.h"
#include "util/list.h"
#include "verify/verify.h"

struct physical_save_area {
    struct physical_object *object; /* NULL: nothing to save for this index */
    struct physical_adl *pin;
    MDL *mdl;                      /* of a version 1 pin */
    struct physical_backing pages; /* the pages that the MDL must have */
};

static bool make_room(struct physical_adapter *adapter, UINT index)
{
    struct physical_save_area *save;

    if (index < adapter->save_count)
        return true;
    save = util_realloc(adapter->save, (index + (size_t)1) * sizeof(*save));
    if (!save)
        return false;
    for (UINT i = adapter->save_count; i <= index; i++)
        save[i] = (struct physical_save_area){0};
    adapter->save = save;
    adapter->save_count = index + 1;
    return true;
}

NTSTATUS physical_save_create(struct physical_adapter *adapter, UINT physical_index,
                              uint64_t maximum_bytes)
{
    struct physical_object *object;
    NTSTATUS status;

    if (maximum_bytes % PAGE_BYTES != 0) {
        VIOLATION("PHYS-088", "MaximumSize 0x%llx is not a multiple of PAGE_SIZE",
                  (unsigned long long)maximum_bytes);
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    }
    if (maximum_bytes == 0)
        return STATUS_SUCCESS;
    if (!make_room(adapter, physical_index))
        return STATUS_INSUFFICIENT_RESOURCES;
    object = physical_object_new(adapter->driver, DXGK_PHYSICAL_MEMORY_TYPE_SECTION, RAM_CACHED,
                                 maximum_bytes);
    if (!object)
        return STATUS_INSUFFICIENT_RESOURCES;
    /* Not tracked: no handle of it exists outside this file. */
    object->tracked.memory = adapter->memory;
    object->tracked.adapter = adapter;
    object->tracked.bytes = maximum_bytes;
    object->section.protection = PAGE_READWRITE;
    status = physical_section_create(adapter->memory, object);
    if (status != STATUS_SUCCESS) {
        util_free(object);
        return status;
    }
    list_push_back(&adapter->memory->objects, &object->all);
    adapter->save[physical_index].object = object;
    return STATUS_SUCCESS;
}

static void release_mdl(struct physical_adapter *adapter, struct physical_save_area *area)
{
    if (!area->mdl)
        return;
    if (!physical_host_mdl_unchanged(area->mdl, &area->pages))
        VIOLATION("PHYS-077", "the MDL of a frame buffer pin was changed by the driver");
    physical_host_mdl_destroy(adapter->memory, area->mdl);
    util_free(area->pages.list);
    area->mdl = NULL;
    area->pages = (struct physical_backing){0};
}

/* Pins and mappings, which were in the adapter's list, are freed already. */
void physical_save_free(struct physical_adapter *adapter)
{
    for (UINT i = 0; i < adapter->save_count; i++) {
        release_mdl(adapter, &adapter->save[i]);
        util_assert(!adapter->save[i].object || list_empty(&adapter->save[i].object->mappings));
        if (adapter->save[i].object)
            physical_object_free(adapter->save[i].object);
    }
    util_free(adapter->save);
    adapter->save = NULL;
    adapter->save_count = 0;
}

/* The area of an index, or NULL after a report (PHYS-094). */
static struct physical_save_area *find_area(const struct physical_adapter *adapter, UINT index)
{
    if (index < adapter->save_count && adapter->save[index].object)
        return &adapter->save[index];
    VIOLATION("PHYS-094", "there is nothing to save for physical adapter %u", index);
    return NULL;
}

/* ---- pin ---- */

static NTSTATUS check_pin(const struct physical_save_area *area, uint64_t commit)
{
    if (commit == 0)
        return physical_refuse("PHYS-094", "CommitSize is 0");
    if (commit % PAGE_BYTES != 0 || commit > area->object->bytes)
        return physical_refuse("PHYS-093",
                               "CommitSize 0x%llx is not a multiple of PAGE_SIZE of at most 0x%llx",
                               (unsigned long long)commit, (unsigned long long)area->object->bytes);
    if (area->pin)
        return physical_refuse("PHYS-095", "the frame buffer section is pinned already");
    return STATUS_SUCCESS;
}

static NTSTATUS pin(struct physical_adapter *adapter, struct physical_save_area *area,
                    uint64_t commit, bool want_contiguous)
{
    struct physical_adl_request request = {
        .object = area->object,
        .adapter = adapter,
        .kind = PHYSICAL_PIN,
        .pages = commit / PAGE_BYTES,
        .want_contiguous = want_contiguous,
    };

    return physical_adl_create(&request, &area->pin);
}

/* Version 1 of the pin: an MDL over the pages of its ADL. */
static NTSTATUS pin_mdl(struct physical_adapter *adapter, struct physical_save_area *area)
{
    area->pages.pages = area->pin->pages;
    area->pages.list = util_alloc(area->pages.pages * sizeof(*area->pages.list));
    if (!area->pages.list)
        return STATUS_INSUFFICIENT_RESOURCES;
    for (uint64_t i = 0; i < area->pages.pages; i++)
        area->pages.list[i].value = physical_object_page(area->object, i);
    area->mdl = physical_host_mdl_create(adapter->memory, &area->pages);
    if (area->mdl)
        return STATUS_SUCCESS;
    util_free(area->pages.list);
    area->pages = (struct physical_backing){0};
    return STATUS_INSUFFICIENT_RESOURCES;
}

static NTSTATUS unpin(struct physical_adapter *adapter, struct physical_save_area *area)
{
    release_mdl(adapter, area);
    physical_adl_destroy(area->pin);
    area->pin = NULL;
    return STATUS_SUCCESS;
}

NTSTATUS physical_save_pin(struct physical_adapter *adapter, DXGKARGCB_PINFRAMEBUFFERFORSAVE *args)
{
    struct physical_save_area *area;
    NTSTATUS status;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbPinFrameBufferForSave");
    args->pMdl = NULL;
    if (!physical_gate_acquire(adapter))
        return STATUS_INVALID_DEVICE_STATE;
    if (!physical_gate_legacy(adapter))
        return STATUS_NOT_SUPPORTED;
    area = find_area(adapter, args->PhysicalAdapterIndex);
    status = area ? check_pin(area, args->CommitSize) : STATUS_INVALID_PARAMETER;
    if (status != STATUS_SUCCESS)
        return status;
    status = pin(adapter, area, args->CommitSize, false);
    if (status != STATUS_SUCCESS)
        return status;
    status = pin_mdl(adapter, area);
    if (status != STATUS_SUCCESS) {
        unpin(adapter, area);
        return status;
    }
    args->pMdl = area->mdl;
    return STATUS_SUCCESS;
}

NTSTATUS physical_save_pin2(struct physical_adapter *adapter, DXGKARGCB_PINFRAMEBUFFERFORSAVE2 *args)
{
    struct physical_save_area *area;
    NTSTATUS status;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbPinFrameBufferForSave2");
    args->pAdl = NULL;
    if (!physical_gate_acquire(adapter))
        return STATUS_INVALID_DEVICE_STATE;
    if (args->Flags.Reserved != 0)
        return physical_refuse("PHYS-099", "Flags 0x%x has reserved bits", args->Flags.Value);
    area = find_area(adapter, args->PhysicalAdapterIndex);
    status = area ? check_pin(area, args->CommitSize) : STATUS_INVALID_PARAMETER;
    if (status != STATUS_SUCCESS)
        return status;
    status = pin(adapter, area, args->CommitSize, args->Flags.PreferContiguous);
    if (status == STATUS_SUCCESS)
        args->pAdl = area->pin->adl;
    return status;
}

NTSTATUS physical_save_unpin(struct physical_adapter *adapter,
                             const DXGKARGCB_UNPINFRAMEBUFFERFORSAVE *args)
{
    struct physical_save_area *area;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbUnpinFrameBufferForSave");
    area = find_area(adapter, args->PhysicalAdapterIndex);
    if (!area)
        return STATUS_INVALID_PARAMETER;
    if (!area->pin)
        return physical_refuse("PHYS-100", "nothing is pinned for physical adapter %u",
                               args->PhysicalAdapterIndex);
    return unpin(adapter, area);
}

/* ---- map ---- */

NTSTATUS physical_save_map(struct physical_adapter *adapter, DXGKARGCB_MAPFRAMEBUFFERPOINTER *args)
{
    struct physical_mapping_request request;
    struct physical_save_area *area;
    struct physical_mapping *mapping;
    uint64_t offset;
    NTSTATUS status;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbMapFrameBufferPointer");
    args->pBaseAddress = NULL;
    if (!physical_gate_acquire(adapter))
        return STATUS_INVALID_DEVICE_STATE;
    area = find_area(adapter, args->PhysicalAdapterIndex);
    if (!area)
        return STATUS_INVALID_PARAMETER;
    if (args->Size == 0)
        return physical_refuse("PHYS-094", "Size is 0");
    if (args->Size % PAGE_BYTES != 0 || args->Offset % PAGE_BYTES != 0)
        return physical_refuse("PHYS-103",
                               "Offset 0x%llx and Size 0x%llx are not both multiples of PAGE_SIZE",
                               (unsigned long long)args->Offset, (unsigned long long)args->Size);
    if (!range_inside(args->Offset, args->Size, area->object->bytes))
        return physical_refuse("PHYS-105",
                               "0x%llx bytes at 0x%llx are not inside a section of 0x%llx",
                               (unsigned long long)args->Size, (unsigned long long)args->Offset,
                               (unsigned long long)area->object->bytes);
    request = (struct physical_mapping_request){
        .object = area->object,
        .adapter = adapter,
        .kind = PHYSICAL_SAVE_MAPPING,
        .offset = args->Offset,
        .size = args->Size,
    };
    status = physical_mapping_create(&request, &mapping, &offset);
    if (status != STATUS_SUCCESS)
        return status;
    args->pBaseAddress = mapping->base;
    args->Offset = offset;
    return STATUS_SUCCESS;
}

NTSTATUS physical_save_unmap(struct physical_adapter *adapter,
                             const DXGKARGCB_UNMAPFRAMEBUFFERPOINTER *args)
{
    struct physical_tracked *tracked;
    struct physical_save_area *area;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbUnmapFrameBufferPointer");
    area = find_area(adapter, args->PhysicalAdapterIndex);
    if (!area)
        return STATUS_INVALID_PARAMETER;
    tracked = physical_tracked_get(adapter->memory, PHYSICAL_SAVE_MAPPING,
                                   (uintptr_t)args->pBaseAddress);
    if (!tracked || CONTAINER(tracked, struct physical_mapping, tracked)->object != area->object)
        return physical_refuse(
            "PHYS-107",
            "pBaseAddress is no live mapping of the frame buffer section of physical adapter %u",
            args->PhysicalAdapterIndex);
    physical_mapping_free(CONTAINER(tracked, struct physical_mapping, tracked));
    return STATUS_SUCCESS;
}
