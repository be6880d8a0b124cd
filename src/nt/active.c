/* SPDX-License-Identifier: MIT */
/* Records of active objects in driver memory, hung on what holds that memory; and counts by
 * address. */
#include "nt/nt_private.h"

bool nt_active_add(struct nt_active *active, struct hash_map *map,
                   const struct nt_active_class *class, const void *object, const void *caller)
{
    struct nt_block *block;

    if (!hash_put(map, (uintptr_t)object, active))
        return false;
    active->class = class;
    active->address = (uintptr_t)object;
    list_init(&active->in_memory);
    block = nt_pool_find(object);
    if (block)
        list_push_back(&block->actives, &active->in_memory);
    else if (nt_on_stack(object))
        list_push_back(&nt_thread()->actives, &active->in_memory);
    nt_resource_track(&active->resource, &class->resource, caller);
    return true;
}

void nt_active_remove(struct nt_active *active, struct hash_map *map)
{
    hash_remove(map, active->address);
    list_remove(&active->in_memory);
    nt_resource_untrack(&active->resource);
}

void nt_active_drop_all(struct list *actives, const char *where)
{
    while (!list_empty(actives)) {
        struct nt_active *active = CONTAINER(actives->next, struct nt_active, in_memory);
        char caller[96];

        nt_caller_name(active->resource.caller, caller, sizeof(caller));
        verify_report_code("NT-006", VERIFY_ERROR, active->class->code, active->class->subcode,
                           active->address, 0, 0, "%s holds %s (from %s)", where,
                           active->class->noun, caller);
        nt_resource_reclaim(&active->resource);
    }
}

/* ---- counts by address ---- */

unsigned long nt_count_get(const struct hash_map *map, const void *address)
{
    return (uintptr_t)hash_get(map, (uintptr_t)address);
}

bool nt_count_add(struct hash_map *map, const void *address)
{
    return hash_put(map, (uintptr_t)address, (void *)(nt_count_get(map, address) + 1));
}

void nt_count_remove(struct hash_map *map, const void *address)
{
    unsigned long count = nt_count_get(map, address);

    if (count > 1)
        hash_put(map, (uintptr_t)address, (void *)(count - 1));
    else
        hash_remove(map, (uintptr_t)address);
}
