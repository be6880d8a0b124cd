/* SPDX-License-Identifier: MIT */
/* DxgkCbMapPhysicalMemory and DxgkCbUnmapPhysicalMemory. */
#include "physmem/physical_services.h"

#include "physmem/physical_mapping.h"
#include "physmem/physical_object.h"
#include "physmem/physical_refuse.h"
#include "physmem/physical_tracked.h"
#include "util/checked.h"
#include "util/list.h"
#include "verify/verify.h"

static NTSTATUS check_map(const struct physical_object *object,
                          const DXGKARGCB_MAP_PHYSICAL_MEMORY *args)
{
    if (args->AccessMode != DXGK_ACCESS_MODE_KERNEL_MODE &&
        args->AccessMode != DXGK_ACCESS_MODE_USER_MODE)
        return physical_refuse("PHYS-149", "AccessMode %u is neither kernel nor user mode",
                               (unsigned)args->AccessMode);
    if (physical_object_is_io(object) && args->AccessMode == DXGK_ACCESS_MODE_USER_MODE)
        return physical_refuse("PHYS-150", "an IO space object cannot be mapped in user mode");
    if (args->Size == 0 || !range_inside(args->Offset, args->Size, object->bytes))
        return physical_refuse("PHYS-148",
                               "0x%llx bytes at 0x%llx are not inside an object of 0x%llx",
                               (unsigned long long)args->Size, (unsigned long long)args->Offset,
                               (unsigned long long)object->bytes);
    return STATUS_SUCCESS;
}

NTSTATUS physical_object_map(struct physical_memory *memory, struct nt_process *process,
                             DXGKARGCB_MAP_PHYSICAL_MEMORY *args)
{
    struct physical_mapping_request request;
    struct physical_mapping *mapping;
    struct physical_object *object;
    uint64_t offset;
    NTSTATUS status;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbMapPhysicalMemory");
    args->pMappedAddress = NULL;
    object = physical_object_find(memory, args->hPhysicalMemoryObject, "PHYS-130");
    if (!object)
        return STATUS_INVALID_HANDLE;
    status = check_map(object, args);
    if (status != STATUS_SUCCESS)
        return status;
    request = (struct physical_mapping_request){
        .object = object,
        .adapter = object->tracked.adapter,
        .kind = PHYSICAL_MAPPING,
        .offset = args->Offset,
        .size = args->Size,
        .process = process,
        .user = args->AccessMode == DXGK_ACCESS_MODE_USER_MODE,
    };
    status = physical_mapping_create(&request, &mapping, &offset);
    if (status != STATUS_SUCCESS)
        return status;
    args->pMappedAddress = mapping->base;
    args->Offset = offset;
    args->Size = mapping->size;
    return STATUS_SUCCESS;
}

void physical_object_unmap(struct physical_memory *memory, const struct nt_process *process,
                           const DXGKARGCB_UNMAP_PHYSICAL_MEMORY *args)
{
    struct physical_tracked *tracked;
    struct physical_mapping *mapping;
    struct physical_object *object;

    if (!args) {
        physical_refuse("PHYS-015", "NULL argument to DxgkCbUnmapPhysicalMemory");
        return;
    }
    object = physical_object_find(memory, args->hPhysicalMemoryObject, "PHYS-130");
    if (!object)
        return;
    tracked = physical_tracked_get(memory, PHYSICAL_MAPPING, (uintptr_t)args->pBaseAddress);
    mapping = tracked ? CONTAINER(tracked, struct physical_mapping, tracked) : NULL;
    if (!mapping || mapping->object != object) {
        VIOLATION("PHYS-157", "pBaseAddress is no live mapping of the object");
        return;
    }
    if (mapping->user && mapping->process != process) {
        VIOLATION("PHYS-158",
                  "a user mode mapping was unmapped in another process than it was made in");
        return;
    }
    if (args->Size != mapping->size)
        VIOLATION("PHYS-157", "0x%llx bytes are mapped, and 0x%llx were unmapped",
                  (unsigned long long)mapping->size, (unsigned long long)args->Size);
    physical_mapping_free(mapping);
}
