/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   Key 0 marks an empty slot. An entry is in the first slot that was free at or after its home
 *   (the top bits of the key times an odd constant), and there is never an empty slot between the
 *   two. Removal preserves this without tombstones: later entries that may be in the emptied slot
 *   are shifted back, so a long-lived table does not degrade.
 */
#include "util/hash.h"

#include <stddef.h>

#include "util/alloc.h"

enum { FIRST_CAPACITY = 16 };

static uint32_t home(const struct hash_map *map, uint64_t key)
{
    return (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 32) & (map->capacity - 1);
}

/* The slot of the key, or the empty slot where it would go. The map is never full. */
static struct hash_entry *find(const struct hash_map *map, uint64_t key)
{
    uint32_t slot = home(map, key);

    while (map->entries[slot].key != 0 && map->entries[slot].key != key)
        slot = (slot + 1) & (map->capacity - 1);
    return &map->entries[slot];
}

void hash_init(struct hash_map *map)
{
    *map = (struct hash_map){0};
}

void hash_finish(struct hash_map *map)
{
    util_free(map->entries);
    hash_init(map);
}

static bool grow(struct hash_map *map)
{
    struct hash_map larger = {.capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY,
                              .count = map->count};

    if (larger.capacity == 0)
        return false;
    larger.entries = util_zalloc(larger.capacity, sizeof(*larger.entries));
    if (!larger.entries)
        return false;
    for (uint32_t i = 0; i < map->capacity; i++)
        if (map->entries[i].key != 0)
            *find(&larger, map->entries[i].key) = map->entries[i];
    util_free(map->entries);
    *map = larger;
    return true;
}

bool hash_put(struct hash_map *map, uint64_t key, void *value)
{
    struct hash_entry *entry = map->capacity ? find(map, key) : NULL;

    if (entry && entry->key == key) {
        entry->value = value;
        return true;
    }
    if (!entry || map->count >= map->capacity / 4 * 3) {
        if (!grow(map))
            return false;
        entry = find(map, key);
    }
    *entry = (struct hash_entry){.key = key, .value = value};
    map->count++;
    return true;
}

void *hash_get(const struct hash_map *map, uint64_t key)
{
    const struct hash_entry *entry;

    if (map->count == 0 || key == 0)
        return NULL;
    entry = find(map, key);
    return entry->key == key ? entry->value : NULL;
}

void *hash_remove(struct hash_map *map, uint64_t key)
{
    uint32_t mask = map->capacity - 1, hole, slot;
    struct hash_entry *entry;
    void *value;

    if (map->count == 0 || key == 0)
        return NULL;
    entry = find(map, key);
    if (entry->key != key)
        return NULL;
    value = entry->value;
    hole = (uint32_t)(entry - map->entries);
    for (slot = (hole + 1) & mask; map->entries[slot].key != 0; slot = (slot + 1) & mask) {
        uint32_t distance = (slot - home(map, map->entries[slot].key)) & mask;

        if (distance < ((slot - hole) & mask))
            continue; /* its home is after the hole */
        map->entries[hole] = map->entries[slot];
        hole = slot;
    }
    map->entries[hole] = (struct hash_entry){0};
    map->count--;
    return value;
}

bool hash_next(const struct hash_map *map, uint32_t *cursor, uint64_t *key, void **value)
{
    for (uint32_t slot = *cursor; slot < map->capacity; slot++) {
        if (map->entries[slot].key == 0)
            continue;
        *cursor = slot + 1;
        *key = map->entries[slot].key;
        *value = map->entries[slot].value;
        return true;
    }
    *cursor = map->capacity;
    return false;
}

bool hash_validate(const struct hash_map *map)
{
    uint32_t count = 0;

    if (map->capacity == 0)
        return map->count == 0 && !map->entries;
    if ((map->capacity & (map->capacity - 1)) != 0 || map->count > map->capacity / 4 * 3)
        return false;
    for (uint32_t i = 0; i < map->capacity; i++) {
        if (map->entries[i].key == 0)
            continue;
        count++;
        if (find(map, map->entries[i].key) != &map->entries[i])
            return false;
    }
    return count == map->count;
}
