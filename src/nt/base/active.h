/* SPDX-License-Identifier: MIT */
/*
 * Objects in a driver's memory that the host will touch later: set timers, queued DPCs, ... Their
 * records hang on the pool block or the thread whose stack holds the object, so that they can be
 * dropped when that memory goes.
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
    /* The report when its memory goes (NT-006): what was in it. */
    const char *noun;
    uint32_t code, subcode;
};

struct nt_active {
    struct nt_resource resource;
    struct list in_memory;
    const struct nt_active_class *class;
    uintptr_t address;
};

/* Enter in `map` (by address) and hang on what holds it. False: out of memory. */
bool nt_active_add(struct nt_active *active, struct hash_map *map,
                   const struct nt_active_class *class, const void *object, const void *caller);
void nt_active_remove(struct nt_active *active, struct hash_map *map);
/* The memory goes: report (NT-006) and drop. */
void nt_active_drop_all(struct list *actives, const char *where);

#endif
