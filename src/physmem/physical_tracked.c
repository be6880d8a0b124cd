/* SPDX-License-Identifier: MIT */
#include "physmem/physical_tracked.h"

#include <stdio.h>

#include "physmem/physical_record.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

#define HANDLE_BASE ((uint64_t)0xD3D0 << 44) /* not canonical */
#define HANDLE_STEP 4u

bool physical_tracked_enter(struct physical_tracked *tracked, struct physical_memory *memory,
                            struct physical_adapter *adapter, const struct physical_class *class,
                            uint64_t bytes, uint64_t key)
{
    const struct physical_hooks *hooks = &memory->hooks;

    if (key == 0)
        key = HANDLE_BASE + ++memory->handles * HANDLE_STEP;
    /* Otherwise the holding that already has the key could no longer be found. */
    if (hash_get(&memory->table, key) || !hash_put(&memory->table, key, tracked))
        return false;
    *tracked = (struct physical_tracked){
        .memory = memory,
        .adapter = adapter,
        .class = class,
        .key = key,
        .bytes = bytes,
        .order = ++memory->orders,
        .caller = hooks->caller ? hooks->caller(hooks->context) : 0,
    };
    list_push_back(adapter ? &adapter->held : &memory->unattached, &tracked->link);
    return true;
}

void physical_tracked_remove(struct physical_tracked *tracked)
{
    hash_remove(&tracked->memory->table, tracked->key);
    list_remove(&tracked->link);
}

struct physical_tracked *physical_tracked_get(const struct physical_memory *memory,
                                              enum physical_kind kind, uint64_t key)
{
    struct physical_tracked *tracked = hash_get(&memory->table, key);

    return tracked && tracked->class->kind == kind ? tracked : NULL;
}

struct physical_tracked *physical_tracked_find(struct physical_memory *memory,
                                               const struct physical_adapter *adapter,
                                               enum physical_kind kind, uint64_t key,
                                               const char *rule)
{
    struct physical_tracked *tracked = hash_get(&memory->table, key);
    bool retired = !tracked && key > HANDLE_BASE &&
                   key <= HANDLE_BASE + memory->handles * HANDLE_STEP;

    if (tracked && tracked->class->kind != kind) {
        VIOLATION(rule, "the handle of a %s was given where a %s is wanted",
                  physical_kind_name(tracked->class->kind), physical_kind_name(kind));
        return NULL;
    }
    if (tracked && adapter && tracked->adapter != adapter) {
        VIOLATION(rule, "the %s belongs to another adapter than %s", physical_kind_name(kind),
                  adapter->name);
        return NULL;
    }
    if (!tracked)
        VIOLATION(rule, "%s handle of a %s",
                  retired    ? "retired"
                  : key == 0 ? "NULL"
                             : "unknown",
                  physical_kind_name(kind));
    return tracked;
}

/* Freeing one holding may free others of the list (an object frees its adapter object and ADLs), so
 * start again at the end each time. */
void physical_tracked_reclaim(struct list *held)
{
    while (!list_empty(held)) {
        struct physical_tracked *tracked = CONTAINER(held->prev, struct physical_tracked, link);

        tracked->class->free(tracked);
    }
}

void physical_tracked_describe(const struct physical_tracked *tracked, char *text, size_t bytes)
{
    const struct physical_hooks *hooks = &tracked->memory->hooks;
    char place[64] = "", context[40] = "";

    if (!hooks->symbolize ||
        !hooks->symbolize(hooks->context, tracked->caller, place, sizeof(place)))
        place[0] = '\0';
    if (tracked->class->context)
        snprintf(context, sizeof(context), ", Context 0x%llx",
                 (unsigned long long)tracked->class->context(tracked));
    snprintf(text, bytes, "%s of %llu bytes%s, number %llu%s%s",
             physical_kind_name(tracked->class->kind), (unsigned long long)tracked->bytes, context,
             (unsigned long long)tracked->order, place[0] ? " by " : "", place);
}
