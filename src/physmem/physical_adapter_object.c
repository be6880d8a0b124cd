/* SPDX-License-Identifier: MIT */
#include "physmem/physical_adapter_object.h"

#include "physmem/physical_adl.h"
#include "physmem/physical_object.h"
#include "physmem/physical_tracked.h"
#include "util/alloc.h"
#include "util/list.h"

static void free_tracked(struct physical_tracked *tracked)
{
    physical_adapter_object_free(CONTAINER(tracked, struct physical_adapter_object, tracked));
}

static const struct physical_class adapter_object_class = {.kind = PHYSICAL_ADAPTER_OBJECT,
                                                           .free = free_tracked};

NTSTATUS physical_adapter_object_create(struct physical_object *object,
                                        struct physical_adapter *adapter)
{
    struct physical_adapter_object *opened = util_zalloc(1, sizeof(*opened));

    if (!opened)
        return STATUS_INSUFFICIENT_RESOURCES;
    if (!physical_tracked_enter(&opened->tracked, object->tracked.memory, adapter,
                                &adapter_object_class, object->bytes, 0)) {
        util_free(opened);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    opened->object = object;
    list_init(&opened->adls);
    object->opened = opened;
    return STATUS_SUCCESS;
}

void physical_adapter_object_free(struct physical_adapter_object *opened)
{
    while (!list_empty(&opened->adls))
        physical_adl_destroy(CONTAINER(opened->adls.next, struct physical_adl, of_opened));
    opened->object->opened = NULL;
    physical_tracked_remove(&opened->tracked);
    util_free(opened);
}

struct physical_adapter_object *physical_adapter_object_find(struct physical_memory *memory,
                                                             HANDLE handle, const char *rule)
{
    struct physical_tracked *tracked = physical_tracked_find(memory, NULL, PHYSICAL_ADAPTER_OBJECT,
                                                             (uintptr_t)handle, rule);

    return tracked ? CONTAINER(tracked, struct physical_adapter_object, tracked) : NULL;
}
