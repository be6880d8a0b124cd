/* SPDX-License-Identifier: MIT */
/*
 * The two records that outlive every holding: of a machine and of a logical adapter. Other rooms
 * use only pointers to them; the sources of this room access their members.
 */
#ifndef DXGK_PHYSMEM_PHYSICAL_RECORD_H
#define DXGK_PHYSMEM_PHYSICAL_RECORD_H

#include "physmem/physical_adl_arena.h"
#include "physmem/physical_hooks.h"
#include "util/hash.h"
#include "util/list.h"

struct physical_save_area;

struct physical_memory {
    struct ram *ram;
    struct physical_hooks hooks;
    struct hash_map table;  /* key -> struct physical_tracked */
    struct list unattached; /* physical_tracked: held through no adapter */
    struct list adapters;
    struct list objects; /* all physical memory objects */
    struct physical_adl_arena arena;
    uint64_t handles; /* number issued so far */
    uint64_t orders;
    uint64_t commit, commit_limit; /* bytes */
    bool scatter;
    bool guard;
};

struct physical_adapter {
    struct list link; /* in physical_memory.adapters */
    struct physical_memory *memory;
    struct iommu_domain *domain;
    char name[64];
    const void *driver;
    bool legacy_refused;
    bool started;
    struct list held;                /* physical_tracked */
    struct physical_save_area *save; /* array by physical index */
    UINT save_count;
};

#endif
