/* SPDX-License-Identifier: MIT */
/* DxgkCbDestroyPhysicalMemoryObject, and freeing an object that leaked. */
#include "physmem/physical_services.h"

#include "physmem/physical_adapter_object.h"
#include "physmem/physical_mapping.h"
#include "physmem/physical_object.h"
#include "physmem/physical_record.h"
#include "physmem/physical_refuse.h"
#include "physmem/physical_tracked.h"
#include "util/alloc.h"
#include "util/list.h"
#include "verify/verify.h"

void physical_object_free_memory(struct physical_memory *memory, struct physical_object *object)
{
    if (object->type == DXGK_PHYSICAL_MEMORY_TYPE_SECTION)
        physical_section_free(memory, object);
    else
        physical_backing_give(memory, &object->backing);
}

void physical_object_free(struct physical_object *object)
{
    struct physical_memory *memory = object->tracked.memory;

    if (object->opened)
        physical_adapter_object_free(object->opened);
    while (!list_empty(&object->mappings))
        physical_mapping_free(CONTAINER(object->mappings.next, struct physical_mapping, of_object));
    physical_object_free_memory(memory, object);
    list_remove(&object->all);
    physical_tracked_remove(&object->tracked);
    util_free(object);
}

/* The adapter object given along with the object; NULL after a report if the two do not belong
 * together. */
static struct physical_adapter_object *find_pair(struct physical_memory *memory,
                                                 const struct physical_object *object, HANDLE handle)
{
    struct physical_adapter_object *opened = physical_adapter_object_find(memory, handle,
                                                                          "PHYS-138");

    if (opened && opened->object != object) {
        VIOLATION("PHYS-141",
                  "hAdapterMemoryObject was opened from another object than hPhysicalMemoryObject");
        return NULL;
    }
    return opened;
}

void physical_object_destroy(struct physical_memory *memory,
                             const DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT *args)
{
    struct physical_object *object;

    if (!args) {
        physical_refuse("PHYS-015", "NULL argument to DxgkCbDestroyPhysicalMemoryObject");
        return;
    }
    object = physical_object_find(memory, args->hPhysicalMemoryObject, "PHYS-130");
    if (!object ||
        (args->hAdapterMemoryObject && !find_pair(memory, object, args->hAdapterMemoryObject)))
        return;
    if (object->opened && !list_empty(&object->opened->adls)) {
        verify_fatal(
            "PHYS-139", SYSMM_BUGCHECK, SYSMM_MEMORY_UNLOCKED_UNDER_ADL, object->tracked.key, 0, 0,
            "a physical memory object of %llu bytes was destroyed while an ADL of it exists",
            (unsigned long long)object->bytes);
        return;
    }
    if (object->opened && !args->hAdapterMemoryObject) {
        verify_fatal("PHYS-140", SYSMM_BUGCHECK, SYSMM_ADAPTER_OBJECT_LEAKED, object->tracked.key,
                     0, 0, "a physical memory object of %llu bytes was destroyed while open for %s",
                     (unsigned long long)object->bytes, object->opened->tracked.adapter->name);
        return;
    }
    LIST_FOR(link, &object->mappings)
        VIOLATION("PHYS-142", "a CPU mapping of %llu bytes was left when its object was destroyed",
                  (unsigned long long)CONTAINER(link, struct physical_mapping, of_object)->size);
    physical_object_free(object);
}
