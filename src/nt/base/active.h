/* SPDX-License-Identifier: MIT */
/*
 * Active objects: objects in a driver's memory that the host will access later, such as set timers
 * and queued DPCs. The host's record of each is linked to the pool block or to the thread whose
 * stack contains the object, so that it is dropped when that memory goes away.
 */
#ifndef DXGK_NT_ACTIVE_H
#define DXGK_NT_ACTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "nt/base/resource.h"
#include "util/list.h"

struct hash_map;

struct nt_active_class {
    struct nt_resource_class resource;
    /* for the report when its memory goes away (NT-006): what was in it */
    const char *noun;
    uint32_t code, subcode;
};

struct nt_active {
    struct nt_resource resource;
    struct list in_memory;
    const struct nt_active_class *class;
    uintptr_t address;
};

/* Enter it in `map` (by address) and link it to what contains it. False: out of memory. */
bool nt_active_add(struct nt_active *active, struct hash_map *map,
                   const struct nt_active_class *class, const void *object, const void *caller);
void nt_active_remove(struct nt_active *active, struct hash_map *map);
/* The memory goes away: report the objects in it (NT-006) and drop them. */
void nt_active_drop_all(struct list *actives, const char *where);

#endif
