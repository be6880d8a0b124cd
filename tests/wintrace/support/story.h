/* SPDX-License-Identifier: MIT */
/*
 * What a GPU and its clients might have done, by a seed: two contexts of a process on a node, their packets with waits and signals,
 * preemption by a context of the system, residency and paging of allocations, flips and VSyncs. The same seed tells the same story in any
 * world: handles, first numbers and packets of other processes are the world's. Whole stories break no rule.
 */
#ifndef DXGK_TESTS_STORY_H
#define DXGK_TESTS_STORY_H

#include "wintrace/support/recording.h"

#define STORY_EVENTS 1024u
#define STORY_VALUES 24u

struct story_event {
    uint16_t id;
    uint8_t version;
    uint32_t process, thread;
    uint64_t value[STORY_VALUES];
    unsigned values;
};

struct story {
    struct story_event event[STORY_EVENTS];
    size_t events;
};

struct story_world {
    uint64_t handles;        /* added to each */
    uint64_t numbers;        /* added to each number that counts */
    uint64_t system_segment; /* number of implicit system memory in events */
    uint32_t process;        /* the client */
    bool others;             /* another process has packets on the node */
};

void story_make(struct story *story, uint64_t seed, const struct story_world *world);
void story_record(const struct story *story, struct recording *r);

/* The n-th event, from 0, of that number, and, with a field that is not NULL, whose field has the value. The test fails if there is
 * none. */
size_t story_find(const struct story *story, uint16_t id, const char *field, uint64_t value,
                  unsigned n);
uint64_t story_get(const struct story *story, size_t event, const char *field);
/* Single fields alone, before any array. */
void story_set(struct story *story, size_t event, const char *field, uint64_t value);
void story_drop(struct story *story, size_t event);
void story_swap(struct story *story, size_t a, size_t b);

#endif
