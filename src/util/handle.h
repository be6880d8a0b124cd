/* SPDX-License-Identifier: MIT */
/*
 * Handle table: 32-bit handles that name objects of several types. A handle is never 0, carries a
 * generation so that a stale handle is recognized, and resolves only as the type it was created
 * with. Lookup, insertion and removal are O(1) (one array, a FIFO of free slots, so that slots are
 * reused as late as possible). Limit: 2^20 live handles per table.
 */
#ifndef DXGK_UTIL_HANDLE_H
#define DXGK_UTIL_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

struct handle_slot;

/* Where slot and generation lie in a handle. The generation counts from 1 to 2^generation_bits - 1
 * and begins again. */
struct handle_layout {
    uint8_t index_shift, generation_shift, generation_bits;
    uint32_t fixed; /* bits that every handle of the table has */
    uint32_t spare; /* no slot is reused while fewer are free and the table can grow */
};

/* Index from bit 0 and ten bits of generation from bit 20; bits 30 and 31 are zero. */
extern const struct handle_layout handle_layout_plain;
/* The same with eight bits of generation: bits 28 and above are zero. */
extern const struct handle_layout handle_layout_short;
/* D3DKMT_HANDLE as Windows makes it: six bits of instance, 24 of index, two of reuse mark, 1 to 3.
 * The instance is 0 in handles of a process and 2 in global ones (KMT-028, KMT-029). */
extern const struct handle_layout handle_layout_local;
extern const struct handle_layout handle_layout_global;

struct handle_table {
    const struct handle_layout *layout;
    struct handle_slot *slots;
    uint32_t capacity;
    uint32_t live;
    uint32_t free_first; /* FIFO of free slots, by index; UINT32_MAX: empty */
    uint32_t free_last;
};

void handle_table_init(struct handle_table *table, const struct handle_layout *layout);
/* Frees the array; the objects stay with the caller. */
void handle_table_finish(struct handle_table *table);

/* Make a handle for `object` (not NULL). `type` is the caller's own nonzero tag. 0 when out of
 * memory. */
uint32_t handle_create(struct handle_table *table, uint8_t type, void *object);
/* The object, or NULL if the handle is unknown, stale, or of another type. type 0 matches any. */
void *handle_lookup(const struct handle_table *table, uint32_t handle, uint8_t type);
/* The type of a live handle, 0 for anything else. */
uint8_t handle_type(const struct handle_table *table, uint32_t handle);
/* Remove the handle; returns the object, or NULL in the cases of handle_lookup. */
void *handle_remove(struct handle_table *table, uint32_t handle, uint8_t type);

/* To walk, start with *cursor = 0; returns NULL at the end. The returned handle may be removed
 * during the walk. */
void *handle_next(const struct handle_table *table, uint32_t *cursor, uint32_t *handle,
                  uint8_t *type);

bool handle_table_validate(const struct handle_table *table);

#endif
