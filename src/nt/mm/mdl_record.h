/* SPDX-License-Identifier: MIT */
/*
 * The host's record of an MDL, which mdl.c uses for locking and allocation, and mdl_map.c for
 * mapping.
 */
#ifndef DXGK_NT_MDL_RECORD_H
#define DXGK_NT_MDL_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "nt/base/resource.h"
#include "util/address.h"

struct nt_block;
struct nt_process;

/* A system or user mapping of an MDL's pages. */
struct nt_mapping {
    struct nt_resource resource;
    void *view; /* from ram_view_reserve */
    uint64_t pages;
    uint8_t *address; /* the address that the driver got */
    PMDL mdl;
    struct nt_process *process; /* for a user mapping */
};

struct nt_mdl {
    struct nt_resource resource; /* tracks an allocated MDL */
    struct nt_resource held;     /* tracks its pages */
    PMDL mdl;
    struct nt_block *block;   /* memory of an MDL that the host allocated; NULL: the driver's own */
    uint64_t capacity;        /* page numbers that have room */
    struct page_number *page; /* locked or allocated pages */
    uint32_t pages;
    bool owns_pages; /* allocated by MmAllocatePagesForMdl */
    bool lent;       /* lent by a host service: the driver may only map it */
    /* the MDL was made by MmAllocatePagesForMdl, so ExFreePool frees it */
    bool page_list;
    struct nt_process *process; /* the process whose pages are locked */
    struct nt_mapping *mapping;
};

struct nt_mdl *nt_mdl_find(const MDL *mdl);
/* Find the record, or create it. NULL: out of memory. */
struct nt_mdl *nt_mdl_record(PMDL mdl);
void nt_mdl_drop_if_idle(struct nt_mdl *record);
uint32_t nt_mdl_span(const MDL *mdl);
bool nt_mdl_check(PMDL mdl, const char *rule, const char *routine);
void nt_mdl_clear(PMDL mdl, CSHORT flags);
void nt_mdl_unlock(struct nt_mdl *record);
void nt_mdl_unmap(struct nt_mdl *record);
/* The same for `routine`, which the driver called at `caller`; it is named if the view is used
 * later. */
void nt_mdl_unmap_by(struct nt_mdl *record, const char *routine, const void *caller);

#endif
