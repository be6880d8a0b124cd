/* SPDX-License-Identifier: MIT */
#include "physmem/physical_object.h"

#include "physmem/physical_tracked.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "util/list.h"

struct physical_object *physical_object_new(const void *driver, DXGK_PHYSICAL_MEMORY_TYPE type,
                                            enum ram_cache cache, uint64_t bytes)
{
    struct physical_object *object = util_zalloc(1, sizeof(*object));

    if (!object)
        return NULL;
    object->driver = driver;
    object->type = type;
    object->cache = cache;
    object->bytes = bytes;
    object->section.file = -1;
    list_init(&object->tracked.link);
    list_init(&object->all);
    list_init(&object->mappings);
    return object;
}

bool physical_object_is_section(const struct physical_object *object)
{
    return object->type == DXGK_PHYSICAL_MEMORY_TYPE_SECTION;
}

bool physical_object_is_io(const struct physical_object *object)
{
    return object->type == DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE;
}

bool physical_object_is_one_run(const struct physical_object *object)
{
    return object->type == DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY ||
           object->type == DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE;
}

struct physical_object *physical_object_find(struct physical_memory *memory, HANDLE handle,
                                             const char *rule)
{
    struct physical_tracked *tracked = physical_tracked_find(memory, NULL, PHYSICAL_OBJECT,
                                                             (uintptr_t)handle, rule);

    return tracked ? CONTAINER(tracked, struct physical_object, tracked) : NULL;
}

uint64_t physical_object_page(const struct physical_object *object, uint64_t index)
{
    switch (object->type) {
    case DXGK_PHYSICAL_MEMORY_TYPE_SECTION:
        util_assert(object->section.resident[index] != 0);
        return object->section.resident[index] - 1;
    case DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE:
        return object->io_base + index;
    default:
        return physical_backing_page(&object->backing, index).value;
    }
}
