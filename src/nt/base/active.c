/* SPDX-License-Identifier: MIT */
/* Records of active objects in driver memory, linked to what contains that memory. */
#include "nt/base/active.h"
#include "nt/base/caller.h"
#include "nt/base/memory.h"
#include "nt/base/resource.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

bool nt_active_add(struct nt_active *active, struct hash_map *map,
                   const struct nt_active_class *class, const void *object, const void *caller)
{
    struct list *actives = nt_memory_actives(object);

    if (!hash_put(map, (uintptr_t)object, active))
        return false;
    active->class = class;
    active->address = (uintptr_t)object;
    list_init(&active->in_memory);
    if (actives)
        list_push_back(actives, &active->in_memory);
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
        verify_report_code("NT-006", active->class->code, active->class->subcode, active->address,
                           0, 0, "%s holds %s (from %s)", where, active->class->noun, caller);
        nt_resource_reclaim(&active->resource);
    }
}
