/* SPDX-License-Identifier: MIT */
/*
 * The first part of the record of every holding of a driver: found by its key, listed in order of
 * acquisition, and freed without knowing its kind. All services enter what they hand out here, so
 * that stale, foreign and wrong-kind handles are distinguished, and leaks are found, in one place.
 */
#ifndef DXGK_PHYSMEM_PHYSICAL_TRACKED_H
#define DXGK_PHYSMEM_PHYSICAL_TRACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntddk.h>

#include "physmem/physical_holding.h"
#include "util/list.h"

struct physical_tracked;

/* What is specific to one kind of holding. */
struct physical_class {
    enum physical_kind kind;
    /* Free the holding without checks; also used for reclaiming. */
    void (*free)(struct physical_tracked *tracked);
    /* Cache type of its memory. NULL: the kind has none of its own. */
    enum ram_cache (*cache)(const struct physical_tracked *tracked);
    /* The driver's Context. NULL: the kind has none. */
    uint64_t (*context)(const struct physical_tracked *tracked);
};

/* First member of each kind of holding. */
struct physical_tracked {
    struct list link; /* in the list of the adapter, or of the machine if there is no adapter */
    struct physical_memory *memory;
    struct physical_adapter *adapter; /* the adapter through which it is held; NULL: none */
    const struct physical_class *class;
    uint64_t key; /* handle, or address of an ADL or mapping */
    uint64_t bytes;
    uint64_t order; /* increases with each acquisition in the machine */
    uintptr_t caller;
};

/* Enter a new holding under a fresh handle (key 0) or under `key`. False: out of memory, or the key
 * is taken; then nothing is entered. */
bool physical_tracked_enter(struct physical_tracked *tracked, struct physical_memory *memory,
                            struct physical_adapter *adapter, const struct physical_class *class,
                            uint64_t bytes, uint64_t key);
void physical_tracked_remove(struct physical_tracked *tracked);
/* The holding, or NULL after a report under `rule`: unknown, retired, other kind, or (adapter not
 * NULL) another adapter's. */
struct physical_tracked *physical_tracked_find(struct physical_memory *memory,
                                               const struct physical_adapter *adapter,
                                               enum physical_kind kind, uint64_t key,
                                               const char *rule);
/* The holding of this kind with the key, or NULL without a report. */
struct physical_tracked *physical_tracked_get(const struct physical_memory *memory,
                                              enum physical_kind kind, uint64_t key);
/* Free everything in the list, newest first. */
void physical_tracked_reclaim(struct list *held);
/* Such as "ADL of 8192 bytes, number 12 by refgpu.so!StartDevice+0x42". */
void physical_tracked_describe(const struct physical_tracked *tracked, char *text, size_t bytes);

static inline HANDLE physical_tracked_handle(const struct physical_tracked *tracked)
{
    return (HANDLE)(uintptr_t)tracked->key;
}

#endif
