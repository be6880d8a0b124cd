/* SPDX-License-Identifier: MIT */
/* Inside the physical memory services: physical_*.c only. physical_memory.c has the theory of
 * operation. */
#ifndef DXGK_VIDMM_PHYSICAL_PRIVATE_H
#define DXGK_VIDMM_PHYSICAL_PRIVATE_H

#include "vidmm/physical_memory.h"

#include "util/address.h"
#include "util/hash.h"
#include "util/list.h"

#define SYSMM_BUGCHECK 0x1E4u /* VIDEO_DXGKRNL_SYSMM_FATAL_ERROR */
enum sysmm_subcode {
    SYSMM_BAD_TYPE = 0x1,
    SYSMM_ADL_OVER_UNLOCKED_MEMORY = 0x4,
    SYSMM_MEMORY_UNLOCKED_UNDER_ADL = 0x5,
    SYSMM_ADAPTER_OBJECT_LEAKED = 0x6,
    SYSMM_ADL_LEAKED = 0x7
};

#define SECTION_GRANULARITY 0x10000u /* views of sections start on 64 KiB (PHYS-104, PHYS-147) */
#define FILL_PATTERN        0xA5     /* content of memory that is documented as undefined */
#define FILL_LIMIT_PAGES    256u     /* of a block, so that large ones stay cheap */

/* ---- what every holding has ---- */

struct physical_tracked;

/* What is particular to one kind of holding. */
struct physical_class {
    enum physical_kind kind;
    /* Free what the holding stands for, without checks: also for reclaiming. */
    void (*free)(struct physical_tracked *tracked);
    /* Cache type of its memory. NULL: the kind has none of its own. */
    enum ram_cache (*cache)(const struct physical_tracked *tracked);
    /* The driver's Context. NULL: the kind has none. */
    uint64_t (*context)(const struct physical_tracked *tracked);
};

/* First member of each kind of holding. Found by key (handle, or address of ADL and mapping). */
struct physical_tracked {
    struct list link; /* in its owner's list, in order of acquisition */
    struct physical_memory *memory;
    struct physical_adapter *adapter; /* through which it is held; NULL: none */
    const struct physical_class *class;
    uint64_t key;
    uint64_t bytes;
    uint64_t order;
    uintptr_t caller;
};

struct physical_adl_arena {
    char *base;
    uint64_t used;
    uint32_t *live; /* ADLs in each chunk */
};

struct physical_memory {
    struct ram *ram;
    struct physical_hooks hooks;
    struct hash_map table;  /* key -> struct physical_tracked */
    struct list unattached; /* tracked: held through no adapter */
    struct list adapters;
    struct list objects; /* all physical memory objects */
    struct physical_adl_arena arena;
    uint64_t handles; /* issued so far */
    uint64_t orders;
    uint64_t commit, commit_limit;
    bool scatter;
    bool guard;
};

struct physical_adapter {
    struct list link;
    struct physical_memory *memory;
    struct iommu_domain *domain;
    char name[64];
    const void *driver;
    bool legacy_refused;
    bool started;
    struct list held;                /* tracked */
    struct physical_save_area *save; /* by physical index */
    UINT save_count;
};

/* Enter a new holding under a fresh handle (key 0) or under `key`. False: out of memory, or the key is
 * taken; then nothing is entered. */
bool physical_track(struct physical_tracked *tracked, struct physical_memory *memory,
                    struct physical_adapter *adapter, const struct physical_class *class,
                    uint64_t bytes, uint64_t key);
void physical_untrack(struct physical_tracked *tracked);
/* The holding, or NULL after a report under `rule`: unknown, retired, other kind, or (adapter not
 * NULL) another adapter's. */
struct physical_tracked *physical_find(struct physical_memory *memory,
                                       const struct physical_adapter *adapter,
                                       enum physical_kind kind, uint64_t key, const char *rule);
static inline HANDLE physical_handle(const struct physical_tracked *tracked)
{
    return (HANDLE)(uintptr_t)tracked->key;
}

/* False after a report: the adapter is stopped. */
bool physical_may_acquire(const struct physical_adapter *adapter);
/* False after a report: the 2.4 callbacks are closed to this driver (IOMMU-093, IOMMU-094). */
bool physical_may_use_legacy(const struct physical_adapter *adapter);

