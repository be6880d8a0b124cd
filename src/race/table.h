/* SPDX-License-Identifier: MIT */
/* A hash table from numbers to pointers, which only grows: open addressing in malloc's memory. */
#ifndef DXGK_RACE_TABLE_H
#define DXGK_RACE_TABLE_H

#include <stdint.h>

struct race_slot {
    uint64_t key; /* 0: free */
    void *value;
};

struct race_table {
    struct race_slot *slot;
    uint32_t count, mask; /* slots - 1; 0: there are none */
};

/* NULL: not there. */
void *race_table_get(const struct race_table *table, uint64_t key);
/* The place of the value, NULL at first; NULL: out of memory. It is good until the next call. */
void **race_table_put(struct race_table *table, uint64_t key);
/* Calls free_value for each, then frees the table. */
void race_table_finish(struct race_table *table, void (*free_value)(void *value));

#endif
