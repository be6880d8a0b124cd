/* SPDX-License-Identifier: MIT */
/* Hash map from a nonzero 64-bit key to a pointer: open addressing, linear probing, O(1) expected,
 * at most 3/4 full. */
#ifndef DXGK_UTIL_HASH_H
#define DXGK_UTIL_HASH_H

#include <stdbool.h>
#include <stdint.h>

struct hash_entry {
    uint64_t key;
    void *value;
};

struct hash_map {
    struct hash_entry *entries;
    uint32_t capacity; /* power of two, or 0 */
    uint32_t count;
};

void hash_init(struct hash_map *map);
void hash_finish(struct hash_map *map);
/* False when out of memory; the map is unchanged then. An existing key's value is replaced. */
bool hash_put(struct hash_map *map, uint64_t key, void *value);
void *hash_get(const struct hash_map *map, uint64_t key);
/* The value removed, or NULL. */
void *hash_remove(struct hash_map *map, uint64_t key);
/* To walk in table order, start with *cursor = 0; false at the end. The map must not change during
 * the walk. */
bool hash_next(const struct hash_map *map, uint32_t *cursor, uint64_t *key, void **value);
/* A search finds every entry, and the count is right; for tests and debug builds. */
bool hash_validate(const struct hash_map *map);

#endif