/* Report a broken demand under its rule; the status of PHYS-006. */
NTSTATUS physical_refuse(const char *rule, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Copy from where a pointer of the driver leads; false if nothing is there. */
bool physical_read_driver(const struct physical_memory *memory, void *to, const void *from,
                          size_t bytes);

/* ---- pages (physical_pages.c) ---- */

/* RAM behind a holding: one run (list NULL) or a list. */
struct physical_backing {
    struct page_number first;
    struct page_number *list; /* owned */
    uint64_t pages;
};

static inline struct page_number physical_backing_page(const struct physical_backing *backing,
                                                       uint64_t index)
{
    return backing->list ? backing->list[index] : (struct page_number){backing->first.value + index};
}

struct physical_contiguous_limits {
    uint64_t bytes;
    uint64_t lowest, highest; /* inclusive */
    uint64_t boundary;
};
struct physical_mdl_limits {
    uint64_t bytes;
    uint64_t low, high, skip;
    ULONG flags;
};

NTSTATUS physical_check_cache_type(DXGK_MEMORY_CACHING_TYPE type);
/* Argument checks (STATUS_INVALID_PARAMETER + report), then placement (STATUS_NO_MEMORY). */
NTSTATUS physical_take_contiguous(struct physical_memory *memory,
                                  const struct physical_contiguous_limits *limits,
                                  enum ram_cache cache, enum ram_owner owner,
                                  struct physical_backing *backing);
NTSTATUS physical_take_mdl(struct physical_memory *memory, const struct physical_mdl_limits *limits,
                           enum ram_cache cache, enum ram_owner owner,
                           struct physical_backing *backing);
/* `count` scattered pages, any place. */
bool physical_take_scattered(struct physical_memory *memory, const struct ram_request *request,
                             struct page_number *pages);
void physical_backing_give(struct physical_memory *memory, struct physical_backing *backing);
/* Write the pattern of undefined content. */
void physical_fill_undefined(struct physical_memory *memory, const struct physical_backing *backing);
/* Map for the device, read and write (IOMMU-052). */
bool physical_backing_map(struct iommu_domain *domain, const struct physical_backing *backing);
void physical_backing_unmap(struct iommu_domain *domain, const struct physical_backing *backing);

/* ---- objects ---- */

struct physical_section {
    int file; /* the paging file's part */
    ULONG protection;
    uint64_t *resident; /* frame + 1 of each page, 0: in the file */
    uint32_t *locks;    /* ADLs and pins over each page */
    uint64_t resident_pages;
};

struct physical_adapter_object {
    struct physical_tracked tracked;
    struct physical_object *object;
    struct list adls;
};

struct physical_object {
    struct physical_tracked tracked;
    struct list all; /* in physical_memory.objects */
    const void *driver;
    DXGK_PHYSICAL_MEMORY_TYPE type;
    enum ram_cache cache;
    uint64_t bytes; /* rounded to pages */
    uint64_t context;
    struct physical_backing backing; /* MDL, CONTIGUOUS */
    uint64_t io_base;                /* IO_SPACE: first page */
    struct physical_section section;
    struct physical_adapter_object *opened;
    struct list mappings;
};

/* A view for the CPU. */
struct physical_mapping {
    struct physical_tracked tracked; /* key: base address */
    struct physical_object *object;
    struct list of_object;
    char *base;
    uint64_t first_page; /* of the object */
    uint64_t pages;
    uint64_t size; /* as returned */
    bool user, writable, copy_on_write;
    const struct nt_process *process;
};

struct physical_adl {
    struct physical_tracked tracked; /* key: address of the DXGK_ADL */
    struct physical_object *object;
    struct list of_opened;
    DXGK_ADL *adl;
    DXGK_PAGE_NUMBER *pages_out; /* behind it, unless contiguous */
    uint64_t arena_bytes;
    uint64_t first_page, pages; /* of the object */
    uint64_t logical_first;     /* REMAP: first logical page */
    bool contiguous;
};

struct physical_object *physical_object_find(struct physical_memory *memory, HANDLE handle,
                                             const char *rule);
/* Frame (or device page) behind page `index`; sections: only while resident. */
uint64_t physical_object_page(const struct physical_object *object, uint64_t index);
void physical_object_free(struct physical_object *object);
void physical_opened_free(struct physical_adapter_object *opened);

/* ---- sections (physical_section.c) ---- */

NTSTATUS physical_section_create(struct physical_memory *memory, struct physical_object *object);
void physical_section_free(struct physical_memory *memory, struct physical_object *object);
/* Make the pages resident and lock them / unlock them and let them go. */
bool physical_section_lock(struct physical_memory *memory, struct physical_object *object,
                           uint64_t first, uint64_t count);
void physical_section_unlock(struct physical_memory *memory, struct physical_object *object,
                             uint64_t first, uint64_t count);

/* ---- CPU mappings (physical_mapping.c) ---- */

NTSTATUS physical_mapping_create(struct physical_object *object, struct physical_adapter *adapter,
                                 enum physical_kind kind, uint64_t offset, uint64_t size,
                                 struct nt_process *process, bool user,
                                 struct physical_mapping **out, uint64_t *offset_out);
void physical_mapping_free(struct physical_mapping *mapping);
/* Let the view show where the pages of the object are now. False: it shows what it showed. */
bool physical_mapping_point(struct physical_mapping *mapping, uint64_t first, uint64_t count);

/* ---- ADLs (physical_adl.c) ---- */

bool physical_adl_arena_create(struct physical_adl_arena *arena);
void physical_adl_arena_destroy(struct physical_adl_arena *arena);
/* `kind`: PHYSICAL_ADL or PHYSICAL_PIN. */
NTSTATUS physical_adl_create(struct physical_object *object, struct physical_adapter *adapter,
                             enum physical_kind kind, uint64_t first, uint64_t count,
                             bool want_contiguous, struct physical_adl **out);
/* Reports a list that was written to (PHYS-178); unmaps and unlocks. */
void physical_adl_destroy(struct physical_adl *adl);

/* ---- the host's own MDLs (physical_mdl.c) ---- */

/* Over the first `pages` of the backing, which is a list. NULL: out of memory. */
MDL *physical_mdl_create(struct physical_memory *memory, const struct physical_backing *backing,
                         uint64_t pages);
bool physical_mdl_unchanged(const MDL *mdl, const struct physical_backing *backing, uint64_t pages);
void physical_mdl_destroy(struct physical_memory *memory, MDL *mdl);

/* ---- saving (physical_save.c) ---- */

void physical_save_free(struct physical_adapter *adapter);

#endif
